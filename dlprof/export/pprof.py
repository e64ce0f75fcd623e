"""A run for pprof: sampled stacks as a packed `profile.proto`, each labelled with its thread and phase."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.analysis.stacks import Frame
from dlprof.analysis.timeline.threads import threads
from dlprof.errors import NoInputError
from dlprof.export.protobuf import integer, message, packed, text
from dlprof.store.run import Run

# Fields of Profile, and of the messages in it.
_SAMPLE_TYPE, _SAMPLE, _MAPPING, _LOCATION, _FUNCTION, _TEXT = 1, 2, 3, 4, 5, 6
_TIME_NS, _DURATION_NS, _PERIOD_TYPE, _PERIOD = 9, 10, 11, 12
_KIND, _UNIT = 1, 2  # of ValueType
_LOCATIONS, _VALUES, _LABEL = 1, 2, 3  # of Sample
_KEY, _WORD = 1, 2  # of Label
_FILE, _KNOWN = 5, (7, 8, 9)  # of Mapping: its file; functions, files and lines are known
_OF_MAPPING, _LINE = 2, 4  # of Location
_OF_FUNCTION, _NUMBER = 1, 2  # of Line
_NAME, _FILE_NAME = 2, 4  # of Function
_ID = 1
_ONLY_MAPPING = 1


class Sample(NamedTuple):
    """What is counted together; `phase` is None outside of phases, and the innermost of `stack` comes first."""

    thread: str
    phase: str | None
    stack: tuple[Frame, ...]


def write(run: Run, out: BinaryIO) -> str:
    """Write the profile.

    Time counts for the phase in which the main thread was. The number of samples is the time divided by that between
    two samples, because the sampler joins equal ones; where its rate is not known there are only times.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: The run has no sampled stacks.
    """
    times = _times(run)
    if not times:
        raise NoInputError(f"{run.name} has no sampled stacks.", hint=f"dlprof report {run.typed} says why")
    profile = _Profile(run.name)
    _add_samples(profile, times, _period_ns(run))
    if run.manifest.clock.origin_wall_ns:
        profile.add(integer(_TIME_NS, run.manifest.clock.origin_wall_ns))
    if run.wall_ns:
        profile.add(integer(_DURATION_NS, run.wall_ns))
    with gzip.GzipFile(fileobj=out, mode="wb", filename="", mtime=0) as zipped:
        zipped.write(profile.content())
    return f"{len(times):,} stacks"


def _add_samples(profile: _Profile, times: Mapping[Sample, int], period_ns: int | None) -> None:
    """Add all samples: their time, and before it their number where the period is known."""
    if period_ns is None:
        profile.value_type(_SAMPLE_TYPE, "time", "nanoseconds")
        for sample, time_ns in times.items():
            profile.sample(sample, [time_ns])
        return
    profile.value_type(_SAMPLE_TYPE, "samples", "count")
    profile.value_type(_SAMPLE_TYPE, "time", "nanoseconds")
    for sample, time_ns in times.items():
        profile.sample(sample, [max(1, round(time_ns / period_ns)), time_ns])
    profile.value_type(_PERIOD_TYPE, "time", "nanoseconds")
    profile.add(integer(_PERIOD, period_ns))


def _times(run: Run) -> dict[Sample, int]:
    """Time of each thread, phase and stack (ns)."""
    lookup = PhaseLookup(run.table("phase_intervals"))
    times: dict[Sample, int] = defaultdict(int)
    for thread in threads(run):
        for start, dur, stack in thread.rows:
            parts = lookup.cut(start, start + dur)
            for phase, part in parts:
                times[Sample(thread.title, phase, stack)] += part
            if rest := dur - sum(part for _, part in parts):
                times[Sample(thread.title, None, stack)] += rest
    return times


def _period_ns(run: Run) -> int | None:
    """Time between two samples, where dlprof itself took them, and at one rate."""
    rate_hz = run.manifest.config.get("stacks_hz")
    if any(row["name"] == "stacks" and row["thinned"] for row in run.rows("probes")):
        return None
    return round(1e9 / max(1, round(rate_hz))) if rate_hz else None  # py-spy takes whole rates only


class _Profile:
    """A message `Profile` as it is made; its texts, functions and locations have numbers."""

    def __init__(self, program: str) -> None:
        self._fields: list[bytes] = []
        self._texts: dict[str, int] = {"": 0}
        # It says that functions, files and lines are known, so that nobody looks for a binary.
        known = [integer(number, 1) for number in _KNOWN]
        self.add(message(_MAPPING, integer(_ID, _ONLY_MAPPING), integer(_FILE, self._text(program)), *known))
        self._functions: dict[tuple[str, str], int] = {}
        self._locations: dict[Frame, int] = {}

    def add(self, field: bytes) -> None:
        """Add a field."""
        self._fields.append(field)

    def value_type(self, number: int, kind: str, unit: str) -> None:
        """Add a ValueType."""
        self.add(message(number, integer(_KIND, self._text(kind)), integer(_UNIT, self._text(unit))))

    def sample(self, sample: Sample, values: list[int]) -> None:
        """Add a Sample."""
        labels = [self._label("thread", sample.thread), *([self._label("phase", sample.phase)] if sample.phase else [])]
        locations = packed(_LOCATIONS, [self._location(frame) for frame in sample.stack])
        self.add(message(_SAMPLE, locations, packed(_VALUES, values), *labels))

    def content(self) -> bytes:
        """The message, whole."""
        return b"".join([*self._fields, *[text(_TEXT, value) for value in self._texts]])

    def _label(self, key: str, value: str) -> bytes:
        return message(_LABEL, integer(_KEY, self._text(key)), integer(_WORD, self._text(value)))

    def _text(self, value: str) -> int:
        return self._texts.setdefault(value, len(self._texts))

    def _location(self, frame: Frame) -> int:
        if frame not in self._locations:
            name, file, line = frame
            self._locations[frame] = number = len(self._locations) + 1
            place = message(_LINE, integer(_OF_FUNCTION, self._function(name, file)), integer(_NUMBER, line or 0))
            self.add(message(_LOCATION, integer(_ID, number), integer(_OF_MAPPING, _ONLY_MAPPING), place))
        return self._locations[frame]

    def _function(self, name: str, file: str) -> int:
        if (name, file) not in self._functions:
            self._functions[name, file] = number = len(self._functions) + 1
            # Without a system name: pprof takes one that is the name for mangled C++, and `<module>` for a template.
            named = integer(_NAME, self._text(name)) + integer(_FILE_NAME, self._text(file))
            self.add(message(_FUNCTION, integer(_ID, number), named))
        return self._functions[name, file]
