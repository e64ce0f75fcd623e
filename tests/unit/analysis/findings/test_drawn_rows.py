"""Rows of batches that a sampler of the script's own chooses, on the thread that trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.finding import Diagnosis, Finding
from tests.unit.analysis.findings.cases import FIT, Call, Planted, pick
from tests.unit.analysis.findings.loading import COLLATE, passes, processes, stood, trained
from tests.unit.runs import MS, S

LOADER = "torch/utils/data/dataloader.py"
ASKS: list[Call] = [*FIT, ("_MultiProcessingDataLoaderIter._next_data", LOADER, 1490)]
DRAWS: list[Call] = [*ASKS, ("_BaseDataLoaderIter._next_index", LOADER, 715), ("Balanced.__iter__", "train.py", 21)]
WAITS: list[Call] = [*ASKS, ("Queue.get", "<python>/multiprocessing/queues.py", 113)]
OWN: list[Call] = [*DRAWS[:-1], ("RandomSampler.__iter__", "torch/utils/data/sampler.py", 180)]


def fed(tmp_path: Path, draws: float, text: str, calls: list[Call] = DRAWS) -> Diagnosis:
    """Each of 150 steps waits 24 ms of 40 for its batch; for a share of that the thread that trains runs its sampler.

    The workers have nothing to do for 80 % of their time.
    """
    tables = trained([24], processes=processes(0.3, 0.3), **stood((0.2, COLLATE), (0.2, COLLATE)))
    tables["loaders"] = passes(persistent=True, waited_ns=1_200 * MS)
    for number, (frames, part) in enumerate(((calls, draws), (WAITS, 1 - draws)), start=100):
        at = {"start_ns": 2 * S + 2 * MS, "dur_ns": int(part * 1900) * MS}
        tables["stacks"].append({"pid": 42, "thread_id": 1, "thread": "MainThread", "stack_id": number, **at})
        tables["frames"] += [
            {"stack_id": number, "depth": n, "function": f, "file": p, "line": ln}
            for n, (f, p, ln) in enumerate(frames)
        ]
    return Planted(tables, source="\n" * 20 + text).diagnosis(tmp_path)


def of_sampler(found: Diagnosis) -> list[Finding]:
    return [one for one in found.findings if "runs the sampler" in one.claim]


def test_a_sampler_that_draws_row_by_row_is_named_with_its_line(tmp_path: Path) -> None:
    """It has 90 % of the waits, 3.6 s; the workers' part of the rest is no first cause."""
    finding = pick(fed(tmp_path, 0.9, "yield np.random.choice(n, p=p)\n"), "input-bound")

    assert "for 90 % of that its own thread runs the sampler" in finding.claim
    assert finding.at_stake_ns == pytest.approx(3_240 * MS, rel=0.01)
    assert finding.line == 21
    assert "goes through the probabilities of all of them" in finding.next_step
    assert finding.fix is not None
    assert "WeightedRandomSampler" in finding.fix


def test_a_sampler_without_weights_is_told_to_choose_an_epoch_at_once(tmp_path: Path) -> None:
    """Nothing says that it draws by probabilities."""
    (finding,) = of_sampler(fed(tmp_path, 0.9, "yield self.next_row()\n"))

    assert "Draw all rows of an epoch at once" in finding.next_step
    assert "probabilities" not in finding.next_step


def test_a_sampler_of_a_tenth_of_the_waits_is_no_cause(tmp_path: Path) -> None:
    """Giving rows of a list takes its time, too."""
    assert of_sampler(fed(tmp_path, 0.1, "yield np.random.choice(n, p=p)\n")) == []


def test_samplers_of_pytorch_are_no_code_of_the_script(tmp_path: Path) -> None:
    """Nobody can change them."""
    assert of_sampler(fed(tmp_path, 0.9, "yield np.random.choice(n, p=p)\n", OWN)) == []
