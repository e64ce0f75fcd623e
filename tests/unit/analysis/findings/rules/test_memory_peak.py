"""The rule memory-peak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.rules import memory_peak
from tests.unit.analysis.findings.cases import Planted
from tests.unit.analysis.memory_runs import MB, S, over_training, sample, stood, training
from tests.unit.runs import intervals, manifest, span, trained

SPIKE = [300 * MB] * 60 + [2000 * MB] * 4 + [300 * MB] * 36
STANDING = stood(2, 8, 30)


def planted() -> Planted:
    """For 0.2 s of 5 there is seven times as much."""
    return Planted({**training(SPIKE), **STANDING})


def claims(own: list[int], folder: Path, **tables: Any) -> list[Any]:
    """Claims on a run with this memory, sampled a hundred times over 500 steps."""
    return list(memory_peak.look(Case(over_training(own, folder / "r", **STANDING, **tables))))


def limited(folder: Path, peak: int, **tables: Any) -> list[Any]:
    """Claims on a run with a peak of so many MB in a control group of 1,000 MB, nearly all of it used, if by files."""
    machine = [{"time_ns": S, "interval_ns": S, "limit_group_bytes": 1000 * MB, "group_used_bytes": 990 * MB}]
    samples = [sample(4, peak * MB)]
    run = trained(folder / "r", process_samples=samples, machine=machine, **STANDING, **tables)
    return list(memory_peak.look(Case(run)))


def held(kind: str, size: int) -> dict[str, Any]:
    """A row of `memory_owners`."""
    return {"model": 1, "layer": "dense", "kind": kind, "bytes": size * MB, "how": "estimate", "count": 1}


def test_a_moment_far_above_the_rest_is_told_with_its_line(tmp_path: Path) -> None:
    """1.7 GB more; it takes no time from other rules."""
    (claim,) = claims(SPIKE, tmp_path)

    assert claim.sentence.before == (
        "Memory was 2.00 GB at its largest, in fit.steps at train.py:30: 1.70 GB more than 90 % of the run needed"
    )
    assert claim.next_step.startswith("Make what that line makes in parts, or in place, and let go of it (del)")
    assert (claim.line, dict(claim.takes)) == (("train.py", 30), {})


def test_memory_that_grows_with_the_steps_is_largest_at_their_end_and_has_no_peak(tmp_path: Path) -> None:
    """Faster and faster: 4.02 GB, where nine tenths of the samples have 2.64 GB at most."""
    own = [20 * MB + round(4000 * MB * (n / 99) ** 4) for n in range(100)]

    assert claims(own, tmp_path) == []


def test_a_moment_of_predict_is_answered_with_smaller_batches(tmp_path: Path) -> None:
    """Of what the script makes itself there is nothing to be deleted."""
    (claim,) = claims(SPIKE, tmp_path, phase_intervals=intervals(("import", 0, 2), ("predict", 2, 10)))

    assert claim.next_step.startswith("Predict and evaluate in smaller batches")


CLEAN = {
    "flat and large": [4000 * MB] * 100,
    "a spike of 400 MB": [300 * MB] * 60 + [700 * MB] * 4 + [300 * MB] * 36,
    "a fifth of a large run": [3000 * MB] * 60 + [3700 * MB] * 4 + [3000 * MB] * 36,
    "what stays": [300 * MB] * 60 + [2000 * MB] * 40,
}


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_run_is_silent(name: str, tmp_path: Path) -> None:
    """A large peak alone is no fault."""
    assert claims(CLEAN[name], tmp_path) == []


def test_near_a_limit_it_says_what_would_save_most(tmp_path: Path) -> None:
    """By what is held; the largest saving comes first, and small ones are not advised."""
    owners = [held("activations", 500), held("parameters", 100), held("optimizer", 200), held("input", 20)]
    (claim,) = limited(tmp_path, 900, memory_owners=owners)

    assert "; 900 MB of its control group were in use, of 1.00 GB; held for " in claim.sentence.before
    assert "activations 500 MB" in claim.sentence.before
    assert claim.next_step.startswith(
        "Half the batch (up to about 260 MB less); activations of 16 bits (mixed precision) (up to about 250 MB less)"
    )
    assert "an optimiser with half the slots (up to about 100 MB less)" in claim.next_step
    assert "data in parts" not in claim.next_step


def test_files_that_the_kernel_keeps_are_not_near_a_limit(tmp_path: Path) -> None:
    """The group uses all it may, the process half of it."""
    assert limited(tmp_path, 500) == []


def test_a_run_that_was_ended_for_want_of_memory_has_another_finding(tmp_path: Path) -> None:
    """Out-of-memory tells its peak."""
    raised = span("out_of_memory", 7, 7, name="MemoryError", file="train.py", line=12)

    assert limited(tmp_path, 950, spans=[raised]) == []


def test_without_samples_it_abstains(tmp_path: Path) -> None:
    """It does not say that memory was enough."""
    with pytest.raises(Abstain, match="memory was not sampled"):
        list(memory_peak.look(Case(trained(tmp_path / "r", manifest()))))
