"""The studio in a real browser.

Needs the package playwright and a Chromium of the system (none is downloaded); skipped where either is absent.
"""

import contextlib
import re
import shutil
import threading

import pytest

from fuzzymil.studio import Session
from fuzzymil.studio.start import demo_bags, demo_document

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


# Not for the whole session: while one runs, other modules cannot start theirs.
@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    pytest.importorskip("uvicorn", reason="the extra studio is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


class Window:
    """One page on a session, with what its browser complained about and asked for."""

    def __init__(self, page, session=None):
        self.page, self.session = page, session
        self.complaints, self.requests = [], []
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.complaints.append(message.text) if message.type != "debug" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", lambda socket: self.requests.append(socket.url))

    def visit(self, address):
        self.page.goto(address)
        self.page.wait_for_selector(".tab[aria-selected=true]")
        return self

    def open(self, view):
        self.page.locator(f"#tab-{view}").click()
        self.settle()

    def settle(self):
        """Wait until the server has answered everything and the page has drawn it."""
        self.page.wait_for_function(
            "() => new Promise((done) => setTimeout(() => requestAnimationFrame(() =>"
            " done(!document.querySelector('.studio').hasAttribute('data-busy'))), 60))"
        )

    def key(self, name):
        """The control of a name, which stays the same when a view is drawn anew."""
        return self.page.locator(f"[data-key='{name}']")

    def edited(self, action):
        """Do something and wait for the change that it makes."""
        before = self.session.revision
        action()
        for _ in range(400):
            if self.session.revision > before:
                return self.settle()
            self.page.wait_for_timeout(25)
        raise AssertionError("nothing changed")

    @property
    def text(self):
        return self.session.document.text


@pytest.fixture
def opened(browser):
    """A function that opens a session in a window; whatever the browser complains about fails the test."""
    from fuzzymil.studio.server import Studio

    with contextlib.ExitStack() as stack:
        windows = []

        def visit(session=None, *, address=None, **settings):
            if session is None and address is None:
                session = Session(demo_document(), demo_bags(), name="demo")
            if address is None:
                studio = Studio(session)
                thread = threading.Thread(target=studio.run)
                thread.start()
                stack.callback(thread.join)
                stack.callback(studio.stop)
                address = studio.address
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **settings})
            stack.callback(context.close)
            window = Window(context.new_page(), session).visit(address)
            window.home = re.match("http://[^/]+/", address).group()
            windows.append(window)
            window.settle()
            return window

        yield visit
        for window in windows:
            assert window.complaints == []
            assert {re.sub("^ws:", "http:", url).startswith(window.home) for url in window.requests} == {True}
