"""The timeline of a page: tracks of events on one axis, cores and curves below it, as few numbers as will do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dlprof.analysis import core_use, samples
from dlprof.analysis.columns import Integers
from dlprof.analysis.timeline import groups
from dlprof.errors import NoInputError
from dlprof.report.html import curves, long_tracks, thinning, tracks
from dlprof.report.html.curves import Curve
from dlprof.report.html.names import Names
from dlprof.report.html.pack import Pack
from dlprof.report.html.thinning import Thinner, Track
from dlprof.schema.vocabulary import RunState
from dlprof.store.run import Run

_FINE_EVENTS = 50_000
"""Up to so many events a page keeps nanoseconds; of more it keeps tenths of microseconds."""
_LINKED_EVENTS = 250_000
"""Up to so many events a page keeps when each was launched."""
_STRIP_PARTS = 600
MOST = 1_200_000
"""Events that a page ever keeps."""
_PROGRAM = ("phases", "epochs", "steps", "collectives", "kernel windows", "calls", "garbage collection")
"""Tracks of the program, from the top."""


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
        zero_ns: What the axis calls 0; None: `shift_ns`.
    """

    shift_ns: int
    span_ns: int
    tracks: Sequence[Track]
    names: Names
    windows: Sequence[tuple[int, int]]
    cores: Sequence[core_use.CoreUse]
    cores_end_ns: int | None
    curves: Sequence[Curve]
    zero_ns: int | None = None

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(track.events for track in self.tracks)


def of_run(run: Run, most: int = MOST, names: Names | None = None) -> Drawing | None:
    """The timeline of a run; None where nothing in it has a time.

    Args:
        run: The run.
        most: Events that are kept, about, of what is read piece by piece.
        names: Takes the names of what is drawn; None: the run has its own.
    """
    names, below = names or Names(), list(curves.of_run(run))
    drawn = [*_in_slices(run, names), *_in_pieces(run, names, most)]
    if not drawn and not below:
        return None
    imported = run.manifest.state == RunState.IMPORTED
    shift = max([0, *(-track.begin_ns for track in drawn), *(-int(curve.time_ns[0]) for curve in below)])
    shifted = [replace(one, start_ns=one.start_ns + shift) for one in _in_order(drawn, devices_first=imported)]
    below = [replace(curve, time_ns=curve.time_ns + shift) for curve in below]
    cores = core_use.of_run(run, _STRIP_PARTS)
    ends = [cores.end_ns + shift if cores.end_ns else 0, run.wall_ns + shift if run.wall_ns else 0]
    return Drawing(
        shift_ns=shift,
        span_ns=max([*_ends(shifted, below), *ends]) or 1,
        tracks=shifted,
        names=names,
        windows=[
            (row["start_ns"] + shift, row["start_ns"] + row["dur_ns"] + shift) for row in run.rows("kernel_windows")
        ],
        cores=cores.cores,
        cores_end_ns=cores.end_ns,
        curves=below,
    )


def _in_slices(run: Run, names: Names) -> list[Track]:
    """Tracks of what there is not too much of."""
    left_out = {
        *long_tracks.long_kinds(run),
        "stacks",
        groups.SERIES,
    }  # stacks have one track a thread, not one a frame
    if run.manifest.state == RunState.IMPORTED:
        left_out.add("kernel_windows")  # they are the whole trace
    try:
        timeline = groups.of_run(run, without=left_out)
    except NoInputError:
        return []
    return [track for group in timeline.groups for track in tracks.of_group(group, names)]


def _in_pieces(run: Run, names: Names, most: int) -> list[Track]:
    """Tracks of what there may be too much of."""
    thinner = Thinner(most)
    long_tracks.add_program(run, long_tracks.long_kinds(run), names, thinner)
    long_tracks.add_stacks(run, names, samples.user_files(run), thinner)
    return thinner.tracks()


def _in_order(found: Sequence[Track], *, devices_first: bool) -> list[Track]:
    """The program first, or the GPUs where a trace is of them; then sampled Python, then operators of the hosts."""
    order = ("gpu", "program", "python", "host") if devices_first else ("program", "gpu", "python", "host")
    return sorted(found, key=lambda track: (order.index(track.group), _place(track)))


def _place(track: Track) -> int:
    """Where a track of the program stands among its others; 0 for all of other groups."""
    if track.group != "program":
        return 0
    return next((place for place, name in enumerate(_PROGRAM) if track.label.startswith(name)), len(_PROGRAM))


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
    kept = thinning.thinned(drawn.tracks, most)
    if drawn.events > _LINKED_EVENTS:
        kept = [replace(track, delay_ns=None) for track in kept]
    return {
        "shift_ns": drawn.shift_ns,
        "zero_ns": drawn.shift_ns if drawn.zero_ns is None else drawn.zero_ns,
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
