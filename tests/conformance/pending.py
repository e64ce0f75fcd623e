"""Cases that differ and ought not to, with what is to be mended: strictly expected to fail, so that mending turns them red."""

from __future__ import annotations

PENDING: dict[str, str] = {
    "processes/fork/development": "the thread that watches the counting of lines has Python warn of forks",
}
