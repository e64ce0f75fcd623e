"""Other programs on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    WAITING,
    Planted,
    Tables,
    cpu,
    diagnosed,
    lasting,
    longer,
    on,
    parts,
    pick,
    quiet,
    slugs,
    threads,
)
from tests.unit.runs import S


def planted() -> Planted:
    """They use a core and a half, and our threads wait 40 % of their runnable time."""
    return Planted(quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, WAITING), others=150.0)))


def test_other_programs_are_named(tmp_path: Path) -> None:
    """They use a core and a half, and our threads wait 40 % of their runnable time."""
    tables = quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, WAITING), others=150.0))
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow"), **tables), "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(0.85 * 0.4 * 6 * S, rel=0.01)


def test_to_a_rank_others_may_be_ranks(tmp_path: Path) -> None:
    """Nobody is to stop these."""
    tables = quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, WAITING), others=150.0))
    told = on("tensorflow") | {"rank": {"rank": 1, "world": 2, "by": "torchrun"}}
    finding = pick(diagnosed(tmp_path / "r", told, **tables), "cpu-contention")

    assert finding.claim.startswith("Other processes, maybe ranks of this training, used 150 % of a core")
    assert (finding.heading, "Stop" in finding.next_step) == ("Other processes took the cores", False)


def test_threads_in_step_lose_what_the_slowest_of_them_waits(tmp_path: Path) -> None:
    """PyTorch's two threads wait for each other at the end of each operation."""
    finding = pick(planted().diagnosis(tmp_path), "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(2 * 0.85 * 0.4 * 6 * S, rel=0.01)


def test_threads_in_step_are_to_be_no_more_than_others_leave_cores(tmp_path: Path) -> None:
    """One and a half of two cores are taken; it is tried with one thread."""
    finding = pick(planted().diagnosis(tmp_path), "cpu-contention")

    assert finding.next_step.startswith("Use no more threads than the others leave cores (OMP_NUM_THREADS=1)")
    assert finding.remedy is not None
    assert finding.remedy.overrides == {"threads": 1}


def test_threads_that_do_not_wait_for_each_other_may_stay(tmp_path: Path) -> None:
    """TensorFlow's take the operators as they are free."""
    tables = quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, WAITING), others=150.0))
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow"), **tables), "cpu-contention")

    assert (finding.remedy, "OMP_NUM_THREADS" in finding.next_step) == (None, False)


def test_no_more_is_lost_than_all_threads_waited(tmp_path: Path) -> None:
    """A process that hardly runs: 0.1 s on a core, and 0.4 s without one, of 6 s."""
    rarely = {"run_ns": S // 10, "wait_ns": 4 * S // 10, "main_run_ns": 0, "main_wait_ns": 0}
    tables = quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, rarely), others=150.0))
    finding = pick(diagnosed(tmp_path / "r", on("tensorflow"), **tables), "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(0.4 * S, rel=0.01)


def test_of_a_pair_it_is_all_that_was_waited_more(tmp_path: Path) -> None:
    """Threads of an engine that wait 40 % of 10 s: 4 s, all that the steps take longer; not 40 % of that."""
    slow = longer(4, spans=threads(2), **cpu((2.5, BEGIN), (11.5, WAITING), others=150.0))
    told = {**on("tensorflow"), "process": slow.told["process"]} if slow.told else None
    quick = Planted(quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, BUSY))), on("tensorflow"))
    finding = pick(Planted(slow.tables, told, against=quick).diagnosis(tmp_path), "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(4 * S, rel=0.02)


def test_of_a_pair_what_the_start_waited_for_a_core_is_told_with_it(tmp_path: Path) -> None:
    """An import of 4 s, of which it waited 2; that of the other took 2 s."""

    def importing(seconds: float, waited: float, others: float) -> Tables:
        before = {name: int(time * S) for name, time in (("run_ns", 2), ("wait_ns", waited))}
        before |= {f"main_{name}": value for name, value in before.items()}
        after = {name: value + WAITING[name] * (others > 0) for name, value in before.items()}
        spans = ("import", 0, seconds), ("fit.steps", seconds, seconds + 6)
        return quiet(
            spans=[*threads(2), runs.span("import", 0, seconds, name="torch", span_id=3)],
            phases=parts(import_=seconds, fit_steps=6, teardown=2),
            phase_intervals=runs.intervals(*spans),
            **cpu((seconds, before), (8, after), others=others),
        )

    slow, quick = Planted(importing(4, 2, 150.0), lasting(12)), Planted(importing(2, 0, 0.0))
    diagnosis = Planted(slow.tables, slow.told, against=quick).diagnosis(tmp_path)
    finding = pick(diagnosis, "cpu-contention")

    assert finding.at_stake_ns == pytest.approx(2 * S, rel=0.02)
    assert "its main thread 2.00 s more than b's while the process started and ended" in finding.claim
    assert "import-heavy" not in slugs(diagnosis)
