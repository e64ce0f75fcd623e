"""Notices that the traced process has become another program (`os.execv`): same number, another image."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

_START_STACK = 25
"""Where the address of the stack stands in `/proc/PID/stat`, behind the name: every `exec` makes a new one."""


class Replaced(Struct, frozen=True):
    """The traced process went on as another program.

    Attributes:
        program: Path of that program.
        seen_ns: When that was seen, on the run's clock (ns): at most a tick later than it was.
    """

    program: str
    seen_ns: int


class _Image(Struct, frozen=True):
    program: str
    stack: int


class ImageWatch:
    """Looks at the program that a process runs, now and then.

    Args:
        pid: The process. Its program at the first look is taken for the one that was to be run.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._first: _Image | None = None
        self.replaced: Replaced | None = None

    def look(self, now_ns: int) -> None:
        """See whether it is still the same; the first change is kept."""
        if self.replaced is not None:
            return
        image = _image(self._pid)
        if image is None:
            return
        if self._first is None:
            self._first = image
        elif image != self._first:
            self.replaced = Replaced(image.program, now_ns)


def _image(pid: int) -> _Image | None:
    """What it runs; None where it has ended, or may not be looked at."""
    try:
        program = str(Path(f"/proc/{pid}/exe").readlink())
        words = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        stack = int(words[_START_STACK])
    except (OSError, ValueError, IndexError):
        return None
    return _Image(program, stack) if stack else None
