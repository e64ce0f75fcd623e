"""dlprof's own standard streams: what happens when they are closed, full, or nobody reads them any more.

What dlprof says on standard error never decides anything: what cannot be said is dropped. Standard output is what a
command was asked for, so that its failure is `OutputError`. Under `dlprof trace` it is the script's: dlprof prints
nothing there.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import TYPE_CHECKING, Any, TextIO

from dlprof.units import SPELLED

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STALL_MS = 5000
"""How long a terminal or pipe that does not block may take nothing before what is said is dropped."""


class OutputError(OSError):
    """Standard output takes nothing any more."""

    @property
    def reader_is_gone(self) -> bool:
        """Whether that is no failure: `dlprof … | head`."""
        return self.errno == errno.EPIPE


class _Output(io.FileIO):
    """Writes all or fails, once; what comes after a failure, such as the rest of a buffer, is dropped."""

    def __init__(self, descriptor: int, *, fails: bool) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._fails = fails
        self._broken = False

    def write(self, data: ReadableBuffer, /) -> int:
        view = memoryview(data).cast("B")
        at = 0
        while at < len(view) and not self._broken:
            try:
                at += super().write(view[at:]) or self._wait()
            except OSError as error:
                self._broken = True
                if self._fails:
                    raise OutputError(error.errno, error.strerror) from error
        return len(view)

    def _wait(self) -> int:
        """Until it takes something again: programs that share a terminal may have set it not to block."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLOUT)
        if not poll.poll(_STALL_MS):
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return 0


class _Closed(io.RawIOBase):
    """Standard output that was closed from the beginning (`>&-`): fails once."""

    _told = False

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        if not self._told:
            self._told = True
            raise OutputError(errno.EBADF, os.strerror(errno.EBADF))
        return memoryview(data).nbytes


def guard() -> None:
    """Have this process's streams behave as said above. Streams that are no files, such as a test's, are left alone."""
    open_standard = [_is_open(number) for number in (0, 1, 2)]
    _fill(open_standard)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  (as long as the process)
    elif sys.stderr is sys.__stderr__:
        sys.stderr = _guarded(sys.stderr, fails=False)
    if sys.stdout is None:
        sys.stdout = _text(_Closed(), "utf-8", SPELLED, line_buffering=False)
    elif sys.stdout is sys.__stdout__:
        sys.stdout = _guarded(sys.stdout, fails=True)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _fill(standard: list[bool]) -> None:
    """No file of dlprof's may get the number of a closed standard stream; the script has it closed, as it is."""
    while not all(standard):
        number = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        if number > 2:
            os.close(number)
            return
        standard[number] = True


def _guarded(stream: TextIO | Any, *, fails: bool) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    errors = stream.errors if "utf" in stream.encoding.lower() else SPELLED
    if errors == "strict":  # names of files need not be UTF-8
        errors = SPELLED
    raw = _Output(stream.fileno(), fails=fails)
    return _text(raw, stream.encoding, errors, line_buffering=stream.line_buffering)


def _text(raw: io.RawIOBase, encoding: str, errors: str | None, *, line_buffering: bool) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=line_buffering)
