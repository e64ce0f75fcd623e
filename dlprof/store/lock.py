"""One dlprof at a time changes a folder: a lock that the system takes back when its holder ends, however it does."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from dlprof.errors import CannotCreateError

WAIT_S = 900.0
"""How long is waited for another dlprof; tables of the longest runs take minutes."""
_LOOK_S = 0.05
_NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
"""A file system without locks on folders: one goes on without."""


@contextlib.contextmanager
def held(folder: Path, doing: str, wait_s: float = WAIT_S) -> Iterator[None]:
    """Hold the folder's lock; nothing is written for it.

    Args:
        folder: The folder.
        doing: What is done to it, for the sentence of who must not: `makes the tables of`.
        wait_s: How long another dlprof is waited for; 0: not at all.

    Raises:
        CannotCreateError: Another dlprof holds it for so long, or the folder cannot be opened.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CannotCreateError(f"{folder} cannot be opened: {os.strerror(error.errno or 0).lower()}.") from error
    try:
        if not _locked(descriptor, time.monotonic() + wait_s):
            raise CannotCreateError(f"Another dlprof {doing} {folder}.", hint="wait until it has ended")
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int, deadline: float) -> bool:
    """Whether the lock was to be had before the deadline."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_S)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return True
            raise
        else:
            return True
