"""Functions of the user's in a trace of Python that names files without their folders."""

from __future__ import annotations

from dlprof.ingest.kernels import own_functions
from dlprof.ingest.kernels.events import CPU
from dlprof.ingest.kernels.trace import Trace
from dlprof.ingest.parse.hlo import Frame, Instruction
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import Row, make_trace

MAIN, OTHER = 0, 1


def _made(*functions: tuple[str, int, int, int]) -> Trace:
    """A trace of functions (name, start, duration, lane), with a program that `train.py` made through a package."""
    rows: list[Row] = [(EventKind.PYTHON, name, start, dur, CPU, lane, -1) for name, start, dur, lane in functions]
    trace = make_trace(rows, "launch")
    frame = Frame("/env/lib/python3.11/site-packages/keras/core.py", 9, Frame("/home/me/train.py", 30))
    trace.programs["jit_f(1)"] = {"dot": Instruction("dot", "dot", "f/dot", frame, (), (), 1)}
    return trace


def test_functions_in_files_that_programs_were_made_from_are_the_users() -> None:
    """Those of libraries are not, nor what a library called that may have a file of that name."""
    trace = _made(
        ("train.py(14): load", 0, 50, MAIN),
        ("train.py(9): read", 5, 20, MAIN),
        ("pjit.py(250): cache_miss", 60, 30, MAIN),
        ("train.py(3): step", 65, 20, MAIN),
        ("core.py(9): bind", 100, 40, MAIN),
    )

    assert own_functions.of_trace(trace) == [
        {"function": "load (train.py:14)", "total_ns": 50},
        {"function": "read (train.py:9)", "total_ns": 20},
    ]


def test_a_function_that_calls_itself_is_counted_once_and_in_each_thread() -> None:
    """Else it would take longer than the trace."""
    trace = _made(
        ("train.py(14): load", 0, 50, MAIN),
        ("train.py(14): load", 10, 20, MAIN),
        ("train.py(14): load", 0, 40, OTHER),
    )

    assert own_functions.of_trace(trace) == [{"function": "load (train.py:14)", "total_ns": 90}]


def test_without_a_program_nobody_knows_whose_a_function_is() -> None:
    """Names of files tell nothing."""
    trace = _made(("train.py(14): load", 0, 50, MAIN))
    trace.programs.clear()

    assert own_functions.of_trace(trace) == []
