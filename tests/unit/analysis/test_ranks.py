"""What ranks tell of each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis import ranks
from dlprof.analysis.ranks import Straggler
from tests.unit import ranked_runs
from tests.unit.runs import MS, S

NO_COLLECTIVES: dict[str, list[object]] = {"collectives": []}


def test_steps_of_equal_length_have_the_straggler_by_what_each_did_itself(tmp_path: Path) -> None:
    """Every step takes 20 ms in both ranks: rank 0 waits in its own for rank 1."""
    summary = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 12}))

    first, second = summary.ranks
    assert (first.steps, first.median_ns, first.collective_wait_ns, first.collective_transfer_ns) == (
        40, 20 * MS, 7 * MS, MS,
    )  # fmt: skip
    assert (second.collective_wait_ns, second.own_ns) == (0, 19 * MS)
    assert (summary.skew_ns, summary.skew_how) == (7 * MS, "arrivals")
    assert summary.straggler == Straggler(1, 7 * MS, "work", 7 * MS, 1.0)
    assert (summary.clock.offset_ns, summary.clock.error_ns) == (0, 1)


def test_a_rank_that_waits_for_its_batches_is_a_straggler_by_its_input(tmp_path: Path) -> None:
    """6 of the 7 ms are before its step."""
    slow = ranked_runs.steps(1)
    for one in slow:
        one.update(start_ns=one["start_ns"] + 6 * MS, dur_ns=14 * MS, input_ns=6 * MS)
    summary = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"steps": slow}))
    assert summary.of(1).input_ns == 6 * MS
    assert summary.straggler == Straggler(1, 7 * MS, "input", 6 * MS, 1.0)


def test_ranks_alike_have_no_straggler(tmp_path: Path) -> None:
    """0.5 ms of 20 is less than what is worth a word."""
    summary = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 5.5}))
    assert summary.straggler is None
    assert summary.skew_ns == MS // 2


def test_without_collectives_the_longest_step_tells(tmp_path: Path) -> None:
    """And it is said why waits are not known."""
    slow = [{**one, "dur_ns": 30 * MS} for one in ranked_runs.steps(1)]
    found = ranked_runs.make(tmp_path, {0: 5, 1: 5}, rank_0=NO_COLLECTIVES, rank_1={**NO_COLLECTIVES, "steps": slow})
    summary = ranks.of_run(found)
    assert summary.straggler == Straggler(1, 10 * MS, "work", 10 * MS, None)
    assert (summary.skew_ns, summary.skew_how) == (10 * MS, "medians")
    assert summary.waits_unknown == "no collectives of theirs were seen"
    assert [one.collective_wait_ns for one in summary.ranks] == [None, None]


def test_how_each_rank_ended_is_told(tmp_path: Path) -> None:
    """By signal, by exit code, or not seen."""
    process = {"pid": 42, "exit_code": None, "signal": 9, "wall_ns": 5}
    summary = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 5}, rank_1={"told": {"process": process}}))
    assert [(one.ended, one.failed) for one in summary.ranks] == [("exit code 0", False), ("signal 9", True)]


@pytest.mark.parametrize(("code", "told"), [(1, ("ended by Ray", False)), (3, ("exit code 3", True))])
def test_a_worker_that_ray_has_ended_did_not_fail(tmp_path: Path, code: int, told: tuple[str, bool]) -> None:
    """It does so with exit code 1, also where all went well."""
    process = {"pid": 42, "exit_code": code, "signal": None, "wall_ns": 5}
    command = {"script": "default_worker.py", "argv": ["--raylet-name=/tmp/ray/sockets/raylet"]}
    given = {"told": {"process": process, "command": command}}
    summary = ranks.of_run(ranked_runs.make(tmp_path, {0: 5, 1: 5}, rank_1=given))
    assert (summary.ranks[1].ended, summary.ranks[1].failed) == told


def test_steps_in_which_another_rank_was_traced_do_not_count(tmp_path: Path) -> None:
    """It was slower then: rank 0 waited 17 ms for it in 25 of the 40 steps."""
    window = {"window": 0, "engine": "torch", "source": "w", "loop": "train", "start_ns": S, "dur_ns": 200 * MS,
              "first_step": 0, "steps": 10}  # fmt: skip
    late = ranked_runs.collectives(1, 12, 12)
    for one in late[:25]:
        one["start_ns"] += 10 * MS
    longer = {**window, "dur_ns": 500 * MS}
    for number, (told, wait_ns) in enumerate(((longer, 7 * MS), (None, 17 * MS))):
        rows = {"collectives": late, "kernel_windows": [told] if told else []}
        first = [{**one, "dur_ns": 18 * MS, "blocked_ns": 18 * MS} for one in ranked_runs.collectives(0, 5, 12)]
        found = ranked_runs.make(tmp_path / str(number), {0: 5, 1: 12}, rank_0={"collectives": first}, rank_1=rows)
        assert ranks.of_run(found).of(0).collective_wait_ns == wait_ns


def test_what_a_rank_stands_still_in_collectives_is_known_by_its_own_record(tmp_path: Path) -> None:
    """7 ms for the other one and 1 ms of transfer, which are told apart by both records only."""
    first, second = (one.run for one in ranked_runs.make(tmp_path / "a", {0: 5, 1: 12}).members)
    assert (ranks.stood_in_collectives(first), ranks.stood_in_collectives(second)) == (8 * MS, MS)
    without = ranked_runs.make(tmp_path / "b", {0: 5, 1: 12}, rank_0=NO_COLLECTIVES).members[0].run
    assert ranks.stood_in_collectives(without) is None
