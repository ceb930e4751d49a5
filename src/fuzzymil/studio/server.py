"""The studio as a web page on this machine: static files, one WebSocket, and the checks in front of both.

Only 127.0.0.1 is listened to. The address that is opened has a token that works once; after that, a cookie that scripts
cannot read and other sites cannot send stands for it. Requests with another ``Host`` or ``Origin``, which a page of
another site would have, are refused: every program of the user could otherwise be reached from any page they visit.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import hmac
import os
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from fuzzymil._utils.errors import InputError, MissingExtraError
from fuzzymil.studio.messages import LIMITS, from_json, id_of, to_json
from fuzzymil.studio.session import Session

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
    from starlette.routing import Mount, Route, WebSocketRoute
    from starlette.staticfiles import StaticFiles
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as problem:
    raise MissingExtraError(
        f"The studio needs {problem.name}, which is not installed: pip install 'fuzzymil[studio]'."
    ) from None

PAGE = Path(__file__).parent / "page"
"""The files of the page."""

_SOON = 2.0  # seconds after the start: the first page comes before what it may need later
_FORBIDDEN = (
    "This address is not valid, or was opened before in another browser. Start fuzzymil studio again and open the "
    "address that it prints."
)
_ENTER = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>fuzzymil studio</title>'
    '<meta http-equiv="refresh" content="0; url=./"></head><body><a href="./">Open the studio</a></body></html>'
)
_HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-cache"),
)


class Gate:
    """Decides who may pass: the right host and origin, and the token once or the cookie afterwards."""

    def __init__(self, port: int) -> None:
        self.token: str = secrets.token_urlsafe(32)
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"fuzzymil-studio-{port}"  # cookies do not tell ports apart
        self.secret = secrets.token_urlsafe(32)
        self._spent = False
        self.address = f"http://127.0.0.1:{port}/?token={self.token}"

    def redeem(self, token: str) -> bool:
        """Return whether this is the token, which then is spent."""
        good = not self._spent and hmac.compare_digest(token.encode(), self.token.encode())
        self._spent = self._spent or good
        return good

    def is_at_home(self, request: HTTPConnection) -> bool:
        """Return whether a request names this server as its host, and comes from its own page if it names an origin."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        needs_origin = request.scope["type"] == "websocket"
        return host in self.hosts and (origin == f"http://{host}" or (origin is None and not needs_origin))

    def knows(self, request: HTTPConnection) -> bool:
        """Return whether a request has the cookie."""
        return hmac.compare_digest(request.cookies.get(self.cookie, "").encode(), self.secret.encode())


