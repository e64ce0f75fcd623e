"""Stacks put together."""

from __future__ import annotations

from dlprof.ingest.own.stood import MainThread, Stood, stood
from dlprof.ingest.parse.sampled_stacks import Frame
from tests.unit.runs import S, span, table


def test_keras_builds_in_the_spans_of_the_main_thread_that_no_script_marked() -> None:
    """From 1 s to 4 s, in two spans that overlap; a mark is named by its kind, and fit is no building."""
    spans = [
        span("construct", 1, 3, name="Dense.__init__", thread="MainThread"),
        span("graph_compile", 2, 4, name="train_step", thread="MainThread"),
        span("compile", 5, 6, name="compile", thread="MainThread"),
        span("graph_compile", 6, 7, name="jit", thread="loader"),
        span("fit", 7, 8, name="fit", thread="MainThread"),
    ]
    building = MainThread([table("spans", spans)]).building

    assert [building.at(int(at * S)) for at in (0.5, 1.5, 3.5, 5.5, 6.5, 7.5)] == [
        False,
        True,
        True,
        False,
        False,
        False,
    ]
    assert MainThread(()).building.at(S) is False


def test_lines_are_counted_while_an_engine_compiles_a_single_operator() -> None:
    """What the script wrote itself calls it: no function of Keras is around it."""
    detail = '{"graph": {"stage": "compile", "function": "add", "operator": true}}'
    compiled = span("graph_compile", 1, 2, name="compile jit(add)", thread="MainThread", detail=detail)

    assert MainThread([table("spans", [compiled])]).building.at(int(1.5 * S)) is False


def test_equal_stacks_of_a_thread_are_added_up() -> None:
    """Those of the main thread apart from those of others, and those inside building from those outside."""
    rows = [("MainThread", 1), ("MainThread", 2), ("loader", 3), ("MainThread", 11)]
    stacks = [{"thread_id": 1, "thread": thread, "start_ns": at * S, "dur_ns": S, "stack_id": 0} for thread, at in rows]
    frames = [
        {"stack_id": 0, "depth": depth, "function": name, "file": "a.py", "line": 1}
        for depth, name in ((1, "inner"), (0, "outer"))
    ]
    spans = [span("construct", 10, 13, name="Dense.__init__", thread="MainThread")]

    found = list(stood([table("stacks", stacks)], table("frames", frames), MainThread([table("spans", spans)])))

    stack = [Frame("outer", "a.py", 1), Frame("inner", "a.py", 1)]
    assert found == [
        Stood(stack, 2 * S, main=True, building=False),
        Stood(stack, S, main=False, building=False),
        Stood(stack, S, main=True, building=True),
    ]


def test_what_dlprof_took_is_no_time_of_the_stack_that_it_interrupted() -> None:
    """Of a stack of 4 s on the main thread 2.5 s are left; one that stood within dlprof's own time is none."""
    rows = [(1, 4, 0), (10, 1, 1)]
    stacks = [
        {"thread_id": 1, "thread": "MainThread", "start_ns": at * S, "dur_ns": dur * S, "stack_id": number}
        for at, dur, number in rows
    ]
    frames = [{"stack_id": number, "depth": 0, "function": "f", "file": "a.py", "line": number} for number in (0, 1)]
    spans = [
        span("dlprof", 0, 1.5, name="start kernel tracing", thread="MainThread"),
        span("dlprof", 3, 4, name="stop kernel tracing", thread="MainThread"),
        span("dlprof", 9, 12, name="count objects", thread="MainThread"),
        span("dlprof", 1, 5, name="count objects", thread="loader"),
    ]

    found = list(stood([table("stacks", stacks)], table("frames", frames), MainThread([table("spans", spans)])))

    assert found == [Stood([Frame("f", "a.py", 0)], 2_500_000_000, main=True, building=False)]
