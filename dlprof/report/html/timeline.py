"""The time line of a page: tracks of events on one axis, cores and series below it, as few numbers as will do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dlprof.analysis import utilisation
from dlprof.analysis.columns import Integers
from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.series import Series, all_series
from dlprof.analysis.timeline.slices import Slices, What
from dlprof.analysis.timeline.threads import Thread, threads
from dlprof.errors import NoInputError
from dlprof.report import colours
from dlprof.report.html.pack import Pack
from dlprof.store.run import Run

_FINE_EVENTS = 50_000
"""Up to so many events a page keeps nanoseconds; of more it keeps tenths of microseconds."""
_NAME_LENGTH = 300
_STRIP_PARTS = 600
_POINTS = 2000
_HOLE = 4.0
"""A gap of so many usual intervals is one in which nothing was measured."""
_TOLD_ELSEWHERE = ("import", "epoch")
"""Calls that other parts of the page tell: imports, by the dozen inside each other, are in the flame graph."""
_GPU_SERIES = ("utilisation", "memory used", "power", "SM clock", "temperature")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Track:
    """Events of one thread, stream or kind that nest or do not touch; in order of their begin, outer ones first.

    Attributes:
        label: For people.
        group: `program`, `python`, `host` or `gpu`.
        start_ns, dur_ns: Of each event, on the drawn axis (ns).
        name: Index into the names.
        number: Running number of a step, from 0; MISSING where an event has none. None: none has one.
        merged: How many events each of these stands for; None: one each.
    """

    label: str
    group: str
    start_ns: Integers
    dur_ns: Integers
    name: Integers
    number: Integers | None = None
    merged: Integers | None = None


@dataclass
class Names:
    """Texts that events have in common, each once."""

    text: list[str] = field(default_factory=list)
    colour: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def number(self, text: str, colour: str, more: str = "") -> int:
        """Index of a text; `more` is told of it besides."""
        key = cut(text), colour, cut(more)
        if key not in self._known:
            self._known[key] = len(self.text)
            for column, value in zip((self.text, self.colour, self.more), key, strict=True):
                column.append(value)
        return self._known[key]


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
        series: (label, unit, axis, begin of each value in ns, values); NaN: not measured.
    """

    shift_ns: int
    span_ns: int
    tracks: Sequence[Track]
    names: Names
    windows: Sequence[tuple[int, int]]
    cores: Sequence[utilisation.CoreUse]
    cores_end_ns: int | None
    series: Sequence[tuple[str, str, str, Integers, Floats]]

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(len(track.start_ns) for track in self.tracks)


def cut(text: str) -> str:
    """A text of which the page keeps no more than it can show."""
    return text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"


def of_run(run: Run) -> Drawing | None:
    """The time line of a run; None where nothing in it has a time."""
    names = Names()
    python = [_python(thread, names) for thread in _in_order(threads(run))]  # one row each, not frame by frame
    try:
        found = groups.of_run(run, stacks=False)
    except NoInputError:
        if not python:
            return None
        found = groups.Timeline([], 0)
    shift = max([found.shift_ns, *(-int(track.start_ns.min()) for track in python if len(track.start_ns))])
    tracks = [track for group in found.groups for track in _tracks(group, names)]
    place = next((n for n, track in enumerate(tracks) if track.group != "program"), len(tracks))
    tracks[place:place] = python
    tracks = [replace(track, start_ns=track.start_ns + shift) for track in tracks]
    series = [(label, unit, axis, times + shift, values) for label, unit, axis, times, values in _series(run)]
    cores = utilisation.cores(run.table("cores"), _STRIP_PARTS)
    cores_end = max(run.table("cores")["time_ns"].to_pylist(), default=None)
    ends = [int((track.start_ns + track.dur_ns).max()) for track in tracks if len(track.start_ns)]
    ends += [int(times[-1]) for *_, times, _ in series] + [one + shift for one in (cores_end, run.wall_ns) if one]
    return Drawing(
        shift, max(ends, default=1), tracks, names,
        [(row["start_ns"] + shift, row["start_ns"] + row["dur_ns"] + shift) for row in run.rows("kernel_windows")],
        cores, cores_end, series,
    )  # fmt: skip


