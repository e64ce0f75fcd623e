"""Pseudo terminals for tests: what a program prints is read at the other end, and what is typed there reaches it."""

from __future__ import annotations

import os
import pty
import select
import time
import tty
from typing import Self

PATIENCE_S = 20.0


class PseudoTerminal:
    """A terminal that changes nothing of what is printed on it.

    Attributes:
        program: Descriptor of the end that programs have.
        far: That of the other end; not blocking.
    """

    def __init__(self) -> None:
        self.far, self.program = pty.openpty()
        tty.setraw(self.program)
        os.set_blocking(self.far, False)
        self._got = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self.far, self.program):
            try:
                os.close(descriptor)
            except OSError:  # closed by the test
                pass

    @property
    def path(self) -> str:
        """The device."""
        return os.ttyname(self.program)

    def read_until(self, end: bytes) -> bytes:
        """All that was printed so far, as soon as it ends so."""
        deadline = time.monotonic() + PATIENCE_S
        while not self._got.endswith(end) and time.monotonic() < deadline:
            select.select([self.far], [], [], 0.05)
            self._read()
        return self._got

    def read(self) -> bytes:
        """All that was printed so far."""
        self._read()
        return self._got

    def _read(self) -> None:
        try:
            self._got += os.read(self.far, 1 << 16)
        except OSError:
            pass
