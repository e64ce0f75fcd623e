"""Cores, other programs and counters while a run trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlprof.analysis import training
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.machine_load import MachineLoad, Scheduling
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, WAITING, cpu, threads
from tests.unit.runs import S


def load(path: Path, told: dict[str, Any] | None = None, **tables: Any) -> MachineLoad:
    """That of a run that trained from 2 s to 8 s."""
    run = runs.trained(path / "r", told, **tables)
    return MachineLoad(run, (2 * S, 8 * S), training.of_run(run))


def test_waiting_is_a_share_of_the_time_in_which_threads_could_run(tmp_path: Path) -> None:
    """6 s of 15; other programs use half a core, the process two."""
    seen = load(tmp_path, **cpu((2.5, BEGIN), (7.5, WAITING), others=50.0, tree=200.0)).scheduling

    assert seen == Scheduling(9 * S, 6 * S, 50.0, 200.0)
    assert seen.waiting == 0.4


def test_threads_that_never_could_run_did_not_wait() -> None:
    """No division by nothing."""
    assert Scheduling(0, 0, 0.0, 0.0).waiting == 0.0


def test_two_samples_of_the_scheduling_are_the_least(tmp_path: Path) -> None:
    """One counter tells no growth."""
    with pytest.raises(Abstain, match="the scheduling of threads was sampled less than twice during the training"):
        _ = load(tmp_path, **cpu((2.5, BEGIN))).scheduling


def test_a_counter_grows_over_the_run(tmp_path: Path) -> None:
    """From nothing to 3 s; one that the machine does not tell is not 0."""
    machine = load(tmp_path, **cpu((2.5, BEGIN), (7.5, WAITING), throttled_ns=3 * S))

    assert (machine.counter_growth("throttled_ns"), machine.counter_growth("stall_io_ns")) == (3 * S, None)


def test_samples_long_before_the_training_do_not_count(tmp_path: Path) -> None:
    """Nor those of other processes."""
    rows = cpu((0.1, BEGIN), (1.0, BEGIN), (9.0, WAITING))["process_samples"]
    rows.append({**rows[-1], "pid": 43})

    samples = load(tmp_path, process_samples=rows).process_samples("run_ns")

    assert samples["time_ns"].to_pylist() == [S, 9 * S]


def test_what_the_process_used_is_weighted_by_time(tmp_path: Path) -> None:
    """Samples of a second each, of 100 % to 3 s and 0 % to 4 s; asked for from 2 s to 3.5 s."""
    rows = [{"time_ns": n * S, "interval_ns": S, "cpu_pct": 100.0 if n == 3 else 0.0, "rss_bytes": S} for n in (3, 4)]
    machine = load(tmp_path, process_samples=rows)

    assert machine.busy_pct((2 * S, 7 * S // 2)) == pytest.approx(100 / 1.5)
    assert machine.busy_pct((8 * S, 9 * S)) is None


def test_several_short_stretches_are_told_together(tmp_path: Path) -> None:
    """Half a second of three samples each, at 50 % of a core, of which others have 100 %: nothing was used in it."""
    used = [100.0, 50.0, 100.0, 50.0, 100.0, 50.0, 100.0]
    rows = [{"time_ns": n * S, "interval_ns": S, "cpu_pct": pct, "rss_bytes": S} for n, pct in enumerate(used, 1)]
    machine = load(tmp_path, process_samples=rows)

    assert machine.busy_pct_together([(n * S, n * S + S // 2) for n in (1, 3, 5)]) == 0
    assert machine.busy_pct_together([(20 * S, 21 * S)]) is None


@pytest.mark.parametrize(("usable", "expected"), [(1, 1), (None, 3), (0, 3)])
def test_the_cores_are_those_that_the_process_may_use(tmp_path: Path, usable: int | None, expected: int) -> None:
    """As the process saw them; else as dlprof did beside it."""
    told = runs.manifest(machine={**runs.manifest()["machine"], "cores": 4, "usable_cores": 3})
    spans = [runs.fit_span(training={"threads": {"usable_cores": usable, "torch": 1}})]
    machine = load(tmp_path, told, spans=spans)

    assert (machine.usable_cores, machine.cores) == (expected, 4)


def test_without_a_manifest_of_the_machine_there_is_one_core(tmp_path: Path) -> None:
    """Or as many as the process may use."""
    told = runs.manifest(machine={})

    assert load(tmp_path, told, spans=[]).cores == 1
    assert load(tmp_path / "x", told, spans=threads(1)).cores == 2


@pytest.mark.parametrize(
    ("machine", "usable", "computing"),
    [
        ({"cores": 2, "usable_cores": 2}, 2, 2),
        ({"cores": 8, "usable_cores": 8, "physical_cores": 4}, 2, 4),
        ({"cores": 64, "usable_cores": 64, "physical_cores": 32, "quota_cores": 1.0}, 1, 1),
    ],
)
def test_cores_for_one_computation_are_real_ones_within_the_quota(
    tmp_path: Path, machine: dict[str, Any], usable: int, computing: int
) -> None:
    """What the training was told of its affinity, 2, holds for the process."""
    seen = load(tmp_path, runs.manifest(machine=machine), spans=threads(2))

    assert (seen.usable_cores, seen.computing_cores) == (usable, computing)


@pytest.mark.parametrize(("quota", "free"), [(None, 4.5), (2.0, 0.5)])
def test_what_is_beyond_the_quota_is_not_free(tmp_path: Path, quota: float | None, free: float) -> None:
    """Of 8 cores the process uses 1.5, and others 2."""
    machine = {"cores": 8, "usable_cores": 8, "quota_cores": quota}
    rows = cpu((2.5, BEGIN), (7.5, WAITING), others=200.0, tree=150.0)

    assert load(tmp_path, runs.manifest(machine=machine), **rows).free_cores(8) == free


def children(path: Path, *samples: tuple[int, float], cpu_s: float | None) -> float:
    """Cores that a process used between 2 s and 6 s, which lived in that time and has samples of a second each."""
    rows = [{"pid": 43, "time_ns": at * S, "interval_ns": S, "cpu_pct": pct, "rss_bytes": 1} for at, pct in samples]
    used = None if cpu_s is None else int(cpu_s * S)
    life = {"pid": 43, "role": "worker", "parent_pid": 42, "start_ns": 2 * S, "end_ns": 6 * S, "cpu_ns": used}
    machine = load(path, process_samples=rows, processes=[life])
    return machine.children_cores(np.array([2 * S]), np.array([6 * S]))


def test_what_children_used_before_and_between_samples_is_counted(tmp_path: Path) -> None:
    """One that was sampled once has no difference of two samples; of another its samples have a half."""
    assert children(tmp_path / "a", cpu_s=2) == pytest.approx(0.5)
    assert children(tmp_path / "b", (4, 100.0), cpu_s=2) == pytest.approx(0.5)
    assert children(tmp_path / "c", (4, 100.0), cpu_s=None) == pytest.approx(0.25)
