"""Who may talk to the studio, and what the page may do."""

import json
import threading

import httpx
import pytest

pytest.importorskip("starlette", reason="needs starlette, uvicorn and websockets")

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from fuzzymil import InputError
from fuzzymil.studio.messages import LIMITS
from fuzzymil.studio.server import Studio, listening_socket


class Browser:
    """What a browser, or a program that poses as one, can send to a studio."""

    def __init__(self, studio):
        self.home = f"http://127.0.0.1:{studio.port}"
        self.client = httpx.Client(base_url=self.home, trust_env=False, timeout=30)

    def get(self, path, **headers):
        return self.client.get(path, headers=headers)

    def enter(self, studio):
        assert self.get(studio.address).status_code == 200
        return self

    def talk(self, **headers):
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        sent = {"origin": self.home, "cookie": cookies, **headers}
        extra = {name: value for name, value in sent.items() if value and name not in ("origin", "host")}
        made = connect(
            self.home.replace("http", "ws") + "/socket",
            origin=sent["origin"],
            additional_headers=extra,
            proxy=None,
            max_size=None,
        )
        return Window(made)


class Window:
    def __init__(self, opening):
        self.opening, self.socket = opening, None

    def __enter__(self):
        self.socket = self.opening.__enter__()
        return self

    def __exit__(self, *problem):
        self.opening.__exit__(*problem)

    def send(self, message):
        self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def receive(self):
        return json.loads(self.socket.recv(timeout=30))

    def ask(self, **message):
        self.send({"id": 1, **message})
        while (answer := self.receive()).get("id") != 1:
            pass
        return answer


@pytest.fixture
def studio(page):
    made = Studio(page.session)
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.stop()
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture
def browser(studio):
    made = Browser(studio)
    yield made
    made.client.close()


def refuses(browser, **headers):
    with pytest.raises(InvalidStatus) as refusal, browser.talk(**headers):
        pass
    return refusal.value.response.status_code == 403


def test_the_token_works_once_and_leaves_a_cookie(browser, studio):
    first = browser.get(studio.address)
    assert first.status_code == 200
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert studio.gate.token not in first.text
    assert browser.get("/").status_code == 200
    browser.client.cookies.clear()
    assert browser.get(studio.address).status_code == 403  # spent


@pytest.mark.parametrize("path", ["/", "/page/index.html", "/?token=guess", "/socket", "/nowhere"])
def test_without_token_or_cookie_nothing_is_served(browser, path):
    assert browser.get(path).status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost"])
def test_other_hosts_are_refused(browser, studio, host):
    assert browser.get(studio.address, host=host).status_code == 403
    browser.enter(studio)  # so the token was not spent on them
    assert browser.get("/", host=host).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_other_origins_are_refused(browser, studio, origin):
    assert browser.get(studio.address, origin=origin).status_code == 403
    browser.enter(studio)
    assert browser.get("/", origin=origin).status_code == 403
    assert refuses(browser, origin=origin)


def test_a_socket_needs_cookie_and_origin(browser, studio):
    assert refuses(browser)
    browser.enter(studio)
    assert refuses(browser, origin=None)
    assert refuses(browser, cookie=f"{studio.gate.cookie}=guess")
    with browser.talk() as window:
        assert window.ask(type="state")["ok"]


def test_the_page_is_kept_to_itself(browser, studio):
    answer = browser.enter(studio).get("/")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "server" not in answer.headers


@pytest.mark.parametrize("path", ["/page/..%2fserver.py", "/page/%2e%2e/server.py", "/page//etc/passwd", "/page/"])
def test_only_the_files_of_the_page_are_served(browser, studio, path):
    assert browser.enter(studio).get(path).status_code == 404


def test_two_windows_see_the_same(browser, studio):
    browser.enter(studio)
    with browser.talk() as first, browser.talk() as second:
        revision = first.ask(type="hello")["state"]["revision"]
        second.ask(type="hello")
        assert first.ask(type="set_rule", number=1, weight=0.5, revision=revision)["ok"]
        told = second.receive()
        assert (told["type"], told["rules"][0]["weight"]) == ("changed", 0.5)
        assert second.ask(type="undo", revision=revision)["error"]["code"] == "stale"


def test_the_latest_drag_wins(browser, studio):
    browser.enter(studio)
    with browser.talk() as window:
        views = [{"type": "surface", "x": "x1", "y": "x2"}]
        drag = {"type": "drag", "variable": "x1", "term": "left", "handle": "center", "views": views}
        for number in range(20):
            window.send({"id": number, "x": 0.5 + number / 100, **drag})
        answers = [window.receive() for _ in range(20)]
        assert [answer["id"] for answer in answers] == list(range(20))
        assert answers[-1]["term"]["parameters"][0]["value"] == pytest.approx(0.69)
        assert any(answer.get("superseded") for answer in answers)


@pytest.mark.parametrize("text", ["", "[]", "7", "{", '{"type": 7}', '{"id": NaN, "type": "hello"}', "[" * 100_000])
def test_nonsense_is_answered_and_survived(browser, studio, text):
    browser.enter(studio)
    with browser.talk() as window:
        window.send(text)
        assert window.receive()["ok"] is False
        assert window.ask(type="state")["ok"]


def test_windows_are_counted(browser, studio, page):
    browser.enter(studio)
    page.session.windows += [lambda message: None] * LIMITS["windows"]
    with pytest.raises((ConnectionClosed, InvalidStatus)), browser.talk() as window:
        window.receive()


def test_only_this_machine_is_listened_to():
    with listening_socket() as found:
        host, port = found.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(InputError, match=str(port)):
            listening_socket(port)


@pytest.mark.parametrize(
    "frame",
    [
        b"\x00\x01",
        b"",
        '{"type":"state","id":' + "[" * 900 + "]" * 900 + "}",
        '{"type":"state","id":"\\ud800"}',
        '{"type":"drag","id":"\\ud800"}',
        '{"type":"\\ud800"}',
        '{"type":"goto","version":"\\ud800"}',
    ],
    ids=["binary", "empty", "nested", "half id", "half drag", "half type", "half version"],
)
def test_odd_frames_are_answered_on_the_same_connection(browser, studio, frame):
    browser.enter(studio)
    with browser.talk() as window:
        window.socket.send(frame)
        answer = window.receive()
        assert answer["id"] is None
        assert window.ask(type="state")["ok"]
