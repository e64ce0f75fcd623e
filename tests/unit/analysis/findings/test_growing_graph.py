"""Graphs that grow as they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    KERNELS,
    Planted,
    diagnosed,
    keep_source,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

SESSION = "tensorflow_core/python/client/session.py"
EXTENDS = [*FIT, ("step", "train.py", 32), ("run", SESSION, 9), ("_extend_graph", SESSION, 13)]


def test_sessions_that_extend_their_graph_in_the_loop_are_named(tmp_path: Path) -> None:
    """For half of the steps, at the line that adds operations."""
    stood = sampled((2, 5, EXTENDS), (5, 8, FIT))
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow1"), **quiet(**stood, **runs.window(KERNELS))), "retracing")

    assert (finding.heading, finding.line) == ("The graph grew while the training ran", 32)
    assert finding.at_stake_ns == 3 * S


def test_a_run_of_an_operation_that_is_new_is_made_ready_as_if_it_were_the_first(tmp_path: Path) -> None:
    """`sess.run([epoch[0], train_step])` adds an operation each time: all of its 6 s, but for the operators' 0.6."""
    adds = [*FIT, ("step", "train.py", 32), ("create_op", "tensorflow_core/python/framework/ops.py", 3357)]
    runs_it = [*FIT, ("step", "train.py", 32), ("_call_tf_sessionrun", SESSION, 14)]
    stood = sampled((2, 3, EXTENDS), (3, 4, adds), (4, 8, runs_it))
    tables = quiet(**stood, **runs.window([{**KERNELS[0], "ms": 2}]))
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow1"), **tables), "retracing")

    assert finding.at_stake_ns == pytest.approx(5.4 * S, rel=0.01)


def test_a_session_that_takes_its_graph_over_once_is_no_cause(tmp_path: Path) -> None:
    """A thirtieth of the steps."""
    stood = sampled((2, 2.2, EXTENDS), (2.2, 8, FIT))

    assert "retracing" not in slugs(diagnosed(tmp_path / "r", on("tensorflow1"), **quiet(**stood)))


def made(hits: int | None, below: int | None) -> list[dict[str, Any]]:
    """Lines of a function that makes a session: it, and the one below."""
    row = {"file": "train.py", "function": "predict", "first_line": 24, "time_ns": 0, "how": "scaled"}
    source = "    with tf.compat.v1.Session(graph=graph) as sess:"
    return [
        {**row, "line": 25, "hits": hits, "source": source},
        {**row, "line": 26, "hits": below, "source": "        return sess.run(boxes, {image: tile})"},
    ]


RUNS = [*FIT, ("predict", "train.py", 26), ("run", SESSION, 9), ("_call_tf_sessionrun", SESSION, 14)]
"""A session that runs: of a new one the graph is made ready there, in C++."""


def test_sessions_that_are_made_again_and_again_are_told_as_such(tmp_path: Path) -> None:
    """As 60 of them were recorded: half of the steps stand in their runs, and next to nothing in `_extend_graph`."""
    tables = quiet(**sampled((2, 5, RUNS), (5, 8, FIT)), **runs.window(KERNELS), lines=made(230, 60))
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow1"), **tables), "retracing")

    assert (finding.heading, finding.line) == ("A session was made for each call", 25)
    assert "about 60 times" in finding.claim
    assert finding.at_stake_ns == pytest.approx(0.9 * 3 * S * 59 / 60, rel=0.01)


@pytest.mark.parametrize("below", [None, 0])
def test_where_the_line_in_a_session_was_not_counted_half_of_the_line_that_makes_it_tells(
    tmp_path: Path, below: int | None
) -> None:
    """A `with` is met where it begins and where it ends: few windows met the line below, or it is a comment."""
    tables = quiet(**sampled((2, 5, RUNS), (5, 8, FIT)), **runs.window(KERNELS), lines=made(1000, below))

    assert "about 500 times" in pick(diagnosed(tmp_path / "r", on("tensorflow1"), **tables), "retracing").claim


def test_one_session_may_run_for_long(tmp_path: Path) -> None:
    """It is what a training does."""
    tables = quiet(**sampled((2, 8, RUNS)), **runs.window(KERNELS), lines=made(2, 1))

    assert "retracing" not in slugs(diagnosed(tmp_path / "r", on("tensorflow1"), **tables))


@pytest.mark.parametrize(("calls", "told"), [(6, "at least 6 times"), (1, None)])
def test_sessions_whose_line_was_not_counted_are_known_by_their_function_s_calls(
    tmp_path: Path, calls: int, told: str | None
) -> None:
    """Counting was thinned: samples find its `return` six times, with its other line between; or once."""
    each = 6 / calls
    makes = [*FIT, ("predict", "train.py", 25), ("__init__", SESSION, 3)]
    stood = [(2 + n * each, 2 + (n + 0.1) * each, makes) for n in range(calls)]
    stood += [(2 + (n + 0.1) * each, 2 + (n + 1) * each, RUNS) for n in range(calls)]
    tables = quiet(**sampled(*stood), **runs.window(KERNELS), lines=made(None, None))
    found = diagnosed(tmp_path / "r", on("tensorflow1"), **tables)

    assert [one.slug for one in found.findings if one.slug == "retracing"] == ["retracing"] * (told is not None)
    assert told is None or told in pick(found, "retracing").claim


ADDS = [*FIT, ("step", "train.py", 32), ("assign", "tensorflow_core/python/ops/state_ops.py", 227),
        ("_create_op_internal", "tensorflow_core/python/framework/ops.py", 3426)]  # fmt: skip
READY = [*FIT, ("step", "train.py", 32), ("run", SESSION, 9), ("_call_tf_sessionrun", SESSION, 14)]
"""A session that makes ready what it runs for the first time."""


@pytest.mark.parametrize(
    ("source", "seconds"),
    [("sess.run(tf.assign(rate, value))", 5), ("rate.assign(value).eval()", 5), ("sess.run(loss_of(x))", 2)],
)
def test_a_line_that_sets_a_variable_by_what_it_adds_is_lost_as_a_whole(
    tmp_path: Path, source: str, seconds: int
) -> None:
    """2 s in taking the operations over, 0.5 in adding them, 2.5 in running them; what computes a loss would take as long otherwise."""
    stood = sampled((2, 4, EXTENDS), (4, 4.5, ADDS), (4.5, 7, READY), (7, 8, FIT))
    run = Planted(quiet(**stood, **runs.window(KERNELS)), on("tensorflow1")).run(tmp_path / "r")
    keep_source(run, "\n" * 31 + source)

    assert pick(diagnose.diagnose(run), "retracing").at_stake_ns == pytest.approx(seconds * S, rel=0.01)