class _Guard:
    """Lets only those requests pass that the gate admits, and adds headers that keep the page to itself."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        token = request.query_params.get("token") if scope["type"] == "http" and scope["path"] == "/" else None
        admitted = self.gate.is_at_home(request)
        if admitted and token is not None and scope["method"] == "GET":
            known = self.gate.knows(request)
            if known or self.gate.redeem(token):
                # The page itself goes on to the address without the token: a redirect would still count as coming from
                # another site, which does not get the cookie.
                answer: Response = HTMLResponse(_ENTER)
                if not known:
                    answer.set_cookie(self.gate.cookie, self.gate.secret, httponly=True, samesite="strict", path="/")
                await answer(scope, receive, self._with_headers(scope, send))
                return
            admitted = False
        if admitted and self.gate.knows(request):
            await self.app(scope, receive, self._with_headers(scope, send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted, this is a 403
        else:
            await PlainTextResponse(_FORBIDDEN, 403)(scope, receive, self._with_headers(scope, send))

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        host = HTTPConnection(scope).headers.get("host", "")
        sockets = f" ws://{host}" if host in self.gate.hosts else ""
        policy = (
            f"default-src 'self'; connect-src 'self'{sockets}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'; object-src 'none'"
        )
        extra = [(name.encode(), value.encode()) for name, value in (*_HEADERS, ("content-security-policy", policy))]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        return send_with_headers


# ---------------------------------------------------------------------- the application


def application(session: Session, gate: Gate) -> ASGIApp:
    """Return the web application of a session."""

    def file(name: str) -> Callable[[Request], Response]:
        return lambda _: FileResponse(PAGE / name)

    async def converse(websocket: WebSocket) -> None:
        await _converse(session, websocket)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().call_later(_SOON, threading.Thread(target=_warm_up, daemon=True).start)
        yield
        await run_in_threadpool(session.close)

    routes = [
        Route("/", file("index.html")),
        Route("/favicon.ico", file("icon.svg")),  # browsers ask for it, whatever the page says
        WebSocketRoute("/socket", converse),
        Mount("/page", StaticFiles(directory=PAGE)),
    ]
    return _Guard(Starlette(routes=routes, lifespan=lifespan), gate)


def _warm_up() -> None:
    """Import what the first division into folds would wait for."""
    import sklearn.model_selection  # noqa: F401


async def _converse(session: Session, websocket: WebSocket) -> None:
    """Answer the messages of one window in order, and push what the session has to say."""
    if len(session.windows) >= LIMITS["windows"]:
        await websocket.close(1013)
        return
    await websocket.accept()
    loop = asyncio.get_running_loop()
    outgoing: asyncio.Queue[str] = asyncio.Queue()
    waiting: collections.deque[Any] = collections.deque()
    arrived = asyncio.Event()

    def push(message: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(outgoing.put_nowait, to_json(message))

    async def receive() -> None:
        while True:
            frame = await websocket.receive()
            if frame["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(frame.get("code", 1000), frame.get("reason"))
            try:
                waiting.append(from_json(frame.get("text") or ""))  # nothing sends binary frames
            except (ValueError, RecursionError):
                waiting.append(None)
            arrived.set()

    async def answer() -> None:
        while True:
            await arrived.wait()
            while waiting:
                message = waiting.popleft()
                if _is_drag(message) and any(map(_is_drag, waiting)):  # the latest one wins
                    found = {"id": id_of(message), "ok": True, "superseded": True}
                else:
                    found = await run_in_threadpool(session.answer, message)
                outgoing.put_nowait(await run_in_threadpool(to_json, found))
            arrived.clear()

    async def send() -> None:
        while True:
            await websocket.send_text(await outgoing.get())

    session.windows.append(push)
    tasks = [asyncio.create_task(each()) for each in (receive, answer, send)]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            problem = task.exception()
            if problem is not None and not isinstance(problem, WebSocketDisconnect):
                raise problem
    finally:
        session.windows.remove(push)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_drag(message: Any) -> bool:
    return isinstance(message, dict) and message.get("type") == "drag"


# ---------------------------------------------------------------------- serving


def listening_socket(port: int = 0) -> socket.socket:
    """Return a socket that listens to this machine only; port 0 lets the system choose one that is free."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if port:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(64)
    except (OSError, OverflowError) as problem:
        made.close()
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"Port {port} cannot be used ({reason}): choose another one, or none at all.") from None
    return made


class Studio:
    """A session and its web server.

    ``port``: 0 lets the system choose.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        os.environ["MPLBACKEND"] = "Agg"  # figures go into files, from whatever thread
        self.session = session
        self._socket = listening_socket(port)
        self.port: int = self._socket.getsockname()[1]
        self.gate = Gate(self.port)
        config = uvicorn.Config(
            application(session, self.gate),
            log_config=None,  # logging belongs to the program that uses this one
            log_level="warning",
            ws="websockets-sansio",
            ws_max_size=LIMITS["message"],
            ws_per_message_deflate=False,  # there is no network to save
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """The address to open, once."""
        return self.gate.address

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until interrupted; ``ready`` is called when the page can be opened."""
        ready()  # the socket already listens: a request that comes now waits for the server
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let `run` return, from another thread."""
        self._server.should_exit = True
