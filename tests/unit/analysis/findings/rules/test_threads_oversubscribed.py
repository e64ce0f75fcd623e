"""Engines with too many threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, WAITING, Planted, cpu, diagnosed, on, pick, quiet, slugs, threads
from tests.unit.runs import S


def planted() -> Planted:
    """16 threads on two cores, which wait for one 40 % of their runnable time."""
    return Planted(quiet(spans=threads(16), **cpu((2.5, BEGIN), (7.5, WAITING), tree=200.0)))


def test_more_threads_than_cores_are_named(tmp_path: Path) -> None:
    """They wait for each other 40 % of their runnable time."""
    finding = pick(planted().diagnosis(tmp_path), "threads-oversubscribed")

    assert "16 computing threads share 2 cores" in finding.claim


def test_threads_that_ended_did_wait(tmp_path: Path) -> None:
    """What a process has waited is a sum over its living threads; at the end of the training nearly all are gone."""
    rows = cpu((2.5, BEGIN), (7.5, WAITING), (8.0, BEGIN), tree=200.0)

    assert "threads-oversubscribed" in slugs(diagnosed(tmp_path / "r", **quiet(spans=threads(16), **rows)))


def test_threads_beyond_the_quota_of_a_container_are_named(tmp_path: Path) -> None:
    """Eight threads on eight cores, of which the container may use two at a time."""
    process = {**runs.manifest()["process"], "cpu_user_ns": 8 * S, "cpu_system_ns": 0}
    told = runs.manifest(machine={"cores": 8, "usable_cores": 8, "quota_cores": 2.0}, process=process)
    spans = [runs.fit_span(training={"threads": {"usable_cores": 8, "torch": 8}})]

    finding = pick(
        diagnosed(
            tmp_path / "r",
            told,
            **quiet(spans=spans, **cpu((2.5, BEGIN), (7.5, WAITING), tree=200.0, throttled_ns=24 * S)),
        ),
        "threads-oversubscribed",
    )

    assert finding.at_stake_ns == pytest.approx(0.4 * 6 * S, rel=0.01)
    assert "8 computing threads share 2 cores of 8, all that their control group may use" in finding.claim
    assert finding.remedy is not None
    assert finding.remedy.environment["OMP_NUM_THREADS"] == "2"


@pytest.mark.parametrize(("throttled_s", "backend"), [(0, "torch"), (24, "tensorflow")])
def test_a_quota_that_held_nothing_back_or_threads_that_sleep_cost_nothing_by_their_number(
    tmp_path: Path, throttled_s: int, backend: str
) -> None:
    """Threads of TensorFlow wait without computing: the quota would hold fewer of them back as long."""
    process = {**runs.manifest()["process"], "cpu_user_ns": 8 * S, "cpu_system_ns": 0}
    told = {**on(backend), "machine": {"cores": 8, "usable_cores": 8, "quota_cores": 2.0}, "process": process}
    spans = [runs.fit_span(training={"threads": {"usable_cores": 8, "torch": 8}})]
    rows = cpu((2.5, BEGIN), (7.5, WAITING), tree=200.0, throttled_ns=throttled_s * S)

    assert "threads-oversubscribed" not in slugs(diagnosed(tmp_path / "r", told, **quiet(spans=spans, **rows)))
