"""Waits for input in runs of foreign traces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit.analysis.findings.cases import pick
from tests.unit.foreign import Event, foreign, marked
from tests.unit.runs import MS


def batches(count: int, *, step: str | None = None) -> list[Event]:
    """Waits of 6 ms for a batch, each with an operator of 4 ms behind it, and maybe with a range around both."""
    found = []
    for at in range(0, 10 * count, 10):
        found += [marked(f"{step} {at}", at, 10)] if step else []
        found += [marked("data_load", at, 6), Event("operator", "mm", at + 6, 4, category="matmul")]
    return found


@pytest.mark.parametrize(
    ("step", "who"),
    [(None, "The program waited"), ("step", "The program waited"), ("train_step", "The training waited")],
)
def test_a_foreign_trace_waits_for_its_input_wherever_it_does(step: str | None, who: str, tmp_path: Path) -> None:
    """It need not name its steps, nor say that they train: then it is a program that waited."""
    finding = pick(diagnose.diagnose(foreign(tmp_path / "r", *batches(10, step=step))), "input-bound")

    assert (finding.at_stake_ns, round(finding.share, 2)) == (60 * MS, 0.60)
    assert finding.heading == f"{who} for its input"


def test_waits_between_the_steps_of_a_foreign_trace_are_waits_of_the_training(tmp_path: Path) -> None:
    """As with gradients that are summed over batches: steps are what is between two updates."""
    events = [*batches(8), marked("Optimizer.step#Adam.step", 38, 2), marked("Optimizer.step#Adam.step", 78, 2)]
    finding = pick(diagnose.diagnose(foreign(tmp_path / "r", *events)), "input-bound")

    assert (finding.at_stake_ns, finding.heading) == (48 * MS, "The training waited for its input")


def test_loading_a_data_set_once_is_no_wait_for_batches(tmp_path: Path) -> None:
    """A range of that name at the begin of a trace."""
    events = [marked("load_data", 0, 60), Event("operator", "mm", 60, 40, category="matmul")]
    found = diagnose.diagnose(foreign(tmp_path / "r", *events)).findings

    assert [finding.slug for finding in found if finding.slug == "input-bound"] == []


def test_shares_of_foreign_traces_are_of_what_was_traced(tmp_path: Path) -> None:
    """A profiler with a schedule is off between its cycles: 18 ms of 30, in 330 from first to last."""
    later = [replace(event, begin=event.begin + 300, window=1) for event in batches(1)]
    diagnosis = diagnose.diagnose(foreign(tmp_path / "r", *batches(2), *later))

    assert (diagnosis.whole_ns, diagnosis.whole) == (30 * MS, "the traced time")
    assert "18.0 ms, 60 % of the traced time" in pick(diagnosis, "input-bound").claim
