"""The user's source, line by line."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.analysis import breakdown
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame
from dlprof.report.html import source_lines
from dlprof.schema.tree_paths import Tree
from tests.unit.runs import S, span, trained, window


def test_a_line_has_the_kernels_of_the_layers_that_it_made(tmp_path: Path) -> None:
    """The construction of the layer says where."""
    kernels = window([{"op": "matmul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 20}])
    lines = [
        {"file": "train.py", "function": "f", "first_line": 1, "line": n, "hits": 1, "time_ns": n, "source": "x"}
        for n in (1, 2)
    ]
    made = span("construct", 1, 2, span_id=3, line=2, detail=json.dumps({"layer": "dense"}))
    run = trained(tmp_path / "r", **kernels, lines=lines, spans=[*trained(tmp_path / "o").rows("spans"), made])
    (file,) = source_lines.of_run(run, breakdown.of_run(run), [])
    assert [(line.number, line.kernels_ns, line.layers) for line in file.lines] == [
        (1, None, ()),
        (2, 5 * S, ("dense",)),
    ]


def test_a_line_that_was_never_sampled_has_no_figure(tmp_path: Path) -> None:
    """Nothing was sampled: not measured, and not 0."""
    lines = [{"file": "train.py", "function": "f", "first_line": 1, "line": 1, "hits": 1, "time_ns": 5, "source": "x"}]
    (file,) = source_lines.of_run(trained(tmp_path / "r", lines=lines), None, [])
    assert file.lines[0].sampled_ns is None


def test_a_line_that_was_not_counted_has_its_time_under_sampled_only(tmp_path: Path) -> None:
    """Of all threads; hits and time stay empty."""
    counted = {"file": "train.py", "function": "f", "first_line": 1, "line": 1, "hits": 1, "time_ns": 5, "source": "x"}
    seen = {**counted, "function": "g", "line": 2, "hits": None, "time_ns": S, "how": "sampled", "samples": 20}
    run = trained(tmp_path / "r", lines=[counted, seen])
    stack = Sample(Tree.FIT_STEPS, main=False, dur_ns=S, frames=(Frame("g", "train.py", 2),))

    (file,) = source_lines.of_run(run, None, [stack])

    assert [(line.hits, line.time_ns, line.sampled_ns) for line in file.lines] == [(1, 5, None), (None, None, S)]


def test_hits_of_windows_are_an_estimate(tmp_path: Path) -> None:
    """A line that none met has no hits to be marked."""
    met = {"file": "train.py", "function": "f", "first_line": 1, "time_ns": 5, "source": "x", "how": "scaled"}
    told = [
        {**met, "line": 1, "hits": 900},
        {**met, "line": 2, "hits": None},
        {**met, "line": 3, "hits": 7, "how": "exact"},
    ]
    (file,) = source_lines.of_run(trained(tmp_path / "r", lines=told), None, [])

    assert [line.is_scaled for line in file.lines] == [True, False, False]
