"""Engines with too few threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    KERNELS,
    Planted,
    cpu,
    diagnosed,
    longer,
    pick,
    quiet,
    slugs,
    threads,
)
from tests.unit.runs import S


def planted() -> Planted:
    """One thread of torch on two cores."""
    return Planted(quiet(spans=threads(1), **cpu((2.5, BEGIN), (7.5, BUSY))))


def test_one_thread_on_two_cores_is_named(tmp_path: Path) -> None:
    """Half of the cores stand idle, and kernels fill the steps."""
    finding = pick(planted().diagnosis(tmp_path), "threads-underused")

    assert finding.at_stake_ns == pytest.approx(0.5 * 0.8 * 4.8 * S, rel=0.01)
    assert finding.remedy is not None
    assert finding.remedy.environment["OMP_NUM_THREADS"] == "2"


def test_as_many_threads_as_cores_are_well(tmp_path: Path) -> None:
    """Nothing to gain."""
    assert slugs(diagnosed(tmp_path / "r", **quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, BUSY))))) == []


def test_kernels_too_short_to_be_shared_gain_nothing(tmp_path: Path) -> None:
    """Twenty of 0.8 ms take as long as one of 16 ms."""
    short = [{"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 0.8}] * 20
    tables = quiet(spans=threads(1), **cpu((2.5, BEGIN), (7.5, BUSY)))

    found = diagnosed(tmp_path / "r", **{**tables, **runs.window(short)})

    assert slugs(found) == []
    (why,) = [one.because for one in found.abstained if one.slug == "threads-underused"]
    assert why.startswith("only 0 % of the kernels' time is in such as take 1.00 ms or more")


def test_a_process_that_is_bound_to_one_core_is_told_to_be(tmp_path: Path) -> None:
    """More threads would have no core there, so that none are advised, or tried."""
    bound = [runs.fit_span(training={"threads": {"usable_cores": 1, "torch": 1}})]

    finding = pick(
        diagnosed(tmp_path / "r", **quiet(spans=bound, **cpu((2.5, BEGIN), (7.5, BUSY)))), "threads-underused"
    )

    assert "computes on 1 of 2 cores, because its process is bound to no more" in finding.claim
    assert "taskset" in finding.next_step
    assert finding.remedy is None


@pytest.mark.parametrize(
    "machine",
    [{"cores": 2, "usable_cores": 2, "physical_cores": 1}, {"cores": 2, "usable_cores": 2, "quota_cores": 1.0}],
)
def test_cores_that_are_none_for_a_computation_are_not_left_unused(tmp_path: Path, machine: dict[str, Any]) -> None:
    """Two that the processor has once, and one that the quota of a container takes away."""
    told = runs.manifest(machine=machine)

    assert slugs(diagnosed(tmp_path / "r", told, **quiet(spans=threads(1), **cpu((2.5, BEGIN), (7.5, BUSY))))) == []


@pytest.mark.parametrize(
    ("source", "environment", "confidence"),
    [("torch.set_num_threads(1)", {}, 0.5), ("train()", {"OMP_NUM_THREADS": "1"}, 0.5), ("train()", {}, 0.44)],
)
def test_threads_that_the_engine_chose_itself_are_less_sure(
    source: str, environment: dict[str, str], confidence: float, tmp_path: Path
) -> None:
    """A quarter of the kernels' time is in short ones; MXNet takes one thread on two cores of its own accord."""
    named = {"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward"}
    kernels = runs.window([{**named, "ms": 12}, *[{**named, "ms": 0.8}] * 5])
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 7, "hits": 1, "time_ns": 0, "source": source}
    tables = quiet(spans=threads(1), lines=[row], **cpu((2.5, BEGIN), (7.5, BUSY)))

    found = diagnosed(tmp_path / "r", runs.manifest(environment=environment), **{**tables, **kernels})
    assert pick(found, "threads-underused").confidence == confidence


def test_a_run_with_as_few_threads_is_no_slower_for_these(tmp_path: Path) -> None:
    """Both of a pair have one thread on two cores."""
    slow = longer(6, spans=threads(1), **runs.window([{**KERNELS[0], "ms": 36}], dur_ms=40))
    slow = slow.changed(lambda tables: {**tables, **cpu((2.5, BEGIN), (7.5, BUSY))})
    with_two = Planted(quiet(spans=threads(2), **cpu((2.5, BEGIN), (7.5, BUSY))))

    found = [Planted(slow.tables, slow.told, against=other) for other in (planted(), with_two)]

    assert ["threads-underused" in slugs(one.diagnosis(tmp_path / str(n))) for n, one in enumerate(found)] == [
        False,
        True,
    ]
