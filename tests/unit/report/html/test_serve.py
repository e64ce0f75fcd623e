"""The server of one page."""

from __future__ import annotations

import http.client
import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from dlprof.errors import BadDataError
from dlprof.report.html import serve


def _fail() -> str:
    raise BadDataError("its <tables> are damaged")


@pytest.fixture
def address() -> Any:
    """Address of a served page."""
    with serve.Server("<p>hello</p>", {"run/a/": lambda: "<p>a</p>", "run/b/": _fail}) as server:
        thread = threading.Thread(target=server.serve_until_stopped)
        thread.start()
        yield urlsplit(server.url)
        server.stop()
        thread.join()


def answer(address: Any, path: str, host: str | None = None, method: str = "GET") -> tuple[int, str]:
    """Status and body of a request."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request(method, path, headers={"Host": host or address.netloc})
    response = connection.getresponse()
    return response.status, response.read().decode()


def test_the_server_gives_the_page_to_who_knows_the_token(address: Any) -> None:
    """On a loopback address."""
    assert address.hostname == "127.0.0.1"
    assert answer(address, address.path) == (200, "<p>hello</p>")


@pytest.mark.parametrize("path", ["/", "/wrong/", "/../etc/passwd", "/run/a/"])
def test_the_server_gives_nothing_without_the_token(address: Any, path: str) -> None:
    """Nor any other file."""
    assert answer(address, path)[0] == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "[::1]"])
def test_the_server_answers_under_no_other_name(address: Any, host: str) -> None:
    """A name of somewhere else that was made to point here gets nothing."""
    assert answer(address, address.path, host)[0] == 421


def test_the_server_takes_no_posts(address: Any) -> None:
    """It gives a page, no more."""
    assert answer(address, address.path, method="POST")[0] == 501


def test_pages_below_are_made_when_they_are_asked_for(address: Any) -> None:
    """Under the same token."""
    assert answer(address, f"{address.path}run/a/") == (200, "<p>a</p>")
    assert answer(address, f"{address.path}run/c/")[0] == 404


def test_a_page_that_cannot_be_made_says_why(address: Any) -> None:
    """The server goes on."""
    status, text = answer(address, f"{address.path}run/b/")
    assert (status, "its &lt;tables&gt; are damaged" in text) == (500, True)
    assert answer(address, address.path)[0] == 200


def test_a_connection_beyond_the_limit_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that say nothing take no more threads than the limit; they are closed after a while, and others are served."""
    monkeypatch.setattr(serve, "_CONNECTIONS", 2)
    with serve.Server("<p>hello</p>") as server:
        thread = threading.Thread(target=server.serve_until_stopped)
        thread.start()
        where = urlsplit(server.url)
        silent = [socket.create_connection((where.hostname, where.port), timeout=10) for _ in range(2)]
        third = socket.create_connection((where.hostname, where.port), timeout=10)

        assert third.recv(1) == b""

        for connection in (*silent, third):
            connection.close()
        server.stop()
        thread.join()


def test_a_connection_that_says_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread is free for others."""
    monkeypatch.setattr(serve, "_IDLE_S", 0.05)
    with serve.Server("<p>hello</p>") as server:
        thread = threading.Thread(target=server.serve_until_stopped)
        thread.start()
        where = urlsplit(server.url)
        with socket.create_connection((where.hostname, where.port), timeout=10) as silent:
            assert silent.recv(1) == b""
        server.stop()
        thread.join()


def test_a_browser_is_led_to_the_address_by_a_private_file() -> None:
    """The file has the token, its own address has not, and nobody else may read it; it goes with the server."""
    with serve.redirect("http://127.0.0.1:1/secret/") as leading_there:
        file = Path(unquote(urlsplit(leading_there).path))
        content, mode = file.read_text(), file.parent.stat().st_mode & 0o777

    assert 'content="0;url=http://127.0.0.1:1/secret/"' in content
    assert (mode, "secret" in leading_there, file.exists()) == (0o700, False, False)
