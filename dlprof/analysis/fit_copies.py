"""Copies that `fit` makes of all the data that it is given, before its first step: as tensors, or of another type.

The data's size is known from shapes and types; by how much more memory there was all through the training than at the
call of `fit` is measured. Where the one is the other, the data is there twice.

At the call the process reads its own memory (`memory` of the span's facts): between two samples, which may be a tenth
of a second and more apart, the script may have made the very data that it gives. An older run does not tell it; what
it held then is taken as on a line between the samples around the call. Both are of the traced process alone, as is
what there was while it trained: what is resident without pages of files, and what is swapped out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from dlprof.analysis import memory_series
from dlprof.analysis.columns import integers, steps_of
from dlprof.analysis.memory_copies import LEAST_BYTES
from dlprof.analysis.memory_series import MemorySeries
from dlprof.schema.vocabulary import Loop, SpanKind
from dlprof.store.run import Run

_SIZES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4, "float16": 2, "uint8": 1}
_SAME = (0.8, 1.4)
"""Growth over the size of a copy, where it is one: an engine takes more before its first step than the copy."""


@dataclass(frozen=True)
class FitCopy:
    """Data that `fit` copied.

    Attributes:
        span_id: The call, of `spans`.
        file, line: Where it was called; None: not known.
        given_bytes: What it was given, by shapes and types.
        copy_bytes: By how much more there was from the first step on than at the call, at the least.
        given_type: Type of the largest array.
        made_type: Type of the copy.
    """

    span_id: int
    file: str | None
    line: int | None
    given_bytes: int
    copy_bytes: int
    given_type: str
    made_type: str


def of_run(run: Run) -> tuple[FitCopy, ...]:
    """The copies of a run, the largest first; none where memory was not sampled."""
    series = memory_series.of_run(run)
    if series is None:
        return ()
    trained = _trained(run)
    found = [copy for row in _calls(run) if (copy := _of_call(row, trained, series)) is not None]
    return tuple(sorted(found, key=lambda copy: -copy.copy_bytes))


def _calls(run: Run) -> Iterator[Mapping[str, Any]]:
    columns = ("span_id", "start_ns", "file", "line", "detail")
    yield from run.chosen("spans", "kind", (SpanKind.FIT,), columns)


def _trained(run: Run) -> Mapping[int, tuple[int, int]]:
    """When the first step of each training began, and when the last one ended (ns)."""
    found: dict[int, tuple[int, int]] = {}
    for piece in run.pieces("steps", ("loop", "loop_id", "start_ns", "dur_ns")):
        rows = steps_of(piece, Loop.TRAIN)
        known = rows.filter(pc.is_valid(rows["loop_id"]))
        columns = [integers(known[name]).tolist() for name in ("loop_id", "start_ns", "dur_ns")]
        for loop, start, dur in zip(*columns, strict=True):
            first, last = found.get(loop, (start, start))
            found[loop] = min(start, first), max(start + dur, last)
    return found


def _of_call(row: Mapping[str, Any], trained: Mapping[int, tuple[int, int]], series: MemorySeries) -> FitCopy | None:
    facts = json.loads(row["detail"] or "{}")
    arrays = [one for one in facts.get("data") or () if isinstance(one, dict) and one.get("shape")]
    steps = trained.get(row["span_id"])
    if not arrays or steps is None:
        return None
    given = sum(_bytes(one, one["dtype"]) for one in arrays)
    grown = _held(series, *steps) - _before(series, row["start_ns"], facts.get("memory"))
    if grown < LEAST_BYTES:
        return None
    largest = max(arrays, key=lambda one: _bytes(one, one["dtype"]))["dtype"]
    made = next((kind for kind in (largest, _floats(facts)) if _is(grown, arrays, kind, largest)), None)
    if made is None:
        return None
    return FitCopy(row["span_id"], row["file"], row["line"], given, grown, largest, made)


def _is(grown: int, arrays: Sequence[Mapping[str, Any]], kind: str, largest: str) -> bool:
    """Whether memory grew by what the arrays take, those of the largest one's type in another one."""
    made = sum(_bytes(one, kind if one["dtype"] == largest else one["dtype"]) for one in arrays)
    return made > 0 and _SAME[0] <= grown / made <= _SAME[1]


def _floats(facts: Mapping[str, Any]) -> str:
    return str((facts.get("training") or {}).get("floatx") or "float32")


def _bytes(array: Mapping[str, Any], kind: str) -> int:
    return math.prod(int(length) for length in array["shape"]) * _SIZES.get(str(kind), 0)


def _before(series: MemorySeries, call_ns: int, told: Any) -> int:
    """What there was at the call (bytes): as the process told it (`inproc/process_memory.py`), else between samples."""
    match told:
        case {"after_ns": int(after_ns), "rss_bytes": int(resident), "anonymous_bytes": int(anonymous)}:
            return series.own_told(call_ns + after_ns, resident, anonymous)
        case _:
            return series.own_at(call_ns)


def _held(series: MemorySeries, begin_ns: int, end_ns: int) -> int:
    """What there was at the least while steps were trained (bytes); 0: there is no sample of that time.

    Behind the last step `fit` lets go of what it made, before it returns.
    """
    inside = series.own_bytes[(series.time_ns >= begin_ns) & (series.time_ns <= end_ns)]
    return int(inside.min()) if len(inside) else 0
