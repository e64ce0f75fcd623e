"""A run for speedscope: sampled stacks of each thread, and the phases, in nanoseconds."""

from __future__ import annotations

import json
from typing import BinaryIO

from msgspec import UNSET, Struct, UnsetType, to_builtins

from dlprof.analysis.stacks import Frame, shown_name
from dlprof.analysis.timeline import program
from dlprof.analysis.timeline.lanes import closings
from dlprof.analysis.timeline.threads import Thread, threads
from dlprof.errors import NoInputError
from dlprof.store.run import Run
from dlprof.version import __version__

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(run: Run, out: BinaryIO) -> str:
    """Write the file.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: The run has neither stacks nor phases.
    """
    frames = _Frames()
    sampled = [_sampled(thread, frames) for thread in threads(run)]
    phases = _phases(run, frames)
    profiles: list[_Sampled | _Evented] = [*sampled, *phases]
    if not profiles:
        raise NoInputError(f"{run.name} has neither sampled stacks nor phases.", hint=f"dlprof report {run.typed}")
    file = _File(_SCHEMA, run.name, f"dlprof {__version__}", 0, _Shared(frames.known), profiles)
    out.write(json.dumps(to_builtins(file)).encode())  # of msgspec's own encoder names that are no Unicode are refused
    stacks = sum(len(profile.samples) for profile in sampled)
    return f"{stacks:,} stacks, threads: {len(sampled)}{', phases' if phases else ''}"


class _Frame(Struct, frozen=True, omit_defaults=True):
    name: str
    file: str | UnsetType | None = UNSET
    line: int | UnsetType | None = UNSET


class _Shared(Struct, frozen=True):
    frames: list[_Frame]


class _Profile(Struct, frozen=True, rename="camel", kw_only=True):
    type: str
    name: str
    unit: str = "nanoseconds"
    start_value: int
    end_value: int


class _Sampled(_Profile, frozen=True, rename="camel", kw_only=True):
    """Stacks as numbers of frames, the outermost first, and how long each stood."""

    type: str = "sampled"
    samples: list[list[int]]
    weights: list[int]


class _Event(Struct, frozen=True):
    """A frame opens (`O`) or closes (`C`)."""

    type: str
    at: int
    frame: int


class _Evented(_Profile, frozen=True, rename="camel", kw_only=True):
    type: str = "evented"
    events: list[_Event]


class _File(Struct, frozen=True, rename={"schema": "$schema", "active_profile_index": "activeProfileIndex"}):
    schema: str
    name: str
    exporter: str
    active_profile_index: int
    shared: _Shared
    profiles: list[_Sampled | _Evented]


class _Frames:
    """Frames by their numbers."""

    def __init__(self) -> None:
        self.known: list[_Frame] = []
        self._numbers: dict[Frame | str, int] = {}

    def number(self, frame: Frame | str) -> int:
        """The number of a frame, or of a phase."""
        if frame not in self._numbers:
            self._numbers[frame] = len(self.known)
            self.known.append(_frame(frame))
        return self._numbers[frame]


def _frame(frame: Frame | str) -> _Frame:
    if isinstance(frame, str):
        return _Frame(frame)
    return _Frame(shown_name(frame.function, frame.file), frame.file, frame.line)


def _sampled(thread: Thread, frames: _Frames) -> _Sampled:
    """A thread's stacks in order; where none was sampled stands an empty one, so that times stay true."""
    samples: list[list[int]] = []
    weights: list[int] = []
    at = begin = thread.rows[0][0]
    for start, dur, stack in thread.rows:
        if start > at:
            samples.append([])
            weights.append(start - at)
        samples.append([frames.number(frame) for frame in reversed(stack)])
        weights.append(dur)
        at = max(at, start) + dur
    return _Sampled(
        name=f"thread ({thread.number}): {thread.name}",
        start_value=begin,
        end_value=at,
        samples=samples,
        weights=weights,
    )


def _phases(run: Run, frames: _Frames) -> list[_Evented]:
    """One profile of the phases; none where there are no phases."""
    lanes = program.phases(run).lanes()
    if not lanes:
        return []
    slices = lanes[0]
    names = [frames.number(slices.whats[what].name) for what in slices.what.tolist()]
    events: list[_Event] = []
    open_: list[int] = []
    for position, closed in closings(slices.start_ns, slices.start_ns + slices.dur_ns):
        events += [_Event("C", end, open_.pop()) for end in closed]
        if position >= 0:
            open_.append(names[position])
            events.append(_Event("O", int(slices.start_ns[position]), names[position]))
    return [_Evented(name="phases", start_value=events[0].at, end_value=events[-1].at, events=events)]
