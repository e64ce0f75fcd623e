"""Traces of several processes that are in one file."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.artifact import Health, Skipped
from dlprof.ingest.kernels import by_process
from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.schema.vocabulary import EventKind


def _trace(*devices: int) -> Trace:
    """A trace with an operator or a kernel on each lane, one after another."""
    trace = Trace(Path("t.json"), "kineto", "torch", facts={"rank": 3, "host": "h", "world_size": 8})
    for at, device in enumerate(devices):
        lane = trace.lane(at, Lane(0, at, f"lane {at}", device))
        kind = EventKind.OPERATOR if device < 0 else EventKind.KERNEL
        trace.add_rows([EventRow(kind, trace.names.number(f"f{at}"), at, 1, lane, device)])
    trace.health, trace.skipped, trace.dropped = [Health("h", "info", "said")], [Skipped("x", 1, "why")], 5
    return trace


def _names(trace: Trace) -> list[str]:
    return [trace.names[number] for number in trace.events.take().name]


def test_the_events_of_each_process_are_a_trace() -> None:
    """Kernels go with the process that their lane is said to be of; what is said of the file is said once."""
    first, second = by_process.told_apart(_trace(-1, -1, 0), [7, 8, 7], {8: "loader"}, {8: {"memory": []}})

    assert (_names(first), _names(second)) == (["f0", "f2"], ["f1"])
    assert first.facts == {
        "world_size": 8, "pid": 7, "process": None, "is_numbered": True, "clock": "that of t.json",
    }  # fmt: skip
    assert (second.facts["process"], second.facts["memory"]) == ("loader", [])
    assert [(len(one.health), len(one.skipped), one.dropped) for one in (first, second)] == [(1, 1, 5), (0, 0, 0)]


def test_a_trace_of_one_process_stays_as_it_is() -> None:
    """Also where it is not known of some of its threads."""
    trace = _trace(-1, -1)

    assert by_process.told_apart(trace, [7, None], {}) == [trace]
    assert trace.facts["rank"] == 3


def test_a_device_of_nobody_keeps_all_together() -> None:
    """Its kernels would be missing in the process that launched them."""
    trace = _trace(-1, -1, 0)

    assert by_process.told_apart(trace, [7, 8, None], {}) == [trace]
    assert [health.slug for health in trace.health] == ["h", "trace-processes-joined"]


def test_threads_of_no_process_are_a_trace_of_their_own() -> None:
    """Where the others have one."""
    traces = by_process.told_apart(_trace(-1, -1, -1), [7, 8, None], {})

    assert [trace.facts["process"] for trace in traces] == [None, None, "no process told"]


def test_very_many_processes_share_the_last_trace() -> None:
    """64 have their own."""
    traces = by_process.told_apart(_trace(*[-1] * 100), list(range(100)), {})

    assert len(traces) == 65
    assert (traces[-1].facts["process"], traces[-1].size) == ("all further processes", 36)


def test_a_process_that_is_called_by_a_text_keeps_it() -> None:
    """The number is made up then, and not told to people."""
    told = by_process.facts("[TP00] 12", "python", Path("t.json"))

    assert (told["process"], told["is_numbered"]) == ("python, [TP00] 12", False)
    assert by_process.facts("10.0.0.1", None, Path("t.json"))["process"] == "10.0.0.1"
