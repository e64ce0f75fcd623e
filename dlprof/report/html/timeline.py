"""The time line of a page: tracks of events on one axis, and series below it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis import utilisation
from dlprof.report.html.pack import Pack
from dlprof.store.run import Run

_FINE_EVENTS = 50_000
"""Up to so many events a page keeps nanoseconds; of more it keeps tenths of microseconds."""
_NAME_LENGTH = 300
_STRIP_PARTS = 600
_POINTS = 2000
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Track:
    """Events of one thread, stream or kind, in order of their begin; those inside others come after them.

    Attributes:
        label: For people.
        group: `phases`, `loops`, `python`, `kernels` or `gpu`.
        start_ns, dur_ns: Of each event, on the run's time line (ns).
        name: Index into the names.
        merged: How many events each of these stands for; None: one each.
    """

    label: str
    group: str
    start_ns: Integers
    dur_ns: Integers
    name: Integers
    merged: Integers | None = None


@dataclass
class Names:
    """Texts that events have in common, each once."""

    text: list[str] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def number(self, text: str, kind: str, more: str = "") -> int:
        """Index of a text; `kind` decides about its colour, `more` is told of it besides."""
        key = cut(text), kind, cut(more)
        if key not in self._known:
            self._known[key] = len(self.text)
            for column, value in zip((self.text, self.kind, self.more), key, strict=True):
                column.append(value)
        return self._known[key]


def cut(text: str) -> str:
    """A text of which the page keeps no more than it can show."""
    return text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"


def content(run: Run, pack: Pack, most: int) -> dict[str, Any] | None:
    """The time line of a run, its columns in `pack`; None where nothing in the run has a time.

    Args:
        run: The run.
        pack: Takes the columns.
        most: Events that are drawn, about. Of more, neighbours on a track that are short are drawn as one.
    """
    names = Names()
    tracks = [*_phases(run, names), *_loops(run, names), *_python(run, names), *_kernels(run, names)]
    series = _series(run)
    if not tracks and not series:
        return None
    count = sum(len(track.start_ns) for track in tracks)
    tick = 1 if count <= _FINE_EVENTS else 100
    drawn = thinned(tracks, most)
    ends = [int((track.start_ns + track.dur_ns).max()) for track in tracks]
    return {
        "span_ns": max([run.wall_ns or 0, *ends]),
        "tick_ns": tick,
        "events": count,
        "drawn": sum(len(track.start_ns) for track in drawn),
        "windows": [[row["start_ns"], row["start_ns"] + row["dur_ns"]] for row in run.rows("kernel_windows")],
        "names": {"text": names.text, "kind": names.kind, "more": names.more},
        "tracks": [_packed(track, tick, pack) for track in drawn],
        "cores": [
            {"core": use.core, "mean_pct": use.mean_pct, "busy_pct": pack.floats(_known(use.strip))}
            for use in utilisation.cores(run.table("cores"), _STRIP_PARTS)
        ],
        "cores_end_ns": pc.max(run.table("cores")["time_ns"]).as_py(),
        "series": [
            {"label": label, "unit": unit, "group": group, "time": pack.rising(times // tick), "value": pack.floats(v)}
            for label, unit, group, times, v in series
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
        "merged": None if track.merged is None else pack.unsigned(track.merged),
    }


def _known(values: Iterable[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _track(label: str, group: str, start: npt.ArrayLike, dur: npt.ArrayLike, name: npt.ArrayLike) -> Track:
    """Events in the order that a track needs, from the run's begin on."""
    begin, length, names = (np.asarray(one, np.int64) for one in (start, dur, name))
    after = begin + length > 0
    begin, length, names = begin[after], length[after], names[after]
    length = np.where(begin < 0, length + begin, length)
    begin = np.maximum(begin, 0)
    order = np.lexsort((-length, begin))
    return Track(label, group, begin[order], length[order], names[order])


def _phases(run: Run, names: Names) -> list[Track]:
    rows = run.rows("phase_intervals")
    if not rows:
        return []
    number = [names.number(row["phase"], f"phase:{row['phase'].partition('.')[0]}") for row in rows]
    return [_track("phases", "phases", [r["start_ns"] for r in rows], [r["dur_ns"] for r in rows], number)]


def _loops(run: Run, names: Names) -> list[Track]:
    """Epochs, steps and garbage collections."""
    found = []
    epochs = run.rows("epochs")
    if epochs:
        number = [names.number(f"epoch {row['epoch'] + 1}", "loop:epoch") for row in epochs]
        found.append(_track("epochs", "loops", [r["start_ns"] for r in epochs], [r["dur_ns"] for r in epochs], number))
    found.extend(_steps(run, names))
    collections = run.rows("gc")
    if collections:
        number = [names.number(f"collection of generation {row['generation']}", "loop:gc") for row in collections]
        starts, durs = ([row[name] for row in collections] for name in ("start_ns", "dur_ns"))
        found.append(_track("garbage collector", "loops", starts, durs, number))
    return found


