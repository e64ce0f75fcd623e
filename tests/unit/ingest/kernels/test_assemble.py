"""From events to tables: nothing is lost, and sums stay what they were, whatever the events."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.attribution.registry import all_attributions
from dlprof.ingest.kernels import segments
from dlprof.ingest.kernels.assemble import Assembly
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.events import CPU, NONE, EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind

_STORED = [kind for kind in EventKind if kind is not EventKind.PYTHON]
_NAMES = ("mm", "relu", "cudaLaunchKernel", "ProfilerStep#1", "Memcpy HtoD", "nn.Module: Dense_0", "a/b:Mul")
_ON_DEVICE = (EventKind.KERNEL, EventKind.TRANSFER)


@st.composite
def _row(draw: st.DrawFn) -> tuple[EventKind, str, int, int, int, int, int]:
    """Kind, name, start, duration, lane, device and link of an event."""
    kind = draw(st.sampled_from(list(EventKind)))
    device = draw(st.integers(0, 2)) if kind in _ON_DEVICE else CPU
    start, dur = draw(st.integers(0, 3000)), draw(st.integers(0, 1500))
    return kind, draw(st.sampled_from(_NAMES)), start, dur, draw(st.integers(0, 2)), device, draw(st.integers(NONE, 4))


_ROWS = st.lists(_row(), max_size=40)


def trace(rows: list[Any], attribution: str = "launch") -> Trace:
    """A trace of these events."""
    made = Trace(Path("t"), "t", "t", attribution=attribution)
    made.add_rows([
        EventRow(kind, made.names.number(name), start, dur, made.lane((lane, device), Lane(0, lane, f"{lane}", device)), device, link)
        for kind, name, start, dur, lane, device, link in rows
    ])  # fmt: skip
    return made


def assembled(made: Trace) -> list[dict[str, Any]]:
    """Its executions, each with what it is."""
    assembly = Assembly()
    assembly.add(made, TraceContext(ProcessId("h", 0, 1, 0), 0, 0))
    tables = assembly.tables()
    ops = {row["op_id"]: row for row in tables["kernel_ops"].to_pylist()}
    return [{**ops[row["op_id"]], **row} for row in tables["kernel_events"].to_pylist()]


def summed(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """The executions by all that does not hang on the order in which they were told."""
    return Counter((row["kind"], row["name"], row["device"], row["start_ns"], row["dur_ns"]) for row in rows)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_ROWS, st.sampled_from(sorted(all_attributions())))
def test_no_event_is_lost_and_none_is_counted_twice_by_any_attribution(rows: list[Any], attribution: str) -> None:
    """Of functions of Python only the outermost are kept."""
    found = summed([row for row in assembled(trace(rows, attribution)) if row["kind"] != "python"])

    assert found == Counter(
        (kind.word, name, device, start, dur) for kind, name, start, dur, _, device, _ in rows if kind in _STORED
    )


@settings(max_examples=60, deadline=None)
@given(_ROWS)
def test_own_time_is_total_time_less_nested_time_and_never_negative(rows: list[Any]) -> None:
    """On each thread the own times of what ran are what they cover together."""
    found = assembled(trace(rows))

    assert all(0 <= row["nested_ns"] <= row["dur_ns"] for row in found)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**32))
def test_own_times_of_what_is_nested_sum_to_the_outermost(depth: int, seed: int) -> None:
    """Operators inside each other on one thread."""
    rng, rows, low, high = random.Random(seed), [], 0, 100_000
    for level in range(depth):
        rows.append((EventKind.OPERATOR, f"op {level}", low, high - low, 0, CPU, NONE))
        low, high = low + rng.randrange(0, 1000), high - rng.randrange(0, 1000)

    found = assembled(trace(rows))

    assert sum(row["dur_ns"] - row["nested_ns"] for row in found) == 100_000


def shuffled(rows: list[Any], seed: int) -> list[Any]:
    """The rows in another order, but those of the same begin and duration, which nest as they are told."""
    other = random.Random(seed).sample(rows, len(rows))
    told: dict[tuple[int, int], list[Any]] = {}
    for row in reversed(rows):
        told.setdefault((row[2], row[3]), []).append(row)
    return [told[row[2], row[3]].pop() for row in other]


@settings(max_examples=40, deadline=None)
@given(_ROWS, st.integers(0, 2**32))
def test_the_order_in_which_events_are_told_changes_no_sum(rows: list[Any], seed: int) -> None:
    """Files are not in order of time. Of events of the very same time the one that is told first is the outer one."""
    other = shuffled(rows, seed)

    def sums(found: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
        total: Counter[tuple[Any, ...]] = Counter()
        for row in found:
            total[row["kind"], row["name"], row["device"]] += row["dur_ns"]
        return total

    assert sums(assembled(trace(rows))) == sums(assembled(trace(other)))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_a_trace_that_is_cut_into_segments_gives_what_it_gives_whole(seed: int) -> None:
    """Kernels go with their launches, ranges over a cut are told once."""
    rng, rows = random.Random(seed), []
    for number in range(60):
        at = number * 1000
        rows += [
            (EventKind.OPERATOR, "mm", at, 500, 0, CPU, NONE),
            (EventKind.RUNTIME, "cudaLaunchKernel", at + 10, 20, 0, CPU, number),
            (EventKind.KERNEL, "k", at + rng.randrange(100, 9000), 50, 1, 0, number),
            (EventKind.ANNOTATION, "epoch", at, rng.randrange(1, 20_000), 0, CPU, NONE),
        ]
    whole = assembled(trace(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "SEGMENT_EVENTS", 20)
        cut = assembled(trace(rows))

    def told(found: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
        return Counter(
            (row["kind"], row["name"], row["op"], row["start_ns"], row["dur_ns"], row["nested_ns"]) for row in found
        )

    assert told(cut) == told(whole)
