"""A run as trace events (JSON), which Chrome, Perfetto and most other viewers of traces read.

Times are in microseconds with three decimals: to the nanosecond.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO

from dlprof.analysis.timeline import groups
from dlprof.analysis.timeline.series import Series
from dlprof.analysis.timeline.slices import MISSING, Slices, What
from dlprof.store.run import Run

_EVENTS_AT_ONCE = 10_000


def write(run: Run, out: BinaryIO) -> str:
    """Write the trace.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: Nothing in the run has a time.
    """
    timeline = groups.of_run(run)
    out.write(b'{"traceEvents":[\n')
    waiting: list[str] = []
    before = ""
    for event in _events(run, timeline):
        waiting.append(event)
        if len(waiting) >= _EVENTS_AT_ONCE:
            out.write((before + ",\n".join(waiting)).encode("utf-8", "replace"))
            waiting, before = [], ",\n"
    out.write((before if waiting else "").encode() + ",\n".join(waiting).encode("utf-8", "replace"))
    clock = run.manifest.clock
    facts = {
        "run": run.name,
        "zero_shifted_by_ns": timeline.shift_ns,
        "zero_wall_ns": clock.origin_wall_ns,
        "zero_monotonic_ns": clock.origin_perf_ns or None,
    }
    out.write(f'\n],"displayTimeUnit":"ns","otherData":{_json(facts)}}}\n'.encode("utf-8", "replace"))
    return timeline.said


def _events(run: Run, timeline: groups.Timeline) -> Iterator[str]:
    for pid, group in enumerate(timeline.groups, 1):
        name = run.name if group.name == groups.PROGRAM else group.name
        yield _metadata("process_name", pid, 0, name=name)
        yield _metadata("process_sort_index", pid, 0, sort_index=pid)
        for tid, (track, slices) in enumerate(group.tracks, 1):
            yield _metadata("thread_name", pid, tid, name=track)
            yield _metadata("thread_sort_index", pid, tid, sort_index=tid)
            yield from _slices(pid, tid, slices, timeline.shift_ns)
        for series in group.series:
            yield from _series(pid, series, timeline.shift_ns)


def _metadata(kind: str, pid: int, tid: int, **args: Any) -> str:
    return _json({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args})


def _slices(pid: int, tid: int, slices: Slices, shift_ns: int) -> Iterator[str]:
    heads = {number: _head(pid, tid, slices.whats[number]) for number in set(slices.what.tolist())}
    own = [(_json(name), values.tolist()) for name, values in slices.own.items()]
    columns = (slices.what.tolist(), (slices.start_ns + shift_ns).tolist(), slices.dur_ns.tolist())
    for position, (what, start, dur) in enumerate(zip(*columns, strict=True)):
        head, empty = heads[what]
        facts = ",".join([f"{name}:{values[position]}" for name, values in own if values[position] != MISSING])
        comma = "," if facts and not empty else ""
        times = f'"ts":{start // 1000}.{start % 1000:03d},"dur":{dur // 1000}.{dur % 1000:03d}'
        yield f"{head}{comma}{facts}}},{times}}}"


def _head(pid: int, tid: int, what: What) -> tuple[str, bool]:
    """The event of a kind of slice up to its facts, which stay open, and whether there are none yet."""
    facts = {name: _finite(value) for name, value in what.facts.items() if value is not None}
    event = {"ph": "X", "pid": pid, "tid": tid, "name": what.name, "cat": what.category, "args": facts}
    return _json(event)[:-2], not facts


def _json(value: Any) -> str:
    """As JSON with all characters as they are: Perfetto refuses escapes of characters beyond 16 bits."""
    return json.dumps(value, ensure_ascii=False)


def _finite(value: Any) -> Any:
    """JSON has no infinity: such a number becomes text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _series(pid: int, series: Series, shift_ns: int) -> Iterator[str]:
    head = _json({"ph": "C", "pid": pid, "tid": 0, "name": series.name})[:-1]
    unit = _json(series.unit)
    for time_ns, value in zip((series.time_ns + shift_ns).tolist(), series.values.tolist(), strict=True):
        yield f'{head},"ts":{time_ns // 1000}.{time_ns % 1000:03d},"args":{{{unit}:{value!r}}}}}'
