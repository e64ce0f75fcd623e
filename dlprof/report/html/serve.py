"""Serves pages to this machine only: one, and those that it links to, which are made when they are asked for."""

from __future__ import annotations

import contextlib
import http.server
import secrets
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from dlprof.errors import DlprofError

MakePage = Callable[[], str]
_CONNECTIONS = 32
"""Open at once, at most: each takes a thread."""
_IDLE_S = 10.0
"""How long a connection may say nothing."""
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
        self._server = _Limited(("127.0.0.1", 0), _handler(pages))
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


@contextlib.contextmanager
def redirect(url: str) -> Iterator[str]:
    """The address of a file that leads to `url`, for as long as this lasts.

    A browser's command line is there for everyone on the machine to see; the file, which has the token, is not.
    """
    with tempfile.TemporaryDirectory(prefix="dlprof-") as folder:  # of mode 0700
        file = Path(folder) / "open.html"
        file.write_text(
            f'<!doctype html><title>dlprof</title><meta http-equiv="refresh" content="0;url={url}">',
            encoding="utf-8",
        )
        yield file.as_uri()


class _Limited(http.server.ThreadingHTTPServer):
    """A server with so many connections at once, and no more: who comes then is turned away."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, address: tuple[str, int], handler: type[http.server.BaseHTTPRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


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
        timeout = _IDLE_S

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
