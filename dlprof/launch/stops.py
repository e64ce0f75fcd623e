"""How long the script stood still: stopped by SIGSTOP or Ctrl-Z, and continued."""

from __future__ import annotations

from msgspec import Struct


class Stop(Struct, frozen=True):
    """A time in which the script stood.

    Attributes:
        begin_ns: When it was stopped, on the run's clock (ns).
        end_ns: When it went on, or ended.
        signal: What stopped it; None: dlprof stood too, and was not told.
    """

    begin_ns: int
    end_ns: int
    signal: int | None


class Stops:
    """Made of what the kernel tells the parent of a process.

    A parent that was stopped at the same time hears of it afterwards. So each moment comes with that of the last look:
    what is heard of now has happened since.
    """

    def __init__(self) -> None:
        self.over: list[Stop] = []
        self._begin_ns: int | None = None
        self._signal: int | None = None

    @property
    def stands(self) -> bool:
        """Whether the script is stopped."""
        return self._begin_ns is not None

    def stopped(self, number: int, since_ns: int) -> None:
        """It was stopped by this signal, since the last look at the earliest (ns)."""
        if self._begin_ns is None:
            self._begin_ns = since_ns
        self._signal = number

    def continued(self, since_ns: int, now_ns: int) -> None:
        """It goes on; of a stop that was not told we know that it came since the last look (ns)."""
        begin_ns = since_ns if self._begin_ns is None else self._begin_ns
        self.over.append(Stop(begin_ns, now_ns, self._signal))
        self._begin_ns = self._signal = None

    def ended(self, now_ns: int) -> None:
        """The script has ended, maybe while it stood."""
        if self._begin_ns is not None:
            self.continued(self._begin_ns, now_ns)
