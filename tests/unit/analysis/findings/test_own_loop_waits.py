"""Waits in the steps of the script's own loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.analysis.findings.cases import BEGIN, Call, cpu, diagnosed, pick, slugs
from tests.unit.analysis.findings.test_own_loop_python import OWN, looping
from tests.unit.runs import S

_PROCESS: list[Call] = [
    ("check_output", "<python>/subprocess.py", 466),
    ("communicate", "<python>/subprocess.py", 1207),
]


def ran(seconds: float) -> dict[str, int]:
    """Counters of a process whose only working thread had a core for so long."""
    return {**BEGIN, "run_ns": int(seconds * S), "main_run_ns": int(seconds * S)}


def test_a_process_that_each_step_waits_for_is_named_with_its_line(tmp_path: Path) -> None:
    """The thread stands for half of 6 s of steps, below line 40; silence before."""
    tables = looping(*_PROCESS) | cpu((2, BEGIN), (8, ran(3)), tree=50.0)
    finding = pick(diagnosed(tmp_path / "r", OWN, **tables), "script-waits")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 40
    assert "stands still for 50 % of its steps, waiting for a process" in finding.claim
    assert finding.next_step.startswith("Start no process in the loop")


def test_a_loop_whose_thread_works_does_not_wait(tmp_path: Path) -> None:
    """The same stacks, but the thread had a core all the time."""
    tables = looping(*_PROCESS) | cpu((2, BEGIN), (8, ran(6)))

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))


def test_a_loop_that_waits_for_the_engine_is_not_the_script_s(tmp_path: Path) -> None:
    """The thread stands, but in a function of the engine."""
    tables = looping(("asnumpy", "mxnet/ndarray/ndarray.py", 9)) | cpu((2, BEGIN), (8, ran(3)), tree=50.0)

    assert "script-waits" not in slugs(diagnosed(tmp_path / "r", OWN, **tables))
