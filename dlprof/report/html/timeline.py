"""The timeline of a page: tracks of events on one axis, cores and curves below it, as few numbers as will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlprof.analysis import samples, utilisation
from dlprof.analysis.columns import Integers
from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.threads import Thread, threads
from dlprof.errors import NoInputError
from dlprof.report.html import curves, tracks
from dlprof.report.html.curves import Curve
from dlprof.report.html.names import Names
from dlprof.report.html.pack import Pack
from dlprof.report.html.tracks import Track
from dlprof.schema.vocabulary import RunState
from dlprof.store.run import Run

_FINE_EVENTS = 50_000
"""Up to so many events a page keeps nanoseconds; of more it keeps tenths of microseconds."""
_LINKED_EVENTS = 250_000
"""Up to so many events a page keeps when each was launched."""
_STRIP_PARTS = 600
_WINDOWS = "kernel windows"


@dataclass(frozen=True)
class Drawing:
    """All that is drawn of a run on one axis.

    Attributes:
        shift_ns: Where the process began on that axis: above 0 where something is older (ns).
        span_ns: Length of the axis (ns).
        tracks: Events.
        names: What they are.
        windows: (begin, end) of the kernel windows (ns).
        cores: Every core in equal parts of [shift_ns, cores_end_ns).
        cores_end_ns: Last sample of the cores; None: there is none.
        curves: Memory, CPU and GPUs.
    """

    shift_ns: int
    span_ns: int
    tracks: Sequence[Track]
    names: Names
    windows: Sequence[tuple[int, int]]
    cores: Sequence[utilisation.CoreUse]
    cores_end_ns: int | None
    curves: Sequence[Curve]

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(len(track.start_ns) for track in self.tracks)


def of_run(run: Run) -> Drawing | None:
    """The timeline of a run; None where nothing in it has a time."""
    names = Names()
    users = samples.user_files(run)
    python = [tracks.of_thread(thread, names, users) for thread in sorted(threads(run), key=_main_first)]
    try:
        timeline = groups.of_run(run, stacks=False)  # stacks have one track a thread here, not one a frame
    except NoInputError:
        if not python:
            return None
        timeline = groups.Timeline([], 0)
    shift = max([timeline.shift_ns, *(-track.begin_ns for track in python)])
    imported = run.manifest.state == RunState.IMPORTED
    found = [track for group in timeline.groups for track in tracks.of_group(group, names)]
    if imported:
        found = [track for track in found if track.lane != _WINDOWS]  # they are the whole trace
    drawn = _in_order(found, python, devices_first=imported)
    shifted = [replace(track, start_ns=track.start_ns + shift) for track in drawn]
    below = [replace(curve, time_ns=curve.time_ns + shift) for curve in curves.of_run(run)]
    cores_end = max(run.table("cores")["time_ns"].to_pylist(), default=None)
    ends = [cores_end + shift if cores_end else 0, run.wall_ns + shift if run.wall_ns else 0]
    return Drawing(
        shift_ns=shift,
        span_ns=max([*_ends(shifted, below), *ends]) or 1,
        tracks=shifted,
        names=names,
        windows=[
            (row["start_ns"] + shift, row["start_ns"] + row["dur_ns"] + shift) for row in run.rows("kernel_windows")
        ],
        cores=utilisation.cores(run.table("cores"), _STRIP_PARTS),
        cores_end_ns=cores_end,
        curves=below,
    )


def _main_first(thread: Thread) -> tuple[bool, str]:
    return thread.title != "MainThread", thread.title


def _in_order(found: Sequence[Track], python: Sequence[Track], *, devices_first: bool) -> list[Track]:
    """The program first, or the GPUs where a trace is of them; then sampled Python, then operators of the hosts."""
    order = ("gpu", "program", "python", "host") if devices_first else ("program", "gpu", "python", "host")
    return sorted([*found, *python], key=lambda track: order.index(track.group))


def _ends(drawn: Sequence[Track], below: Sequence[Curve]) -> Iterator[int]:
    yield from (track.end_ns for track in drawn)
    yield from (int(curve.time_ns[-1]) for curve in below)


def packed(drawn: Drawing, pack: Pack, most: int) -> dict[str, Any]:
    """A timeline as JSON, its columns in `pack`.

    Args:
        drawn: The timeline.
        pack: Takes the columns.
        most: Events that are kept, about. Of more, neighbours on a track that are short become one.
    """
    tick = 1 if drawn.events <= _FINE_EVENTS else 100
    kept = tracks.thinned(drawn.tracks, most)
    if drawn.events > _LINKED_EVENTS:
        kept = [replace(track, delay_ns=None) for track in kept]
    return {
        "shift_ns": drawn.shift_ns,
        "span_ns": drawn.span_ns,
        "tick_ns": tick,
        "events": drawn.events,
        "drawn": sum(len(track.start_ns) for track in kept),
        "windows": drawn.windows,
        "names": {name: getattr(drawn.names, name) for name in ("text", "colour", "more", "kind")},
        "tracks": [_track(track, tick, pack) for track in kept],
        "cores": [
            {"core": use.core, "mean_pct": use.mean_pct, "busy_pct": pack.floats(_floats(use.strip))}
            for use in drawn.cores
        ],
        "cores_end_ns": drawn.cores_end_ns,
        "series": [_curve(curve, tick, pack) for curve in drawn.curves],
    }


def _track(track: Track, tick: int, pack: Pack) -> dict[str, Any]:
    begin = track.start_ns // tick
    return {
        "label": track.label,
        "group": track.group,
        "place": track.place or track.label,
        "lane": track.lane or track.label,
        "start": pack.rising(begin),
        "dur": pack.unsigned((track.start_ns + track.dur_ns) // tick - begin),
        "name": pack.unsigned(track.name),
        # 0: none. Steps are numbered from 1 on, as people do.
        "number": None if track.number is None else pack.unsigned(np.where(track.number < 0, 0, track.number + 1)),
        "merged": None if track.merged is None else pack.unsigned(track.merged),
        "launch": _launches(track, tick, pack),
    }


def _launches(track: Track, tick: int, pack: Pack) -> int | None:
    return None if track.delay_ns is None else pack.unsigned(_since_launch(track.start_ns, track.delay_ns, tick))


def _since_launch(start_ns: Integers, delay_ns: Integers, tick: int) -> Integers:
    """Ticks from each event's launch to its begin, and one; 0: its launch is not known."""
    known = np.maximum(delay_ns, 0)
    return np.where(delay_ns < 0, 0, start_ns // tick - (start_ns - known) // tick + 1)


def _curve(curve: Curve, tick: int, pack: Pack) -> dict[str, Any]:
    return {
        "label": curve.label,
        "unit": curve.unit,
        "axis": curve.axis,
        "time": pack.rising(curve.time_ns // tick),
        "value": pack.floats(curve.values),
    }


def _floats(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]
