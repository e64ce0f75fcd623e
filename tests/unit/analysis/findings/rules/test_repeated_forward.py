"""Several runs of a session in each step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Call, Planted, Tables, diagnosed, pick, quiet, sampled, slugs
from tests.unit.runs import S

TOLD = runs.manifest(keras=None, engine={"name": "tensorflow1", "version": "1.15"})


def at(line: int) -> list[Call]:
    """A stack in which a line runs the session."""
    return [("<module>", "train.py", line), ("_call_tf_sessionrun", "tensorflow_core/python/client/session.py", 9)]


def row(line: int, hits: int) -> dict[str, Any]:
    """A row of `lines`."""
    return {"file": "train.py", "function": "f", "first_line": 1, "line": line, "hits": hits, "time_ns": 0}


def running(*hits: int) -> Tables:
    """300 steps of 6 s, half below line 20 and a quarter below each of 21 and 22, which ran so often."""
    stood = sampled((2, 5, at(20)), (5, 6.5, at(21)), (6.5, 8, at(22)))
    return quiet(**stood, lines=[row(20 + n, each) for n, each in enumerate(hits)])


def planted() -> Planted:
    """The update, and two runs beside it."""
    return Planted(running(300, 300, 300), TOLD)


def test_runs_beside_the_longest_are_at_stake_and_their_lines_are_told(tmp_path: Path) -> None:
    """Half of the 6 s."""
    finding = pick(planted().diagnosis(tmp_path), "repeated-forward")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert "The session runs 3 times in each step" in finding.claim
    assert "at lines 21, 22" in finding.claim


def test_a_line_that_was_timed_each_time_has_that_time(tmp_path: Path) -> None:
    """1.2 s, and 1.5 s of the other by the samples."""
    tables = running(300, 300, 300)
    tables["lines"][1] |= {"how": "exact", "time_ns": 1_200_000_000}
    finding = pick(diagnosed(tmp_path / "r", TOLD, **tables), "repeated-forward")

    assert finding.at_stake_ns == pytest.approx(2.7 * S, rel=0.01)


def test_hits_of_windows_do_not_tell_that_a_line_runs_in_each_step(tmp_path: Path) -> None:
    """They may be four times off."""
    tables = running(300, 300, 300)
    tables["lines"] = [{**one, "how": "scaled"} for one in tables["lines"]]

    assert "repeated-forward" not in slugs(diagnosed(tmp_path / "r", TOLD, **tables))


@pytest.mark.parametrize("hits", [(300, 30, 10), (300, 900, 0)])
def test_runs_that_are_not_of_each_step_are_none(hits: tuple[int, ...], tmp_path: Path) -> None:
    """A look at the accuracy now and then; many small runs for what is no training."""
    assert "repeated-forward" not in slugs(diagnosed(tmp_path / "r", TOLD, **running(*hits)))
