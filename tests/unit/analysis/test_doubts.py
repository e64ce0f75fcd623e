"""States of the machine that make a comparison doubtful."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import doubts
from dlprof.analysis.doubts import Contended, Doubt, HeldBack, LowClock, StartWaited, Stolen
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, BUSY, WAITING, cpu, quiet
from tests.unit.runs import S

CALM: dict[str, Any] = cpu((2.5, BEGIN), (7.5, BUSY), others=3.0)
CROWDED: dict[str, Any] = cpu((2.5, BEGIN), (7.5, WAITING), others=150.0)
"""Others use a core and a half, and threads wait 40 % of their runnable time."""


def run(path: Path, **tables: Any) -> Run:
    """A training of 10 s."""
    return runs.held(path, **{**runs.training(), **quiet(**tables)})


def test_other_programs_beside_the_slower_run_are_a_doubt(tmp_path: Path) -> None:
    """With the figures of both sides, whichever of them it is."""
    crowded, calm = run(tmp_path / "a", **CROWDED), run(tmp_path / "b", **CALM)
    state = Contended(150.0, 0.4, 3.0, 0.0)

    assert doubts.of_pair(crowded, calm, 4 * S, noise=False) == (Doubt(of_a=True, state=state),)
    assert doubts.of_pair(calm, crowded, -4 * S, noise=False) == (Doubt(of_a=False, state=state),)


def test_other_programs_beside_the_faster_run_explain_no_gap(tmp_path: Path) -> None:
    """Alone it would be faster still; where there is no gap, they may hide one."""
    crowded, calm = run(tmp_path / "a", **CROWDED), run(tmp_path / "b", **CALM)

    assert doubts.of_pair(crowded, calm, -4 * S, noise=False) == ()
    assert [one.of_a for one in doubts.of_pair(crowded, calm, -S // 100, noise=True)] == [True]


def test_other_programs_beside_both_runs_are_no_difference(tmp_path: Path) -> None:
    """As much."""
    assert doubts.of_pair(run(tmp_path / "a", **CROWDED), run(tmp_path / "b", **CROWDED), 4 * S, noise=False) == ()


def test_what_explains_little_of_the_gap_is_no_doubt(tmp_path: Path) -> None:
    """6 s of waiting at most beside a gap of 60 s."""
    crowded, calm = run(tmp_path / "a", **CROWDED), run(tmp_path / "b", **CALM)

    assert doubts.of_pair(crowded, calm, 60 * S, noise=False) == ()


def test_a_quota_and_a_host_that_hold_one_run_back_are_doubts(tmp_path: Path) -> None:
    """The quota took 3 s beside 9 s of CPU time; the host a tenth."""
    told = runs.manifest(process={**runs.manifest()["process"], "cpu_user_ns": 9 * S})
    rows = [{"time_ns": S, "interval_ns": S, "core": 0, "busy_pct": 90.0, "steal_pct": 10.0}]
    held = runs.held(tmp_path / "a", told, **{**runs.training(), **quiet(cores=rows, **cpu(throttled_ns=3 * S))})

    found = doubts.of_pair(held, run(tmp_path / "b"), 3 * S, noise=False)

    assert [one.state for one in found] == [HeldBack(0.25, 0.0), Stolen(0.1, 0.0)]


def test_a_lower_clock_is_a_doubt(tmp_path: Path) -> None:
    """2 GHz against 3; 2.9 are alike."""

    def at(name: str, mhz: float) -> Run:
        rows = [{"time_ns": S, "interval_ns": S, "core": 0, "busy_pct": 90.0, "freq_mhz": mhz}]
        return run(tmp_path / name, cores=rows)

    slow, fast, alike = at("a", 2000.0), at("b", 3000.0), at("c", 2900.0)

    assert [one.state for one in doubts.of_pair(slow, fast, 3 * S, noise=False)] == [LowClock(2000.0, 3000.0)]
    assert doubts.of_pair(alike, fast, 3 * S, noise=False) == ()


def starting(path: Path, waited_ns: int, pages: int) -> Run:
    """A run whose import of 2 s computes for 0.5 s, and waits so long for a core; the rest of it stands still."""
    at = {"run_ns": S // 2, "wait_ns": waited_ns, "main_run_ns": S // 2, "main_wait_ns": waited_ns}
    return run(path, **cpu((2.0, {**at, "faults_major": pages}), (7.5, {**at, "faults_major": pages})))


def test_a_start_that_waited_for_a_core_is_a_doubt(tmp_path: Path) -> None:
    """A second more; what stood still is none where both came from memory, for an engine may wait for itself."""
    found = doubts.of_pair(starting(tmp_path / "a", S, 5), starting(tmp_path / "b", 0, 5), 2 * S, noise=False)

    assert [one.state for one in found] == [StartWaited(S, 0, 5, 5)]


def test_a_start_that_stood_still_for_its_files_is_a_doubt(tmp_path: Path) -> None:
    """200 pages came from disk, of the other run 5."""
    found = doubts.of_pair(starting(tmp_path / "a", 0, 200), starting(tmp_path / "b", S, 5), 2 * S, noise=False)

    assert [one.state for one in found] == [StartWaited(0, S, 200, 5)]
