"""What ranks lose to each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.analysis.findings import of_ranks
from dlprof.analysis.findings.finding import Diagnosis
from tests.unit import ranked_runs
from tests.unit.runs import MS, S

WALL: dict[str, Any] = {"told": {"process": {"pid": 42, "exit_code": 0, "signal": None, "wall_ns": S}}}


def look(folder: Path, own_ms: dict[int, float], **changes: Any) -> Diagnosis:
    """The findings of ranks of 40 steps in a second."""
    given: dict[str, Any] = {f"rank_{rank}": {**WALL, **changes.get(f"rank_{rank}", {})} for rank in own_ms}
    found = ranked_runs.make(folder, own_ms, **given)
    return of_ranks.look(found, ranks.of_run(found))


def test_a_slow_rank_is_named_with_what_it_costs(tmp_path: Path) -> None:
    """7 ms in each of 40 steps, of a second; the line is that of its training."""
    fit = {"spans": [{"thread_id": 1, "span_id": 1, "kind": "fit", "name": "fit", "start_ns": 0, "dur_ns": S,
                      "ended": True, "file": "train.py", "line": 7}]}  # fmt: skip
    diagnosis = look(tmp_path, {0: 5, 1: 12}, rank_1=fit)
    first = diagnosis.findings[0]
    assert (first.slug, first.at_stake_ns, first.share, first.file, first.line) == (
        "straggler", 280 * MS, 0.28, "train.py", 7,
    )  # fmt: skip
    assert first.claim == (
        "Rank 1 takes 7.00 ms of its own a step longer than the others, and comes last to 100 % of the collectives: "
        "280 ms, 28 % of the wall time, if it were as fast as they."
    )
    assert first.evidence[0].rows[0]["rank"] in (0, 1)


def test_input_of_one_rank_alone_is_its_loaders_line(tmp_path: Path) -> None:
    """Where its own diagnosis blames none."""
    slow = ranked_runs.steps(1)
    for one in slow:
        one.update(start_ns=one["start_ns"] + 6 * MS, dur_ns=14 * MS, input_ns=6 * MS)
    loader = {"loader": 1, "kind": "DataLoader", "file": "data.py", "line": 40, "item_count": 40, "start_ns": 0,
              "open_ns": 0, "dur_ns": S, "batch_size": 32}  # fmt: skip
    diagnosis = look(tmp_path, {0: 5, 1: 12}, rank_1={"steps": slow, "loaders": [loader]})
    first = diagnosis.findings[0]
    assert (first.slug, first.file, first.line) == ("unbalanced-input", "data.py", 40)
    assert "(6.00 ms of it waiting for its input)" in first.claim


def test_larger_batches_of_one_rank_are_the_cause(tmp_path: Path) -> None:
    """As its loader tells them."""
    loaders = {
        f"rank_{rank}": {
            "loaders": [
                {"loader": 1, "kind": "DataLoader", "file": "train.py", "line": 40 + rank, "item_count": 40,
                 "start_ns": 0, "open_ns": 0, "dur_ns": S, "batch_size": 32 * (1 + rank)}
            ]
        }
        for rank in (0, 1)
    }  # fmt: skip
    first = look(tmp_path, {0: 5, 1: 12}, **loaders).findings[0]
    assert (first.slug, first.file, first.line) == ("uneven-batches", "train.py", 41)
    assert "(its batches have 64 rows, the others' 32)" in first.claim


def test_larger_batches_are_told_by_what_was_compiled_where_no_loader_tells(tmp_path: Path) -> None:
    """As in JAX, whose batches are arrays."""
    spans = {
        f"rank_{rank}": {
            "spans": [
                {"thread_id": 1, "span_id": 1, "kind": "graph_compile", "name": "gradient", "start_ns": 0, "dur_ns": MS,
                 "ended": True, "file": "train.py", "line": 9,
                 "detail": '{"compiled": {"function": "gradient", "arguments": {"x": "float32[%d,8]"}}}' % (32 * rank + 32)}
            ]
        }
        for rank in (0, 1)
    }  # fmt: skip
    first = look(tmp_path, {0: 5, 1: 12}, **spans).findings[0]
    assert (first.slug, first.file, first.line) == ("uneven-batches", "train.py", 9)
    assert "(gradient() is compiled for x of 64 rows there, of 32 in the others)" in first.claim
    assert [row["rank"] for row in first.evidence[0].rows] == [0, 1]


def of_loops(*told: dict[str, object]) -> dict[str, object]:
    """Own loops of ranks, and what their first steps told."""
    return {
        f"rank_{rank}": {
            "spans": [
                {"thread_id": 1, "span_id": 1, "kind": "fit", "name": "fit", "start_ns": 0, "dur_ns": S, "ended": True,
                 "file": "train.py", "line": 82, "detail": json.dumps(one)}
            ]
        }
        for rank, one in enumerate(told)
    }  # fmt: skip


def rows_of(length: float) -> dict[str, object]:
    """Batches of rows so long."""
    return {"padding": {"batches": 8, "length": length, "in_all": 0.0, "of_rows": 0.1}}


def test_longer_rows_of_one_rank_are_the_cause(tmp_path: Path) -> None:
    """As where each rank takes a block of data that are sorted by length."""
    first = look(tmp_path, {0: 5, 1: 12}, **of_loops(rows_of(47.4), rows_of(249.5))).findings[0]
    assert (first.slug, first.file, first.line) == ("uneven-batches", "train.py", 82)
    assert "(rows of its first batches have 250 numbers, of the others' 47, on average)" in first.claim
    assert "batches[rank::ranks]" in first.next_step
    assert [row["length"] for row in first.evidence[0].rows] == [47.4, 249.5]


def test_a_step_that_keeps_more_in_one_rank_is_the_cause(tmp_path: Path) -> None:
    """Its batches are no rows of words."""
    kept: list[dict[str, object]] = [{"saved_floats": {"float32": size}} for size in (4_000_000, 20_000_000)]
    first = look(tmp_path, {0: 5, 1: 12}, **of_loops(*kept)).findings[0]
    assert first.slug == "uneven-batches"
    assert "(its first steps keep 20 MB for their way back, the others' 4 MB)" in first.claim


@pytest.mark.parametrize(
    ("own", "slow_ms"),
    [
        (55.0, 12),  # as by chance
        (70.0, 30),  # six times the work for 1.4 times the length
    ],
)
def test_rows_that_do_not_explain_the_work_are_no_cause(tmp_path: Path, own: float, slow_ms: int) -> None:
    """Little longer, or far less than what the rank does more."""
    first = look(tmp_path, {0: 5, 1: slow_ms}, **of_loops(rows_of(50.0), rows_of(own))).findings[0]
    assert first.slug == "straggler"


def test_collectives_that_take_long_by_themselves_are_a_cause(tmp_path: Path) -> None:
    """1 ms of transfer in each of 40 steps: 4 % of the second."""
    diagnosis = look(tmp_path, {0: 5, 1: 5})
    assert [(one.slug, one.at_stake_ns) for one in diagnosis.findings] == [("collective-bound", 40 * MS)]


def test_the_rank_that_failed_first_comes_first(tmp_path: Path) -> None:
    """Rank 0 was ended after it."""
    died = {"told": {"process": {"pid": 42, "exit_code": 3, "signal": None, "wall_ns": S // 2}}}
    ended = {"told": {"process": {"pid": 42, "exit_code": None, "signal": 15, "wall_ns": 2 * S}}}
    first = look(tmp_path, {0: 5, 1: 5}, rank_0=ended, rank_1=died).findings[0]
    assert first.slug == "rank-failed"
    assert first.claim == "Rank 1 ended with exit code 3 after 40 train steps; 1 more ended badly, later."


def test_a_rank_that_failed_when_all_others_had_ended_well_may_have_had_more_batches(tmp_path: Path) -> None:
    """One that dies in the midst takes the others with it."""
    died = {"told": {"process": {"pid": 42, "exit_code": 1, "signal": None, "wall_ns": S}}}
    first = look(tmp_path, {0: 5, 1: 5}, rank_1=died).findings[0]
    assert "or it had more batches than they, and waited for ranks that come no more." in first.claim
    assert first.next_step.startswith("Give all ranks as many batches (DistributedSampler, drop_last=True)")


def samples(rank: int, waits: float) -> list[dict[str, Any]]:
    """Two samples, a second apart: the process ran for a second, and waited for a core for that many."""
    return [
        {"rank": rank, "time_ns": second * S, "interval_ns": S, "run_ns": second * S, "wait_ns": int(second * waits * S),
         "main_run_ns": second * S, "main_wait_ns": int(second * waits * S / 4)}
        for second in (0, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(("waits", "found"), [(1.0, True), (0.2, False)])
def test_ranks_that_want_more_cores_than_there_are_are_told(tmp_path: Path, waits: float, found: bool) -> None:
    """On two cores: two threads that run and two that wait; or nearly none that waits."""
    told = {f"rank_{rank}": {"process_samples": samples(rank, waits)} for rank in (0, 1)}
    diagnosis = look(tmp_path, {0: 5, 1: 5}, **told)
    assert ("rank-contention" in [one.slug for one in diagnosis.findings]) is found
    assert "rank-contention" not in [one.slug for one in diagnosis.abstained]


def on_machine(own_pct: float, others_pct: float) -> list[dict[str, Any]]:
    """One sample of the machine, of the whole run."""
    used = {"cpu_pct": own_pct + 10 + others_pct, "dlprof_cpu_pct": 10.0, "others_cpu_pct": others_pct}
    return [{"time_ns": S, "interval_ns": S, **used}]


@pytest.mark.parametrize(("others_pct", "found"), [(160.0, ["host-contention"]), (80.0, [])])
def test_cores_that_other_programs_took_are_told(tmp_path: Path, others_pct: float, found: list[str]) -> None:
    """Each rank used half a core, and sees others use 1.6: the other rank and its dlprof 0.6, other programs one."""
    told = {
        f"rank_{rank}": {
            "process_samples": [{**row, "run_ns": row["run_ns"] // 2} for row in samples(rank, 1.0)],
            "machine": on_machine(50.0, others_pct),
        }
        for rank in (0, 1)
    }
    diagnosis = look(tmp_path, {0: 5, 1: 5}, **told)
    of_cores = [one for one in diagnosis.findings if one.slug.endswith("-contention")]

    assert [one.slug for one in of_cores] == found
    assert [one.claim.split(" while ")[0] for one in of_cores] == ["Other programs used 1.0 of 2 cores"] * len(found)


def test_what_cannot_be_judged_is_said(tmp_path: Path) -> None:
    """Without samples of threads, without collectives."""
    nothing: dict[str, Any] = {"collectives": []}
    diagnosis = look(tmp_path, {0: 5, 1: 5}, rank_0=nothing, rank_1=nothing)
    assert [one.slug for one in diagnosis.abstained] == [
        "rank-contention",
        "host-contention",
        "collective-bound",
        "small-buckets",
    ]
    assert diagnosis.abstained[2].because == "no collectives of theirs were seen"
