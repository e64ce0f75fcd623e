"""What counting lines took belongs to the phases in which the lines ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import breakdown, counting_cost
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import MS, S

LEAVES = {Tree.SCRIPT: 100 * MS, Tree.FIT_STEPS: 5 * S, Tree.OWN: 50 * MS}
INTERVALS = runs.intervals(("script", 0, 2), ("fit.steps", 2, 7))
OWN_LOOP = [runs.span("fit", 2, 7, span_id=1, name="fit", detail='{"how": "inferred"}')]


def counted(line: int, hits: int | None, how: str = "exact") -> dict[str, Any]:
    """A counted line of the script."""
    place = {"file": "train.py", "function": "main", "first_line": 1, "line": line}
    return {**place, "hits": hits, "time_ns": 9, "pid": 42, "how": how, "samples": None if how == "exact" else 0}


def cost(ms: float, **more: Any) -> dict[str, Any]:
    """Tables of a run in which counting took so long."""
    return {"probes": [{"name": "lines", "state": "on", "tax_ns": round(ms * MS)}], **more}


def seen(*stood: tuple[int, float, float]) -> dict[str, Any]:
    """Samples of the main thread: the line that it stood in, from when to when (s)."""
    return {
        "phase_intervals": INTERVALS,
        "stacks": [
            {
                "pid": 42, "thread_id": 1, "thread": "MainThread", "start_ns": round(begin * S),
                "dur_ns": round((end - begin) * S), "stack_id": line,
            }
            for line, begin, end in stood
        ],
        "frames": [
            {"stack_id": line, "depth": 0, "function": "main", "file": "train.py", "line": line}
            for line in {line for line, _, _ in stood}
        ],
    }  # fmt: skip


def taken(path: Path, tables: dict[str, Any]) -> dict[TreePath, int]:
    """Of a run with these tables."""
    return counting_cost.by_place(runs.make(path / "r", **tables), LEAVES)


def test_a_line_that_ran_in_the_steps_takes_its_cost_from_them(tmp_path: Path) -> None:
    """The script's own phase lost it before, and was nothing then."""
    found = taken(tmp_path, cost(80, lines=[counted(7, 1000)], **seen((7, 3, 4))))

    assert found == {Tree.FIT_STEPS: 80 * MS}


def test_lines_share_the_cost_by_their_hits(tmp_path: Path) -> None:
    """However long each took."""
    found = taken(tmp_path, cost(80, lines=[counted(3, 250), counted(7, 750)], **seen((3, 0, 1.5), (7, 3, 3.1))))

    assert found == {Tree.SCRIPT: 20 * MS, Tree.FIT_STEPS: 60 * MS}


def test_a_line_that_ran_in_two_phases_is_shared_by_its_samples(tmp_path: Path) -> None:
    """A second before the steps, and three in them."""
    found = taken(tmp_path, cost(80, lines=[counted(7, 1000)], **seen((7, 1, 5))))

    assert found == {Tree.SCRIPT: 20 * MS, Tree.FIT_STEPS: 60 * MS}


def test_lines_whose_hits_are_not_known_share_it_by_their_samples(tmp_path: Path) -> None:
    """They were counted in windows; what ran once is nothing beside them."""
    lines = [counted(2, 1, "scaled"), counted(3, None, "scaled"), counted(7, None, "scaled")]

    found = taken(tmp_path, cost(80, lines=lines, **seen((2, 0, 1), (3, 1, 2), (7, 3, 6))))

    assert found == {Tree.SCRIPT: 20 * MS, Tree.FIT_STEPS: 60 * MS}


def test_lines_that_ran_where_none_are_counted_cost_nothing(tmp_path: Path) -> None:
    """They are known from samples alone."""
    lines = [counted(3, 5), counted(7, None, "sampled")]

    assert taken(tmp_path, cost(80, lines=lines, **seen((3, 0, 1), (7, 3, 6)))) == {Tree.SCRIPT: 80 * MS}


def test_without_samples_it_is_shared_by_the_time_of_the_scripts_own_phases(tmp_path: Path) -> None:
    """Its own loop is one of them."""
    found = taken(tmp_path, cost(51, steps=runs.steps(250, loop_id=1), spans=OWN_LOOP))

    assert found == {Tree.SCRIPT: 1 * MS, Tree.FIT_STEPS: 50 * MS}


def test_steps_that_keras_calls_are_no_python_of_the_scripts(tmp_path: Path) -> None:
    """Nothing that was counted is known to have run there."""
    assert taken(tmp_path, cost(51, steps=runs.steps(250), spans=[runs.fit_span()])) == {Tree.SCRIPT: 51 * MS}


def test_no_phase_becomes_nothing(tmp_path: Path) -> None:
    """What is more than nine tenths of it stays where it is."""
    assert taken(tmp_path, cost(500, steps=runs.steps(250), spans=[runs.fit_span()])) == {Tree.SCRIPT: 90 * MS}


def test_what_one_phase_has_no_room_for_is_taken_from_the_others_that_lines_ran_in(tmp_path: Path) -> None:
    """All of it was somewhere."""
    found = taken(tmp_path, cost(200, lines=[counted(3, 900), counted(7, 100)], **seen((3, 0, 1), (7, 3, 4))))

    assert found == {Tree.SCRIPT: 90 * MS, Tree.FIT_STEPS: 110 * MS}


def test_our_own_spans_are_in_the_ledgers_sum_and_in_no_phase_of_the_script(tmp_path: Path) -> None:
    """They are dlprof's time already."""
    own = [runs.span("dlprof", 0, 0.03, name="start line profiling")]

    assert taken(tmp_path, cost(51, spans=own)) == {Tree.SCRIPT: 21 * MS}


def test_a_run_whose_lines_were_not_counted_has_no_such_cost(tmp_path: Path) -> None:
    """Nothing is taken."""
    assert taken(tmp_path, {}) == {}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A training of 6 s in the script's own loop, a tenth of a second of it counting."""
    tables = cost(100, lines=[counted(7, 1000)], **seen((7, 3, 4)), spans=OWN_LOOP, steps=runs.steps(240, loop_id=1))
    return runs.trained(tmp_path / "r", phases=runs.phases(script=1, fit_steps=5), **tables)


def test_the_tree_still_sums_to_the_wall_time(run: Run) -> None:
    """What the steps lost is dlprof's, and what lies between the steps is as it was."""
    tree = breakdown.of_run(run)

    assert tree is not None
    assert (tree.leaves[Tree.SCRIPT], tree.leaves[Tree.OWN], tree.time(Tree.FIT_STEPS)) == (S, 100 * MS, 4900 * MS)
    assert sum(tree.leaves.values()) + tree.unattributed_ns == 10 * S


@pytest.mark.parametrize(("chosen", "ns"), [(["exact"], 80 * MS), (["mypackage"], 0), (None, 0)])
def test_what_counting_each_line_took_is_told_where_the_user_wanted_it(
    tmp_path: Path, chosen: list[str] | None, ns: int
) -> None:
    """Else the budget bounds it."""
    told = runs.manifest(config={"python": None, "lines": chosen})

    assert counting_cost.exact_ns(runs.held(tmp_path / "r", told, **cost(80))) == ns
