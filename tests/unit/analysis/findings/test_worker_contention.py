"""Workers that have the cores of the steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Diagnosis, Finding
from tests.unit.analysis.findings.cases import cpu, diagnosed, pick
from tests.unit.analysis.findings.loading import FETCH, processes, stood, trained
from tests.unit.runs import S

IDLE = {"run_ns": 0, "wait_ns": 0, "main_run_ns": 0, "main_wait_ns": 0}
SQUEEZED = {"run_ns": 7 * S, "wait_ns": S, "main_run_ns": 4 * S, "main_wait_ns": S}
"""The program's own threads waited for a core for an eighth of their runnable time; two wait for each other."""
HEADING = "Workers had cores that the steps needed"


def _tables(*workers_s: float, others: float = 0.0, waited: dict[str, int] | None = None) -> dict[str, Any]:
    """Steps hardly wait for batches; in each pass of 2 s the workers use so much of a core (s)."""
    rows = processes(*workers_s)
    seen = stood(*[(0.9, FETCH) for _ in workers_s])
    return trained(
        [0], processes=rows, **seen, **cpu((2.0, IDLE), (8.0, waited or SQUEEZED), others=others, tree=190.0)
    )


def _found(diagnosis: Diagnosis) -> list[Finding]:
    return [one for one in diagnosis.findings if one.heading == HEADING]


def test_workers_that_keep_up_may_still_take_the_cores(tmp_path: Path) -> None:
    """No step waits for its batch; the threads, which wait for each other, had no core for 1 of 8 s of theirs."""
    (finding,) = _found(diagnosed(tmp_path / "r", **_tables(0.9, 0.9)))

    assert (finding.slug, finding.file, finding.line) == ("input-bound", "train.py", 21)
    assert finding.at_stake_ns == pytest.approx(S, rel=0.01)
    assert "used 0.9 cores" in finding.claim
    assert "12 % of their runnable time" in finding.claim


def test_threads_that_hardly_wait_for_a_core_lose_none(tmp_path: Path) -> None:
    """Workers are there to use what is free."""
    calm = {"run_ns": 9 * S, "wait_ns": S // 5, "main_run_ns": 6 * S, "main_wait_ns": 0}

    assert _found(diagnosed(tmp_path / "r", **_tables(0.9, 0.9, waited=calm))) == []


def test_threads_that_wait_for_each_other_are_none_of_the_workers_doing(tmp_path: Path) -> None:
    """Workers that hardly work beside other programs have no core of theirs."""
    assert _found(diagnosed(tmp_path / "r", **_tables(0.02, 0.02, others=100.0))) == []


def test_what_workers_take_is_not_put_down_to_other_programs(tmp_path: Path) -> None:
    """They used half as much as workers: of the second in which threads had no core they are told to have a third."""
    diagnosis = diagnosed(tmp_path / "r", **_tables(0.9, 0.9, others=45.0))

    assert pick(diagnosis, "cpu-contention").at_stake_ns == pytest.approx(S / 3, rel=0.05)
    assert _found(diagnosis)[0].at_stake_ns == pytest.approx(2 * S / 3, rel=0.05)
