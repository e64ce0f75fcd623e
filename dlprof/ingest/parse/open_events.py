"""Begins of events that wait for their ends."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from dlprof.ingest.limits import budget

Begun = TypeVar("Begun")
_BYTES = 400
"""A begin that waits: an event, and its place (bytes)."""


class OpenEvents(Generic[Begun]):
    """Pairs the begins and ends of each thread: an end is that of the last begin."""

    def __init__(self) -> None:
        self._open: dict[Any, list[Begun]] = {}
        self._waiting = self._unbegun = 0

    @property
    def unpaired(self) -> int:
        """Begins without an end so far, and ends without a begin."""
        return self._waiting + self._unbegun

    def begin(self, key: Any, begun: Begun) -> None:
        """Remember a begin in the thread `key`.

        Raises:
            LimitError: Too many wait.
        """
        budget().hold(_BYTES, "begins without an end")
        self._waiting += 1
        self._open.setdefault(key, []).append(begun)

    def last(self, key: Any) -> Begun | None:
        """The begin that the next end in the thread `key` would be paired with; None: there is none."""
        waiting = self._open.get(key)
        return waiting[-1] if waiting else None

    def end(self, key: Any) -> Begun | None:
        """The begin of an end in the thread `key`; None: there is none, and that is counted."""
        waiting = self._open.get(key)
        if not waiting:
            self._unbegun += 1
            return None
        begun = waiting.pop()
        if not waiting:
            del self._open[key]
        self._waiting -= 1
        budget().hold(-_BYTES, "")
        return begun