def _steps(run: Run, names: Names) -> list[Track]:
    """Each loop's steps with their calls and their callbacks inside."""
    table = run.table("steps")
    found = []
    for loop in pc.unique(table["loop"]).to_pylist():
        rows = table.filter(pc.equal(table["loop"].cast(pa.string()), loop)).to_pylist()
        events: list[tuple[int, int, int]] = []
        for row in rows:
            compiled = "compiled a graph" if row["compiled"] else ""
            what = f"{loop} step {row['step'] + 1}" + (f" to {row['step'] + row['count']}" if row["count"] > 1 else "")
            of = f"epoch {row['epoch'] + 1}" if row["epoch"] is not None else ""
            more = ", ".join(part for part in (of, compiled) if part)
            kind = "step:compiled" if compiled else "step:plain"
            events.append((row["start_ns"], row["dur_ns"], names.number(what, kind, more)))
            if row["count"] == 1 and row["call_ns"]:
                call = names.number("call of the step function", "step:call")
                events.append((row["start_ns"] + (row["call_offset_ns"] or 0), row["call_ns"], call))
            if row["count"] == 1 and row["input_ns"]:
                wait = names.number("wait for the batch", "step:input")
                events.append((row["start_ns"] - row["input_ns"], row["input_ns"], wait))
        found.append(_track(f"{loop} steps", "loops", *zip(*events, strict=True)))
    return found


def _python(run: Run, names: Names) -> list[Track]:
    """The innermost function of each thread's sampled stacks."""
    stacks = run.rows("stacks")
    texts = _stack_texts(run.table("frames"))
    numbers = {stack: names.number(inner, f"python:{file}", more) for stack, (inner, file, more) in texts.items()}
    by_thread: dict[str, list[Mapping[str, Any]]] = {}
    for row in stacks:
        if row["stack_id"] in numbers:
            by_thread.setdefault(f"{row['thread']} (sampled)", []).append(row)
    order = sorted(by_thread, key=lambda thread: (not thread.startswith("MainThread"), thread))
    return [
        _track(
            thread, "python", [r["start_ns"] for r in by_thread[thread]], [r["dur_ns"] for r in by_thread[thread]],
            [numbers[r["stack_id"]] for r in by_thread[thread]],
        )
        for thread in order
    ]  # fmt: skip


def _stack_texts(frames: pa.Table) -> dict[int, tuple[str, str, str]]:
    """Of each stack: its innermost function, that one's package, and the frames around it."""
    grouped: dict[int, list[tuple[int, str, str, int]]] = {}
    for row in frames.to_pylist():
        grouped.setdefault(row["stack_id"], []).append((row["depth"], row["function"], row["file"], row["line"]))
    found = {}
    for stack, rows in grouped.items():
        inner_first = sorted(rows, reverse=True)
        _, function, file, line = inner_first[0]
        more = " ← ".join(f"{one[1]} ({one[2]}:{one[3]})" for one in inner_first[1:6])
        found[stack] = f"{function} ({file}:{line})", file.partition("/")[0], more
    return found


def _kernels(run: Run, names: Names) -> list[Track]:
    """Kernels and operators: the host's by thread, a GPU's by stream."""
    table = run.table("kernel_events", ("op_id", "device", "lane", "start_ns", "dur_ns")).unify_dictionaries()
    if not table.num_rows:
        return []
    rows = run.rows("kernel_ops")
    known = np.full(max((row["op_id"] for row in rows), default=0) + 1, 0, np.int64)
    for row in rows:
        known[row["op_id"]] = names.number(
            row["name"] or row["op"] or "?", f"kernel:{_category(row)}", _what_it_is(row)
        )
    lanes = table["lane"].combine_chunks()
    codes = np.asarray(pc.fill_null(lanes.indices, -1))
    labels = [*lanes.dictionary.to_pylist(), "?"]
    op, device, start, dur = (np.asarray(table[name]) for name in ("op_id", "device", "start_ns", "dur_ns"))
    found = []
    for place in np.unique(np.stack([device, codes]), axis=1).T:
        chosen = (device == place[0]) & (codes == place[1])
        on = "kernels" if place[0] < 0 else f"GPU {place[0]}"
        group = "kernels" if place[0] < 0 else "gpu"
        label = f"{on}: {cut(str(labels[place[1]]))}"
        found.append(_track(label, group, start[chosen], dur[chosen], known[op[chosen]]))
    return sorted(found, key=lambda track: (track.group, -int(track.dur_ns.sum())))


def _category(row: Mapping[str, Any]) -> str:
    """What decides about the colour: the category of what computes, the kind of what does not."""
    return str(row["category"] or "other") if row["kind"] in ("kernel", "operator") else str(row["kind"])


def _what_it_is(row: Mapping[str, Any]) -> str:
    parts = (row["kind"], row["category"], row["layer"], row["direction"], row["op"])
    return ", ".join(str(part) for part in dict.fromkeys(parts) if part and part != row["name"])


