"""Quotas, and hosts of virtual machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, BUSY, Planted, cpu, pick, quiet, slugs, threads
from tests.unit.runs import S


def held(threads_told: int = 1, **machine: Any) -> Planted:
    """The control group was held back for 4 s, on whatever cores, and the process ran for 4 s."""
    process = {**runs.manifest()["process"], "cpu_user_ns": 3 * S, "cpu_system_ns": 1 * S}
    told = runs.manifest(process=process, machine={**runs.manifest()["machine"], **machine})
    waited = {**BUSY, "wait_ns": 6 * S}
    rows = cpu((2.5, BEGIN), (7.5, waited), throttled_ns=4 * S)
    return Planted(quiet(spans=threads(threads_told), **rows), told)


def planted() -> Planted:
    """Without more threads than the quota allows."""
    return held(quota_cores=1.0)


def test_a_quota_costs_its_share_of_the_time_in_which_threads_could_run(tmp_path: Path) -> None:
    """Half of 6 s: what the kernel counts is a sum over cores."""
    finding = pick(planted().diagnosis(tmp_path), "cpu-throttled")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert "The quota of 1 core of the process's control group held it back" in finding.claim


def test_threads_beyond_a_quota_are_told_first_and_it_has_the_rest(tmp_path: Path) -> None:
    """Two threads of one core: four tenths are theirs by measurement."""
    diagnosis = held(2, quota_cores=1.0).diagnosis(tmp_path)

    assert slugs(diagnosis)[:2] == ["threads-oversubscribed", "cpu-throttled"]
    assert pick(diagnosis, "cpu-throttled").at_stake_ns == pytest.approx(0.6 * S, rel=0.01)


def test_without_the_time_that_it_ran_nothing_is_said_of_a_quota(tmp_path: Path) -> None:
    """As of a process that was attached to."""
    told = runs.manifest()

    diagnosis = Planted(quiet(**cpu((2.5, BEGIN), (7.5, BUSY), throttled_ns=4 * S)), told).diagnosis(tmp_path)

    assert [one.because for one in diagnosis.abstained if one.slug == "cpu-throttled"] == [
        "the CPU time of the process is not known"
    ]


def test_time_that_a_host_took_is_no_quota(tmp_path: Path) -> None:
    """A twentieth of all cores; more CPU for a container would not help."""
    stolen = [{"core": core, "time_ns": 3 * S, "interval_ns": S, "steal_pct": 5.0} for core in (0, 1)]

    finding = pick(Planted(quiet(cores=stolen)).diagnosis(tmp_path), "cpu-throttled")

    assert finding.at_stake_ns == pytest.approx(0.05 * 6 * S, rel=0.01)
    assert finding.heading == "The host took the processor away"
    assert "container" not in finding.next_step
