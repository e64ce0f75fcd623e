"""Batches that take long to come over from the workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Diagnosis
from tests.unit.analysis.findings.cases import BEGIN, FIT, WAITING, Call, Planted, Tables, cpu, pick, slugs
from tests.unit.analysis.findings.loading import FETCH, passes, processes, stood, trained
from tests.unit.runs import MS, S

ASKS: list[Call] = [*FIT, ("_MultiProcessingDataLoaderIter._next_data", "torch/utils/data/dataloader.py", 1490)]
RECEIVES: list[Call] = [*ASKS, ("rebuild_storage_fd", "torch/multiprocessing/reductions.py", 538)]
WAITS: list[Call] = [*ASKS, ("Queue.get", "<python>/multiprocessing/queues.py", 113)]


def fed(tmp_path: Path, *, receives: float, busy: float, **changes: Any) -> Diagnosis:
    """Each of 150 steps waits 24 ms of 40 for its batch; the training receives for a share of that."""
    return Planted(_tables(receives, busy, **changes)).diagnosis(tmp_path)


def _tables(receives: float, busy: float, **changes: Any) -> Tables:
    tables = trained([24], processes=processes(0.3, 0.3), **stood((busy, FETCH), (busy, FETCH)))
    told = {"persistent": True, "workers": 2, "waited_ns": 1_200 * MS, **changes}
    tables["loaders"] = passes(**told)
    for number, (calls, part) in enumerate(((RECEIVES, receives), (WAITS, 1 - receives)), start=100):
        at = {"start_ns": 2 * S + 2 * MS, "dur_ns": int(part * 1900) * MS}
        tables["stacks"].append({"pid": 42, "thread_id": 1, "thread": "MainThread", "stack_id": number, **at})
        rows = enumerate(calls)
        tables["frames"] += [
            {"stack_id": number, "depth": n, "function": f, "file": p, "line": ln} for n, (f, p, ln) in rows
        ]
    return tables


def test_a_training_that_receives_is_told_to_have_batches_in_few_pieces(tmp_path: Path) -> None:
    """It waits for 3.6 s, and receives for all of that: 85 % can be saved. That workers are busy is no second cause."""
    found = fed(tmp_path, receives=1.0, busy=0.2)

    finding = pick(found, "input-bound")
    assert slugs(found).count("input-bound") == 1
    assert finding.at_stake_ns == pytest.approx(3_060 * MS, rel=0.01)
    assert finding.line == 5
    assert "24.0 ms for a batch, while these have no work for 80 % of theirs" in finding.claim
    assert "Have collate_fn join what belongs together" in finding.next_step


def test_only_the_part_of_the_waits_in_which_it_receives_is_at_stake(tmp_path: Path) -> None:
    """Half of 3.6 s, of which 85 % can be saved; the other half it waits."""
    found = fed(tmp_path, receives=0.5, busy=0.2)

    finding = next(one for one in found.findings if "collate_fn" in one.next_step)
    assert finding.at_stake_ns == pytest.approx(1_530 * MS, rel=0.02)


def test_receiving_now_and_then_is_no_cause(tmp_path: Path) -> None:
    """A fifth of the waits: a batch in one piece takes its time, too."""
    found = fed(tmp_path, receives=0.2, busy=1.0)

    assert not [one for one in found.findings if "collate_fn" in one.next_step]


def test_a_few_milliseconds_for_a_batch_are_what_workers_cost(tmp_path: Path) -> None:
    """Four for each, and the training receives for all of that."""
    found = fed(tmp_path, receives=1.0, busy=0.2, waited_ns=200 * MS)

    assert not [one for one in found.findings if "collate_fn" in one.next_step]


def test_what_other_programs_made_of_a_few_milliseconds_is_theirs(tmp_path: Path) -> None:
    """24 ms for each, while the threads had a core for 14 % of the time in which they could run."""
    tables = _tables(1.0, 0.2)
    crowded = cpu((2, BEGIN), (8, {**WAITING, "run_ns": S, "wait_ns": 6 * S}), others=180.0)
    tables["machine"] = crowded["machine"]
    tables["process_samples"] += crowded["process_samples"]

    found = Planted(tables).diagnosis(tmp_path)

    assert not [one for one in found.findings if "Have collate_fn" in one.next_step]


def test_loaders_of_keras_are_not_told_of_a_collate_fn(tmp_path: Path) -> None:
    """Their workers pickle whole batches."""
    found = fed(tmp_path, receives=1.0, busy=0.2, kind="PyDataset")

    assert "as a few whole arrays" in pick(found, "input-bound").next_step


def test_batches_that_were_there_when_they_were_asked_for_are_a_question(tmp_path: Path) -> None:
    """Claimed before, with the advice to prepare them beside the training, which their workers do."""
    finding = pick(fed(tmp_path, receives=1.0, busy=0.2, waited_ns=200 * MS), "input-bound")

    assert finding.confidence < 0.5
    assert finding.fix == "num_workers=0, where items are cheap to make"
