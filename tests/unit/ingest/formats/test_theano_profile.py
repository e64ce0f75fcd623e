"""What Theano's profiler prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.formats import theano_profile
from dlprof.ingest.formats.base import FileContent
from dlprof.ingest.kernels.events import CPU
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.formats.samples import (
    THEANO_HEAD,
    THEANO_LOOP,
    put,
    trace_of,
)
from tests.unit.ingest.imports import DATA


def totals(foreign: FileContent) -> list[tuple[str, EventKind, int, int, int]]:
    """Sums: name, kind, count, total, device."""
    return [(row.name, row.kind, row.count, row.total_ns, row.device) for row in trace_of(foreign).sums or ()]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("theano_example.txt", [("None", 1, 5.698204e-05, 6.198883e-06, 1, 2, "Elemwise{add,no_inplace}", 2)]),
        (
            "theano_two_functions.txt",
            [
                ("train", 10_000, 7.171231, 6.511275, 6, 16, "CGemv{inplace}", 20_000),
                ("predict", 1, 0.0004870892, 0.0004491806, 5, 5, "CGemv{inplace}", 1),
                ("Sum of all printed profiles at exit", 10_001, 7.171718, 6.511724, 0, 0, None, None),
            ],
        ),
        ("theano_gpu.txt", [("train.py:47", 1, 0.005981922, 0.004213095, 9, 17, "dot", 2)]),
    ],
)
def test_what_theano_says_of_its_functions_is_read_as_printed(file: str, expected: list[Any]) -> None:
    """Calls, times and tables of each function."""
    names = ("message", "calls", "call_time_s", "thunk_time_s", "class_rows", "op_rows", "top_op", "top_op_calls")

    functions = theano_profile.read(DATA / file).facts["functions"]

    assert [tuple(function[name] for name in names) for function in functions] == expected


def test_times_of_operators_of_theano_are_taken_from_the_figure_with_the_least_error() -> None:
    """5.665 s is better than 20000 times 2.83e-04 s, but 0.000 s is not better than any."""
    foreign = theano_profile.read(DATA / "theano_two_functions.txt")

    rows = totals(foreign)
    assert [(name, total) for name, _, _, total, _ in rows if "CGemv" in name] == [
        ("CGemv{inplace}", 5_665_000_000),
        ("CGemv{inplace}", 423_128),
    ]
    assert len(rows) == 21
    assert rows[0][1:3] == (EventKind.OPERATOR, 20_000)
    assert rows[0][4] == CPU


def test_operators_of_a_gpu_are_work_of_a_gpu() -> None:
    """Theano calls them so; those that copy are copies, and what their times are is said."""
    foreign = theano_profile.read(DATA / "theano_gpu.txt")

    on_gpu = {name: kind for name, kind, _, _, device in totals(foreign) if device == 0}
    assert on_gpu == {
        "HostFromGpu": EventKind.TRANSFER,
        "GpuFromHost": EventKind.TRANSFER,
        "GpuElemwise{Sub}[(0, 1)]": EventKind.KERNEL,
        "GpuDimShuffle{1,0}": EventKind.KERNEL,
    }
    assert ("theano-gpu-times", 4) in [(entry.slug, entry.count) for entry in trace_of(foreign).health]


def test_loops_of_theano_are_not_counted_twice(tmp_path: Path) -> None:
    """The operators inside a Scan are part of its own time; what is passed over or missing is said."""
    foreign = theano_profile.read(put(tmp_path, THEANO_HEAD + THEANO_LOOP))

    assert [row[0] for row in totals(foreign)] == ["dot"]
    assert [(entry.slug, entry.count) for entry in trace_of(foreign).health] == [
        ("times-rounded", None),
        ("theano-rows-left-out", 4),
        ("theano-loops-passed-over", 1),
    ]


def test_a_sum_of_theano_counts_where_there_is_nothing_else(tmp_path: Path) -> None:
    """A file that was cut down to its last block still gives its operators."""
    text = THEANO_HEAD.replace("Message: f", "Message: Sum of all(2) printed profiles at exit")

    assert totals(theano_profile.read(put(tmp_path, text))) == [("dot", EventKind.OPERATOR, 2, 90_000_000, -1)]
    both = theano_profile.read(put(tmp_path, THEANO_HEAD + text))
    assert len(totals(both)) == 1