def packed(drawn: Drawing, pack: Pack, most: int) -> dict[str, Any]:
    """A time line as JSON, its columns in `pack`.

    Args:
        drawn: The time line.
        pack: Takes the columns.
        most: Events that are kept, about. Of more, neighbours on a track that are short become one.
    """
    tick = 1 if drawn.events <= _FINE_EVENTS else 100
    tracks = thinned(drawn.tracks, most)
    return {
        "shift_ns": drawn.shift_ns,
        "span_ns": drawn.span_ns,
        "tick_ns": tick,
        "events": drawn.events,
        "drawn": sum(len(track.start_ns) for track in tracks),
        "windows": drawn.windows,
        "names": {"text": drawn.names.text, "colour": drawn.names.colour, "more": drawn.names.more},
        "tracks": [_packed(track, tick, pack) for track in tracks],
        "cores": [
            {"core": use.core, "mean_pct": use.mean_pct, "busy_pct": pack.floats(_floats(use.strip))}
            for use in drawn.cores
        ],
        "cores_end_ns": drawn.cores_end_ns,
        "series": [
            {"label": label, "unit": unit, "axis": axis, "time": pack.rising(at // tick), "value": pack.floats(values)}
            for label, unit, axis, at, values in drawn.series
        ],
    }


def _packed(track: Track, tick: int, pack: Pack) -> dict[str, Any]:
    begin = track.start_ns // tick
    return {
        "label": track.label,
        "group": track.group,
        "start": pack.rising(begin),
        "dur": pack.unsigned((track.start_ns + track.dur_ns) // tick - begin),
        "name": pack.unsigned(track.name),
        # 0: none. Steps are numbered from 1 on, as people do.
        "number": None if track.number is None else pack.unsigned(np.where(track.number < 0, 0, track.number + 1)),
        "merged": None if track.merged is None else pack.unsigned(track.merged),
    }


def _floats(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


# -- events ----------------------------------------------------------------------------------------------


def _tracks(group: groups.Group, names: Names) -> Iterator[Track]:
    """The tracks of a group; sampled stacks are drawn in another way."""
    is_program = group.name == groups.PROGRAM
    kind = "program" if is_program else "gpu" if group.name.startswith("GPU") else "host"
    for label, slices in group.tracks:
        if is_program and label.startswith("calls"):
            slices = _without(slices, _TOLD_ELSEWHERE)  # noqa: PLW2901
        if len(slices.start_ns):
            place = label if kind == "program" else f"{group.name}: {label}"
            yield _track(cut(place), kind, slices, names)


def _without(slices: Slices, categories: Sequence[str]) -> Slices:
    kept = np.array([what.category not in categories for what in slices.whats], bool)
    return slices.take(np.flatnonzero(kept[slices.what]))


def _track(label: str, kind: str, slices: Slices, names: Names) -> Track:
    known = np.array([_named(what, names) for what in slices.whats] or [0], np.int64)
    name = known[slices.what]
    number = slices.own.get("step") if kind == "program" else None
    compiled = slices.own.get("compiled")
    if compiled is not None:
        again = np.array([_named(what, names, compiled=True) for what in slices.whats], np.int64)
        name = np.where(compiled > 0, again[slices.what], name)
    return Track(label, kind, slices.start_ns, slices.dur_ns, name, number)


def _named(what: What, names: Names, *, compiled: bool = False) -> int:
    facts = what.facts
    if what.category == "phase":
        return names.number(what.name, colours.of_phase(what.name))
    if "layer" in facts:
        told = (what.category, facts["category"], facts["layer"], facts["direction"], facts["op"])
        more = ", ".join(str(one) for one in dict.fromkeys(told) if one and one != what.name)
        return names.number(what.name, colours.of_event(what.category, str(facts["category"])), more)
    more = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
    if compiled:
        return names.number(what.name, colours.of_event("compiled"), "a graph was compiled in it")
    return names.number(what.name, colours.of_event(what.category), more)


def _in_order(found: Sequence[Thread]) -> list[Thread]:
    return sorted(found, key=lambda thread: (thread.name != "MainThread", thread.title))


def _python(thread: Thread, names: Names) -> Track:
    """The innermost function of a thread's sampled stacks; the frames around it are told of it."""
    start, dur, name = [], [], []
    for begin, length, frames in thread.rows:
        if frames:
            function, file, line = frames[0]
            around = " ← ".join(f"{f} ({where}:{at})" for f, where, at in frames[1:6])
            colour = colours.of_text(file.partition("/")[0])
            start.append(begin)
            dur.append(length)
            name.append(names.number(f"{function} ({file}:{line})", colour, around))
    columns = (np.array(column, np.int64) for column in (start, dur, name))
    return Track(cut(f"{thread.title} (sampled)"), "python", *columns)


def thinned(tracks: Sequence[Track], most: int) -> list[Track]:
    """The tracks with at most about so many events: neighbours that are short, and close, become one.

    How short is decided for all tracks together, by doubling: what is long enough to be seen stays as it is.
    """
    limit_ns = 64
    found = list(tracks)
    while sum(len(track.start_ns) for track in found) > most and limit_ns < 1 << 62:
        found = [_thin(track, limit_ns) for track in tracks]
        limit_ns *= 2
    return found


def _thin(track: Track, limit_ns: int) -> Track:
    """Join runs of events that are shorter than a limit and lie in the same cell of 8 limits; the first names them."""
    if not len(track.start_ns):
        return track
    short = track.dur_ns < limit_ns
    cell = track.start_ns // (8 * limit_ns)
    same = short[1:] & short[:-1] & (cell[1:] == cell[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~same)))
    count = np.diff(np.append(first, len(short)))
    ends = np.maximum.reduceat(track.start_ns + track.dur_ns, first)
    start = track.start_ns[first]
    number = None if track.number is None else track.number[first]
    return Track(track.label, track.group, start, ends - start, track.name[first], number, count)


# -- series ----------------------------------------------------------------------------------------------


def _series(run: Run) -> Iterator[tuple[str, str, str, Integers, Floats]]:
    """Memory and CPU of the process tree, CPU of others, and GPUs: (label, unit, axis, since when, values)."""
    yield from _tree(run)
    for one in all_series(run):
        if one.name == "other processes":
            yield _drawn(one, "CPU of others", one.unit, "cpu", 1.0)
        elif one.name in _GPU_SERIES and one.group.startswith("GPU"):
            unit, scale = ("MB", 1e-6) if one.unit == "bytes" else (one.unit, 1.0)
            yield _drawn(one, cut(f"{one.group} {one.name}"), unit, f"gpu {unit}", scale)


def _tree(run: Run) -> Iterator[tuple[str, str, str, Integers, Floats]]:
    """Sums over the processes that were sampled at the same time."""
    for column, label, unit, axis, scale in (
        ("rss_bytes", "memory of the process tree", "MB", "memory", 1e-6),
        ("cpu_pct", "CPU of the process tree", "% of a core", "cpu", 1.0),
    ):
        sums: dict[int, float] = {}
        for row in run.rows("process_samples"):
            if row[column] is not None:
                since = row["time_ns"] - (row["interval_ns"] or 0 if column == "cpu_pct" else 0)
                sums[since] = sums.get(since, 0.0) + row[column]
        times = np.array(sorted(sums), np.int64)
        one = Series("tree", label, unit, times, np.array([sums[time] for time in sorted(sums)], float))
        if sums:
            yield _drawn(one, label, unit, axis, scale)


def _drawn(one: Series, label: str, unit: str, axis: str, scale: float) -> tuple[str, str, str, Integers, Floats]:
    """A series of at most about _POINTS values, each a mean of neighbours, with NaN where nothing was measured."""
    times, values = one.time_ns.astype(np.int64), one.values * scale
    if len(times) > _POINTS:
        begins = np.linspace(0, len(times), _POINTS, endpoint=False).astype(int)
        values = np.add.reduceat(values, begins) / np.diff(np.append(begins, len(times)))
        times = times[begins]
    steps = np.diff(times)
    holes = np.flatnonzero(steps > _HOLE * np.median(steps)) if len(steps) else np.empty(0, int)
    if len(holes):
        usual = int(np.median(steps))
        values = np.insert(values, holes + 1, np.nan)
        times = np.insert(times, holes + 1, times[holes] + usual)
    return label, unit, axis, times, values


# -- steps -----------------------------------------------------------------------------------------------


def step_times(run: Run, medians_ns: Mapping[str, int | None]) -> list[dict[str, Any]]:
    """Steps of each loop for a chart: with the wait for their batch, as the report's median has it.

    Args:
        run: The run.
        medians_ns: Of each loop, as the report has it.
    """
    windows = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in run.rows("kernel_windows")]
    by_loop: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(run.rows("steps"), key=lambda row: row["start_ns"]):
        by_loop.setdefault(row["loop"], []).append(row)
    return [_steps_of(loop, rows, medians_ns.get(loop), windows) for loop, rows in by_loop.items()]


def _steps_of(
    loop: str, rows: Sequence[Mapping[str, Any]], median_ns: int | None, windows: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    counts = np.array([row["count"] for row in rows])
    epochs = [(row["loop_id"], row["epoch"]) for row in rows]
    inside = [[n for n, row in enumerate(rows) if begin <= row["start_ns"] < end] for begin, end in windows]
    return {
        "loop": loop,
        "median_ns": median_ns,
        # Of rows that stand for several steps this is the first one's number.
        "number": (np.cumsum(counts) - counts + 1).tolist() if (counts > 1).any() else None,
        "step_ms": [round((row["dur_ns"] + (row["input_ns"] or 0)) / row["count"] / 1e6, 4) for row in rows],
        "compiled": [n for n, row in enumerate(rows) if row["compiled"]],
        "epoch_starts": [n for n in range(len(rows)) if n == 0 or epochs[n] != epochs[n - 1]],
        "windows": [[found[0], found[-1]] for found in inside if found],
    }
