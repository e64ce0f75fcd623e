"""Waiting until somebody writes to a file: the kernel says so (inotify), else it is looked at all the time."""

from __future__ import annotations

import ctypes
import os
import select
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_IN_MODIFY = 0x2
_EVENTS_BYTES = 4096
_LOOK_S = 0.002
"""How often one looks where the kernel does not tell: on no Linux, or where a user has as many watches as allowed."""


class FileChanges:
    """Waits for changes of a file, in one thread; another one may call `wake`.

    Args:
        path: The file, which is there.
    """

    def __init__(self, path: Path) -> None:
        self._woken, self._wakes = os.pipe()
        self._told = _watch(path)

    def wait(self) -> None:
        """Return when the file has changed or may have changed, or when somebody called `wake`."""
        if self._told is None:
            select.select([self._woken], [], [], _LOOK_S)
            return
        ready, _, _ = select.select([self._woken, self._told], [], [])
        if self._told in ready:
            os.read(self._told, _EVENTS_BYTES)

    def wake(self) -> None:
        """Have `wait` return, now and from now on."""
        os.write(self._wakes, b".")

    def close(self) -> None:
        """Give the descriptors back."""
        for descriptor in (self._woken, self._wakes, self._told):
            if descriptor is not None:
                os.close(descriptor)


def _watch(path: Path) -> int | None:
    """A descriptor that is readable after a change; None: there is none to be had."""
    try:
        make, add = _LIBC.inotify_init1, _LIBC.inotify_add_watch
    except AttributeError:
        return None
    descriptor = int(make(os.O_CLOEXEC))
    if descriptor < 0:
        return None
    if add(descriptor, os.fsencode(path), ctypes.c_uint32(_IN_MODIFY)) < 0:
        os.close(descriptor)
        return None
    return descriptor
