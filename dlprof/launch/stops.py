"""How long the script stood still: stopped by SIGSTOP or Ctrl-Z, and continued."""

from __future__ import annotations

from msgspec import Struct


class Stop(Struct, frozen=True):
    """A time in which the script stood.

    Attributes:
        begin_ns: When it was stopped, on the run's clock (ns).
        end_ns: When it went on, or ended.
        signal: What stopped it; None: dlprof stood too, and was not told.
        is_least: It may have begun up to a second earlier: dlprof stood too when it did.
    """

    begin_ns: int
    end_ns: int
    signal: int | None
    is_least: bool = False


class Stops:
    """Made of what the kernel tells the parent of a process.

    A parent that was stopped at the same time hears of it afterwards. What it hears of then had happened by the time at
    which it was to look next: it would have looked otherwise.
    """

    def __init__(self) -> None:
        self.over: list[Stop] = []
        self._begin_ns: int | None = None
        self._signal: int | None = None
        self._is_least = False

    @property
    def stands(self) -> bool:
        """Whether the script is stopped."""
        return self._begin_ns is not None

    def stopped(self, number: int, at_ns: int, *, is_least: bool = False) -> None:
        """It was stopped by this signal, at this time or, if dlprof stood too, before it (ns)."""
        if self._begin_ns is None:
            self._begin_ns, self._is_least = at_ns, is_least
        self._signal = number

    def continued(self, stood_from_ns: int, now_ns: int) -> None:
        """It goes on; of a stop that was not told we know that it stood from then on at the latest (ns)."""
        is_told = self._begin_ns is not None
        begin_ns = stood_from_ns if self._begin_ns is None else self._begin_ns
        self.over.append(Stop(begin_ns, now_ns, self._signal, self._is_least or not is_told))
        self._begin_ns = self._signal = None
        self._is_least = False

    def ended(self, now_ns: int) -> None:
        """The script has ended, maybe while it stood."""
        if self._begin_ns is not None:
            self.continued(self._begin_ns, now_ns)
