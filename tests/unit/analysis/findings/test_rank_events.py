"""Ranks that hang, work alone, or have less to compute with; gradients in small parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis import ranks
from dlprof.analysis.findings import of_ranks
from dlprof.analysis.findings.finding import Finding
from tests.unit import ranked_runs
from tests.unit.analysis.test_rank_stands import STAND, stacks
from tests.unit.runs import MS, S

FAILED = {"pid": 42, "exit_code": None, "signal": 15, "wall_ns": 10 * S}


def first(folder: Path, own_ms: dict[int, float], **changes: Any) -> Finding:
    """The first finding."""
    found = ranked_runs.make(folder, own_ms, **changes)
    return of_ranks.look(found, ranks.of_run(found)).findings[0]


def paused(rank: int, at: int = 20, pause_ms: int = 800) -> dict[str, Any]:
    """Tables of a rank: between two steps rank 1 is busy for so long, and rank 0 waits in the next one."""
    steps, rows = ranked_runs.steps(rank), ranked_runs.collectives(rank, 5, 5)
    for one in steps[at:]:
        one["start_ns"] += pause_ms * MS
    for one in rows[at:]:
        one["start_ns"] += pause_ms * MS
    if rank == 0:
        steps[at].update(start_ns=steps[at]["start_ns"] - pause_ms * MS, dur_ns=(pause_ms + 20) * MS)
        rows[at].update(start_ns=rows[at]["start_ns"] - pause_ms * MS, dur_ns=(pause_ms + 1) * MS)
        rows[at]["blocked_ns"] = rows[at]["dur_ns"]
    return {"steps": steps, "collectives": rows}


def test_what_one_rank_does_alone_is_named_with_its_line(tmp_path: Path) -> None:
    """800 ms between two steps, in a function that evaluates."""
    busy = stacks(("train.py", 40, "main"), 1.3, 1)
    busy["frames"][1]["function"] = "evaluate"
    found = first(tmp_path, {0: 5, 1: 5}, rank_0=paused(0), rank_1={**paused(1), **busy})
    assert (found.slug, found.at_stake_ns, found.file, found.line) == ("lone-work", 800 * MS, "train.py", 40)
    assert found.claim.startswith(
        "Rank 1 worked alone in evaluate() (evaluation) once, while all others stood still for it: 800 ms"
    )


def test_a_batch_that_one_rank_alone_waits_for_is_told_as_its_input(tmp_path: Path) -> None:
    """The wait for it ends where the step begins: the advice is about batches, not about what all ranks could share."""
    late = paused(1)
    late["steps"][20]["input_ns"] = 800 * MS
    found = first(tmp_path, {0: 5, 1: 5}, rank_0=paused(0), rank_1=late)
    assert (found.slug, found.at_stake_ns) == ("lone-work", 800 * MS)
    assert found.claim.startswith("Rank 1 worked alone (input) once, while all others stood still for it")
    assert found.next_step.startswith("Give that rank input as cheap as the others'")


def test_garbage_that_is_collected_in_the_wait_for_a_batch_is_what_it_does(tmp_path: Path) -> None:
    """A loader that makes many objects sets it off."""
    waits, late = paused(0), paused(1)
    late["steps"][20]["input_ns"] = 800 * MS
    late["gc"] = [
        {"generation": 2, "start_ns": late["steps"][20]["start_ns"] - 780 * MS, "dur_ns": 760 * MS, "pid": 42}
    ]
    found = first(tmp_path, {0: 5, 1: 5}, rank_0=waits, rank_1=late)
    assert found.claim.startswith("Rank 1 worked alone (collections of garbage) once, while all others")


def test_a_step_of_a_slow_rank_that_took_longer_still_is_no_lone_work(tmp_path: Path) -> None:
    """It stands in the same line in all its steps: 800 ms once are more than 7 ms in each of 40, and of no other cause."""
    waits, late = paused(0), paused(1)
    for number, (wait, own) in enumerate(zip(waits["collectives"], late["collectives"], strict=True)):
        own["start_ns"] += 7 * MS
        if number != 20:
            wait.update(dur_ns=8 * MS, blocked_ns=8 * MS)
    late.update(stacks(("train.py", 40, "main"), 1, 2))
    found = first(tmp_path, {0: 5, 1: 12}, rank_0=waits, rank_1=late)
    assert (found.slug, found.at_stake_ns) == ("straggler", 280 * MS)


def test_without_collectives_steps_tell_it(tmp_path: Path) -> None:
    """As an estimate."""
    tables = {rank: {**paused(rank), "collectives": []} for rank in (0, 1)}
    found = first(tmp_path, {0: 5, 1: 5}, rank_0=tables[0], rank_1=tables[1])
    assert (found.slug, found.basis, found.at_stake_ns) == ("lone-work", "estimated", 800 * MS)


@pytest.mark.parametrize("which", ["compiled", "traced", "told"])
def test_what_ranks_wait_for_while_one_compiles_or_is_traced_is_no_lone_work(which: str, tmp_path: Path) -> None:
    """The ranks do so one after the other, each of them once; 800 ms later in the training would be told.

    The same while dlprof writes down what a tracer has seen of one.
    """
    at = 2 if which == "compiled" else 20
    tables = {rank: {**paused(rank, at), "collectives": []} for rank in (0, 1)}
    if which == "compiled":
        for one in tables.values():
            for step in one["steps"][: at + 1]:
                step["compiled"] = True
    else:
        begin = tables[1]["steps"][at - 1]["start_ns"]
        row = {"start_ns": begin, "dur_ns": 500 * MS, "pid": 42}
        table, more = (
            ("kernel_windows", {"window": 0}) if which == "traced" else ("phase_intervals", {"phase": "dlprof"})
        )
        tables[1][table] = [{**row, **more}]
    found = ranked_runs.make(tmp_path, {0: 5, 1: 5}, rank_0=tables[0], rank_1=tables[1])
    assert of_ranks.look(found, ranks.of_run(found)).findings == ()


def test_a_little_of_our_own_work_in_a_pause_does_not_explain_it(tmp_path: Path) -> None:
    """2 of 800 ms."""
    late = paused(1)
    begin = late["steps"][20]["start_ns"] - 100 * MS
    late["phase_intervals"] = [{"phase": "dlprof", "start_ns": begin, "dur_ns": 2 * MS, "pid": 42}]
    found = first(tmp_path, {0: 5, 1: 5}, rank_0=paused(0), rank_1=late)
    assert (found.slug, found.at_stake_ns) == ("lone-work", 800 * MS)


def test_a_rank_that_hung_comes_before_those_that_failed_for_it(tmp_path: Path) -> None:
    """Rank 0 ended first, of its own accord."""
    process = {**FAILED, "signal": None, "exit_code": 1}
    changes = {
        "rank_0": {**stacks(STAND[1], 3, 7), "told": {"process": process}},
        "rank_1": {**stacks(STAND[0], 2, 7), "told": {"process": FAILED}},
    }
    found = first(tmp_path, {0: 5, 1: 5}, **changes)
    assert (found.slug, found.file, found.line) == ("rank-hung", "train.py", 40)
    assert found.claim.startswith("Rank 1 stood in main() for the last 7.20 s, after 40 train steps, while the other")


def test_a_straggler_with_fewer_cores_is_told_so(tmp_path: Path) -> None:
    """As they were when the training began."""
    few = {"told": {"data_parallel": {"cores": 1}}}
    found = first(tmp_path, {0: 5, 1: 12}, rank_1=few)
    assert (found.slug, "(it may use 1 core, the others 2)" in found.claim) == ("slow-host", True)


def test_all_ranks_of_a_slow_machine_are_told_as_one(tmp_path: Path) -> None:
    """Two of four, on another machine; clocks that are a second apart are not compared here."""
    other: dict[str, Any] = {"told": ranked_runs.far(2, 0)}
    last: dict[str, Any] = {"told": ranked_runs.far(3, 0)}
    for rank, changes in ((2, other), (3, last)):
        changes["collectives"] = [{**row, "kind": "all_reduce"} for row in ranked_runs.collectives(rank, 12, 12)]
    near = {rank: {"collectives": [{**row, "kind": "all_reduce"} for row in ranked_runs.collectives(rank, 5, 12)]}
            for rank in (0, 1)}  # fmt: skip
    found = first(tmp_path, {0: 5, 1: 5, 2: 12, 3: 12}, rank_0=near[0], rank_1=near[1], rank_2=other, rank_3=last)
    assert found.slug == "slow-host"
    assert found.claim.startswith("The 2 ranks of other all take longer of their own than those of the other machines")


def test_gradients_in_many_small_parts_are_told_with_the_line_of_the_model(tmp_path: Path) -> None:
    """Where collectives take time when all ranks have come."""
    parts = {"bytes": 400_000, "buckets": 100, "file": "train.py", "line": 25}
    slow = {rank: [{**row, "dur_ns": 6 * MS, "blocked_ns": 6 * MS} for row in ranked_runs.collectives(rank, 5, 5)]
            for rank in (0, 1)}  # fmt: skip
    changes = {f"rank_{rank}": {"collectives": slow[rank], "told": {"data_parallel": parts}} for rank in (0, 1)}
    found = first(tmp_path, {0: 5, 1: 5}, **changes)
    assert (found.slug, found.file, found.line) == ("small-buckets", "train.py", 25)
    assert found.claim.startswith("Gradients are given away in 100 parts of 4 kB on average.")


def test_buffers_that_are_broadcast_in_each_step_are_told_with_the_line_of_the_model(tmp_path: Path) -> None:
    """6 of the 7 ms in which a step stands still for collectives."""
    told = {"data_parallel": {"bytes": 400, "buckets": 1, "file": "train.py", "line": 25}}
    changes = {}
    for rank in (0, 1):
        rows = ranked_runs.collectives(rank, 5, 5)
        sent = [{**row, "kind": "buffers", "start_ns": row["start_ns"] - 5 * MS, "dur_ns": 6 * MS,
                 "blocked_ns": 6 * MS, "bytes": 20_000_000} for row in rows]  # fmt: skip
        changes[f"rank_{rank}"] = {"collectives": [*rows, *sent], "told": told}
    found = first(tmp_path, {0: 5, 1: 5}, **changes)
    assert (found.slug, found.at_stake_ns, found.line) == ("collective-bound", 280 * MS, 25)
    assert found.claim.startswith("20 MB of buffers are broadcast before each forward pass, 6.00 ms each time.")
    assert "broadcast_buffers=False" in found.next_step
