"""Lines of the user's code that were not counted, filled from sampled stacks into rows of the table `lines`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dlprof.ingest.own.counted_frames import CodeFrame, Counting, Place
from dlprof.ingest.own.source_outline import MODULE, Outline, plain
from dlprof.ingest.own.stood import Stood
from dlprof.ingest.parse.sampled_stacks import Frame
from dlprof.schema.vocabulary import LineSource

_SEEN_FOR_SURE = 2
"""A line of a counted function that was never counted must be seen so often: one sample can be misread."""
_IN_PLACE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""Code that runs in the line it is written in, of the function around it."""


@dataclass
class _Seen:
    """For how long a line was seen (ns), and in how many samples."""

    ns: int = 0
    samples: float = 0.0

    def add(self, ns: int, samples: float) -> None:
        """Add a stack."""
        self.ns += ns
        self.samples += samples

    @property
    def count(self) -> int:
        """Whole samples: what was seen was in one."""
        return max(1, round(self.samples))


@dataclass
class SampledLines:
    """Time of lines that were not counted, by the samples.

    Attributes:
        counting: Where lines were counted.
        is_users: Function from a file, as in the tables, to whether it is the user's own code.
        source_of: Function from such a file to its lines (empty where it cannot be read).
        rate_hz: Samples per second, of stacks that do not tell in how many they were seen.
    """

    counting: Counting
    is_users: Callable[[str], bool]
    source_of: Callable[[str], Sequence[str]]
    rate_hz: float
    _missed: dict[CodeFrame, _Seen] = field(default_factory=dict)
    _doubtful: dict[CodeFrame, _Seen] = field(default_factory=dict)
    _thinned: dict[CodeFrame, _Seen] = field(default_factory=dict)
    _outlines: dict[str, Outline] = field(default_factory=dict)
    _frames: dict[Frame, CodeFrame] = field(default_factory=dict)

    def add(self, stood: Stood) -> None:
        """Take in a stack."""
        stack = _without_repeats([self._frames.get(frame) or self._known(frame) for frame in stood.stack])
        if not any(frame.users for frame in stack):
            return
        counted = self.counting.of_stack(stack, main=stood.main, building=stood.building)
        missed: set[CodeFrame] = set()
        doubtful: set[CodeFrame] = set()
        thinned: set[CodeFrame] = set()
        for frame, is_counted in zip(stack, counted, strict=True):
            if frame.users and not is_counted:
                missed.add(frame)
            elif frame.users and self.counting.is_thinned(frame):
                thinned.add(frame)
            elif frame.users and not self.counting.has(frame):
                doubtful.add(frame)
        samples = stood.dur_ns * self.rate_hz / 1e9 if stood.samples is None else stood.samples
        for found, frames in ((self._missed, missed), (self._doubtful, doubtful), (self._thinned, thinned)):
            for one in frames:
                found.setdefault(one, _Seen()).add(stood.dur_ns, samples)

    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table `lines`, without those of its process; a line that was not seen has none."""
        stood = {frame: replace(seen) for frame, seen in self._missed.items()}
        for frame, seen in self._doubtful.items():
            if seen.count >= _SEEN_FOR_SURE:
                stood.setdefault(frame, _Seen()).add(seen.ns, seen.samples)
        return [self._row(frame, stood[frame]) for frame in sorted(stood, key=_order)]

    def timed(self, counted: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of the table `lines`, those of functions that were counted in windows with their time from samples.

        Args:
            counted: The rows as they were counted; without samples at all they stay as they are.
        """
        if not self._thinned:
            return list(counted)
        times = {(*f.place, f.line): seen for f, seen in self._thinned.items()}
        rows = [self._timed(row, times) if row["how"] == LineSource.SCALED else row for row in counted]
        known = {_place(row) for row in counted}
        more = (f for f in sorted(self._thinned, key=_order) if (*f.place, f.line) not in known)
        return rows + [{**self._row(f, self._thinned[f]), "how": LineSource.SCALED} for f in more]

    @staticmethod
    def _timed(row: dict[str, Any], times: Mapping[tuple[str, int, str, int], _Seen]) -> dict[str, Any]:
        seen = times.get(_place(row))
        return {**row, "time_ns": seen.ns if seen else 0, "samples": seen.count if seen and seen.ns else 0}

    def seen(self) -> set[Place]:
        """Functions of which a line was seen that was not counted."""
        return {frame.place for frame in self._missed}

    def unseen(self, elsewhere: Collection[Place] = ()) -> list[str]:
        """Functions whose lines were to be counted, of which none was counted or seen: `Scale.call (train.py:7)`.

        Args:
            elsewhere: Functions that were seen in other processes.
        """
        seen = self.seen() | set(elsewhere)
        return [
            f"{one.name} ({one.file}:{one.first_line})"
            for place, one in sorted(self.counting.registered.items())
            if not one.ran and place not in seen and one.name != MODULE
        ]

    def _row(self, frame: CodeFrame, seen: _Seen) -> dict[str, Any]:
        source = self.source_of(frame.file)
        return {
            "file": frame.file,
            "function": frame.function,
            "first_line": frame.first_line,
            "line": frame.line,
            "hits": None,
            "time_ns": seen.ns,
            "source": source[frame.line - 1].rstrip("\n") if frame.line <= len(source) else None,
            "how": LineSource.SAMPLED,
            "samples": seen.count,
        }

    def _known(self, frame: Frame) -> CodeFrame:
        users = frame.line > 0 and self.is_users(frame.file)
        name, first = self._function(frame) if users else (frame.function, None)
        known = self._frames[frame] = CodeFrame(frame.file, name, first, frame.line, users)
        return known

    def _function(self, frame: Frame) -> tuple[str, int | None]:
        """Name and first line of the function, as counting knows it, else as its source has it."""
        if frame.file not in self._outlines:
            self._outlines[frame.file] = Outline(self.source_of(frame.file))
        scope = self._outlines[frame.file].at(frame.line, frame.function)
        if scope is not None:
            counted = self.counting.registered.get((frame.file, scope.first_line, plain(scope.name)))
            return (scope.name if counted is None else counted.name), scope.first_line
        near = self.counting.nearest(frame)
        return (near.name, near.first_line) if near is not None else (frame.function, None)


def _without_repeats(stack: Iterable[CodeFrame]) -> list[CodeFrame]:
    """The stack without comprehensions that the function around them runs: their time is in its line."""
    kept: list[CodeFrame] = []
    for frame in stack:
        in_place = frame.users and plain(frame.function) in _IN_PLACE
        if not (in_place and kept and kept[-1].file == frame.file and _is_around(kept[-1], frame)):
            kept.append(frame)
    return kept


def _is_around(outer: CodeFrame, inner: CodeFrame) -> bool:
    around = inner.function
    while plain(around) in _IN_PLACE:
        around = around.rpartition(".")[0].removesuffix(".<locals>")
    return plain(outer.function) == (plain(around) or MODULE)


def _place(row: Mapping[str, Any]) -> tuple[str, int, str, int]:
    """The function and the line of a row of the table `lines`."""
    return row["file"], row["first_line"] or 0, plain(row["function"]), row["line"]


def _order(frame: CodeFrame) -> tuple[str, int, int]:
    return frame.file, frame.first_line or 0, frame.line
