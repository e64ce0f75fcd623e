"""A run for speedscope: sampled stacks of each thread, and the phases, in nanoseconds."""

from __future__ import annotations

import json
from typing import Any, BinaryIO

from dlprof import __version__
from dlprof.analysis.stacks import Frame
from dlprof.analysis.timeline import program
from dlprof.analysis.timeline.lanes import closings
from dlprof.analysis.timeline.threads import Thread, threads
from dlprof.errors import NoInputError
from dlprof.store.run import Run

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
    profiles = [*sampled, *phases]
    if not profiles:
        raise NoInputError(f"{run.name} has neither sampled stacks nor phases.", hint=f"dlprof report {run.name}")
    content = {
        "$schema": _SCHEMA,
        "name": run.name,
        "exporter": f"dlprof {__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": frames.told},
        "profiles": profiles,
    }
    out.write(json.dumps(content).encode())
    stacks = sum(len(profile["samples"]) for profile in sampled)
    return f"{stacks:,} stacks, threads: {len(sampled)}{', phases' if phases else ''}"


class _Frames:
    """Frames by their numbers."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self._numbers: dict[Frame | str, int] = {}

    def number(self, frame: Frame | str) -> int:
        """The number of a frame, or of a phase."""
        if frame not in self._numbers:
            self._numbers[frame] = len(self.told)
            name, *place = (frame,) if isinstance(frame, str) else frame
            self.told.append({"name": name, **dict(zip(("file", "line"), place, strict=False))})
        return self._numbers[frame]


def _sampled(thread: Thread, frames: _Frames) -> dict[str, Any]:
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
    return {
        "type": "sampled",
        "name": f"thread ({thread.number}): {thread.name}",
        "unit": "nanoseconds",
        "startValue": begin,
        "endValue": at,
        "samples": samples,
        "weights": weights,
    }


def _phases(run: Run, frames: _Frames) -> list[dict[str, Any]]:
    """One profile of the phases; none where there are no phases."""
    lanes = program.phases(run).lanes()
    if not lanes:
        return []
    slices = lanes[0]
    names = [frames.number(slices.whats[what].name) for what in slices.what.tolist()]
    events: list[dict[str, Any]] = []
    open_: list[int] = []
    for position, closed in closings(slices.start_ns, slices.start_ns + slices.dur_ns):
        events += [{"type": "C", "at": end, "frame": open_.pop()} for end in closed]
        if position >= 0:
            open_.append(names[position])
            events.append({"type": "O", "at": int(slices.start_ns[position]), "frame": names[position]})
    return [
        {
            "type": "evented",
            "name": "phases",
            "unit": "nanoseconds",
            "startValue": events[0]["at"],
            "endValue": events[-1]["at"],
            "events": events,
        }
    ]
