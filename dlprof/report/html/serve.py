"""Serves pages to this machine only: one, and those that it links to, which are made when they are asked for."""

from __future__ import annotations

import http.server
import secrets
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from dlprof.errors import DlprofError

MakePage = Callable[[], str]
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Server:
    """A server on a loopback address that gives a page, and others below it, to whoever knows its token.

    Requests that name another host are refused: a page of somewhere else whose name was made to point here must not
    read it.

    Args:
        page: The page.
        below: Addresses below that of the page, as it links to them, to what makes the pages there.

    Attributes:
        url: Address of the page.
    """

    def __init__(self, page: str, below: Mapping[str, MakePage] | None = None) -> None:
        token = secrets.token_urlsafe(24)
        pages = _Pages(page.encode(), f"/{token}/", below or {})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(pages))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/{token}/"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._server.server_close()

    def serve_until_interrupted(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            pass

    def serve_until_stopped(self) -> None:
        """Serve until another thread calls `stop`."""
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        """End `serve_until_stopped`."""
        self._server.shutdown()


class _Pages:
    """What is served where."""

    def __init__(self, page: bytes, path: str, below: Mapping[str, MakePage]) -> None:
        self._page, self._path, self._below = page, path, below
        self._lock = threading.Lock()

    def find(self, path: str) -> bytes | None:
        """The page of an address; None: there is none.

        Raises:
            DlprofError: It cannot be made.
        """
        wanted = path.encode()
        inner = path[len(self._path) :]
        if not secrets.compare_digest(wanted[: len(self._path)], self._path.encode()):
            return None
        if not inner:
            return self._page
        make = self._below.get(inner)
        if make is None:
            return None
        with self._lock:  # one page at a time: each may take all the memory that a run needs
            return make().encode()


def _handler(pages: _Pages) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        server_version = "dlprof"
        sys_version = ""

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, *, with_body: bool) -> None:
            port = self.connection.getsockname()[1]
            if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
                self.send_error(421, "This server answers only under its own name")
                return
            try:
                page = pages.find(self.path)
            except DlprofError as error:
                self.send_error(500, "This page cannot be made", error.message)
                return
            if page is None:
                self.send_error(404)
                return
            self.send_response(200)
            for name, value in _HEADERS.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            if with_body:
                self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing: the address holds the token."""

    return Handler
