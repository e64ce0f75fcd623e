"""Collections of garbage in the user's work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, KERNELS, Planted, diagnosed, parts, pick, quiet, sampled, slugs
from tests.unit.runs import MS, S


def planted() -> Planted:
    """Ten collections of 80 ms in callbacks."""
    gc = [{"start_ns": 7 * S + n * 100 * MS, "dur_ns": 80 * MS, "generation": 2, "collected": 5} for n in range(10)]
    calls = [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("on_batch_end", "train.py", 33)]
    return Planted({"gc": gc, **sampled((7, 8, calls)), **runs.window(KERNELS)})


def test_collections_in_callbacks_are_not_slow_callbacks(tmp_path: Path) -> None:
    """0.8 s of the callbacks' second are the collector's."""
    diagnosis = planted().diagnosis(tmp_path)

    assert pick(diagnosis, "gc-pressure").at_stake_ns == 800 * MS
    assert pick(diagnosis, "slow-callback").at_stake_ns == 200 * MS


def test_collections_of_imports_are_nobodys_fault(tmp_path: Path) -> None:
    """Every framework has them."""
    gc = [{"start_ns": S, "dur_ns": 800 * MS, "generation": 2, "collected": 5}]

    assert slugs(diagnosed(tmp_path / "r", **quiet(gc=gc))) == []


def test_what_an_import_left_behind_is_gone_through_once_for_it(tmp_path: Path) -> None:
    """As `import tensorflow` was recorded: right behind its 5 s one full collection takes half a second, and finds
    nothing; a second one is the script's.
    """
    one = {"start_ns": 6_100 * MS, "dur_ns": 470 * MS, "generation": 2, "collected": 0}
    phases = runs.intervals(("import", 0, 6), ("script", 6, 7), ("fit.steps", 7, 8), ("teardown", 8, 10))
    tables = quiet(phases=parts(import_=6, script=1, fit_steps=1, teardown=2), phase_intervals=phases)

    found = diagnosed(tmp_path / "a", **{**tables, "gc": [one]})
    again = diagnosed(tmp_path / "b", **{**tables, "gc": [one, {**one, "start_ns": 6_600 * MS, "dur_ns": 300 * MS}]})

    assert "gc-pressure" not in slugs(found)
    assert pick(again, "gc-pressure").at_stake_ns == pytest.approx(300 * MS, rel=0.01)


def test_a_line_that_asks_for_collections_again_and_again_is_named(tmp_path: Path) -> None:
    """Ten of 80 ms below `gc.collect()`."""
    gc = [{"start_ns": 7 * S + n * 100 * MS, "dur_ns": 80 * MS, "generation": 2, "collected": 5} for n in range(10)]
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 33, "hits": 10, "time_ns": 800 * MS}
    lines = [{**row, "how": "exact", "source": "    gc.collect()"}]
    tables = quiet(gc=gc, lines=lines, **sampled((7, 8, [*FIT, ("learn", "train.py", 33)])))
    finding = pick(diagnosed(tmp_path / "r", **tables), "gc-pressure")

    assert (finding.line, finding.ground) == (33, "stated")
    assert "because a line asks for it again and again" in finding.claim


def test_of_a_main_thread_that_waits_for_others_no_line_made_the_objects(tmp_path: Path) -> None:
    """What ran on these may have."""
    gc = [{"start_ns": 3 * S + n * 100 * MS, "dur_ns": 80 * MS, "generation": 2, "collected": 5} for n in range(10)]
    stacks = sampled((2, 8, [("<module>", "train.py", 20), ("Thread.join", "<python>/threading.py", 1119)]))
    phases = runs.intervals(("import", 0, 2), ("script", 2, 8), ("teardown", 8, 10))
    tables = quiet(gc=gc, phases=parts(import_=2, script=6, teardown=2), phase_intervals=phases, **stacks)

    assert pick(diagnosed(tmp_path / "r", **tables), "gc-pressure").line is None