Series = tuple[str, str, str, Integers, Sequence[float]]


def _series(run: Run) -> list[Series]:
    """Memory, CPU and GPU over time: (label, unit, group, times, values)."""
    found: list[Series] = []
    samples = _by_time(run.rows("process_samples"), ("rss_bytes", "cpu_pct"))
    _add(found, ("memory of the process tree", "MB", "memory"), samples, "rss_bytes", 1e-6)
    _add(found, ("CPU of the process tree", "% of a core", "cpu"), samples, "cpu_pct", 1.0)
    _add(found, ("CPU of others", "% of a core", "cpu"), run.rows("machine"), "others_cpu_pct", 1.0)
    rows = run.rows("gpu")
    for gpu in sorted({row["gpu"] for row in rows}):
        own = [row for row in rows if row["gpu"] == gpu]
        for column, label, unit, scale in (
            ("utilisation_pct", "utilisation", "%", 1.0), ("memory_used_bytes", "memory", "MB", 1e-6),
            ("power_w", "power", "W", 1.0), ("sm_clock_mhz", "clock", "MHz", 1.0),
            ("temperature_c", "temperature", "°C", 1.0),
        ):  # fmt: skip
            _add(found, (f"GPU {gpu} {label}", unit, f"gpu {unit}"), own, column, scale)
    return found


def _by_time(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Sums over the processes that were sampled at the same time."""
    sums: dict[int, dict[str, Any]] = {}
    for row in rows:
        total = sums.setdefault(row["time_ns"], {"time_ns": row["time_ns"], **dict.fromkeys(columns)})
        for column in columns:
            if row[column] is not None:
                total[column] = (total[column] or 0) + row[column]
    return [sums[time] for time in sorted(sums)]


def _add(
    found: list[Series], what: tuple[str, str, str], rows: Sequence[Mapping[str, Any]], column: str, scale: float
) -> None:
    """Add a series that was measured at all, of at most _POINTS points: the largest of neighbours."""
    known = sorted((row["time_ns"], row[column] * scale) for row in rows if row[column] is not None)
    known = [one for one in known if one[0] >= 0]
    if not known:
        return
    times, values = np.asarray([one[0] for one in known], np.int64), np.asarray([one[1] for one in known])
    if len(times) > _POINTS:
        begins = np.linspace(0, len(times), _POINTS, endpoint=False).astype(int)
        times, values = times[begins], np.maximum.reduceat(values, begins)
    found.append((*what, times, values.tolist()))


def thinned(tracks: Sequence[Track], most: int) -> list[Track]:
    """The tracks with at most about so many events: neighbours that are short, and close, become one.

    How short is decided for all tracks together, by doubling: what is long enough to be seen stays as it is.
    """
    limit_ns = 64
    found = list(tracks)
    while sum(len(track.start_ns) for track in found) > most:
        found = [_thin(track, limit_ns) for track in tracks]
        limit_ns *= 2
    return found


def _thin(track: Track, limit_ns: int) -> Track:
    """Join runs of events that are shorter than a limit and lie in the same cell of 8 limits; the first names them."""
    short = track.dur_ns < limit_ns
    cell = track.start_ns // (8 * limit_ns)
    same = short[1:] & short[:-1] & (cell[1:] == cell[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~same)))
    count = np.diff(np.append(first, len(short)))
    ends = np.maximum.reduceat(track.start_ns + track.dur_ns, first)
    start = track.start_ns[first]
    return Track(track.label, track.group, start, ends - start, track.name[first], count)


def step_times(run: Run, medians_ns: Mapping[str, int | None]) -> list[dict[str, Any]]:
    """Steps of each loop for a chart: their times, and which were special.

    Args:
        run: The run.
        medians_ns: Of each loop, as the report has it.
    """
    windows = [
        (row["loop"], row["first_step"], row["first_step"] + row["steps"])
        for row in run.rows("kernel_windows")
        if row["loop"] and row["first_step"] is not None
    ]
    table = run.table("steps").sort_by("start_ns")
    found = []
    for loop in pc.unique(table["loop"]).to_pylist():
        rows = table.filter(pc.equal(table["loop"].cast(pa.string()), loop))
        found.append({
            "loop": loop,
            "median_ns": medians_ns.get(loop),
            "step_ms": [round(ns / count / 1e6, 4) for ns, count in zip(
                rows["dur_ns"].to_pylist(), rows["count"].to_pylist(), strict=True)],
            "compiled": np.flatnonzero(np.asarray(rows["compiled"])).tolist(),
            "epoch_starts": _epoch_starts(rows),
            "windows": [[first, last] for name, first, last in windows if name == loop],
        })  # fmt: skip
    return found


def _epoch_starts(rows: pa.Table) -> list[int]:
    keys = [json.dumps(key) for key in zip(rows["loop_id"].to_pylist(), rows["epoch"].to_pylist(), strict=True)]
    return [n for n in range(len(keys)) if n == 0 or keys[n] != keys[n - 1]]
