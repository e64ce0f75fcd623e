"""Collectives of several ranks, put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import clocks, collectives
from dlprof.analysis.clocks import Clock
from tests.unit import ranked_runs
from tests.unit.runs import MS


def test_waiting_for_the_last_and_the_transfer_are_told_apart(tmp_path: Path) -> None:
    """Rank 0 comes after 5 ms, rank 1 after 12: rank 0 waits for 7, and both for 1 of transfer."""
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}).members

    matched = collectives.match(members, clocks.of_ranks(members))

    first, second = matched.waits[0], matched.waits[1]
    assert set(first.wait.tolist()) == {7 * MS}
    assert set(first.transfer.tolist()) == {1 * MS}
    assert (set(second.wait.tolist()), set(second.transfer.tolist())) == ({0}, {1 * MS})
    assert matched.arrivals is not None
    assert set(matched.arrivals.spread.tolist()) == {7 * MS}
    assert matched.arrivals.last_share() == {0: 0.0, 1: 1.0}


def test_of_a_rank_that_ended_early_what_all_have_is_matched(tmp_path: Path) -> None:
    """The others' later ones wait for nobody that could be named."""
    few = ranked_runs.collectives(1, 12, 12)[:3]
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"collectives": few}).members
    matched = collectives.match(members, clocks.of_ranks(members))
    assert {rank: len(one.wait) for rank, one in matched.waits.items()} == {0: 3, 1: 3}


def test_one_that_was_begun_early_counts_from_where_it_was_waited_for(tmp_path: Path) -> None:
    """As `async_op=True`: rank 0 came 7 ms before rank 1 and computed meanwhile; it stood still for the last 3 ms."""
    rows = [{**one, "blocked_ns": 3 * MS} for one in ranked_runs.collectives(0, 5, 12)]
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0={"collectives": rows}).members
    waits = collectives.match(members, clocks.of_ranks(members)).waits[0]
    assert (set(waits.wait.tolist()), set(waits.transfer.tolist())) == ({2 * MS}, {1 * MS})


def test_clocks_that_were_not_compared_are_not_taken_for_one(tmp_path: Path) -> None:
    """Then nothing is said of waits."""
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}).members
    clock = Clock(None, None, "a rank does not tell when its clock began")
    assert collectives.match(members, clock).unknown == "a rank does not tell when its clock began"


def test_waits_between_machines_are_told_on_the_clock_in_common(tmp_path: Path) -> None:
    """The far clock shows 3 ms more; without that rank 0 would have waited for 10 ms."""
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"told": ranked_runs.far(1, 3 * MS)}).members
    waits = collectives.match(members, clocks.of_ranks(members)).waits
    assert (set(waits[0].wait.tolist()), set(waits[1].wait.tolist())) == ({7 * MS}, {0})


def test_without_collectives_it_is_said_why_waits_are_not_known(tmp_path: Path) -> None:
    """As of compiled ones of JAX."""
    nothing: dict[str, Any] = {"collectives": []}
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0=nothing, rank_1=nothing).members
    assert collectives.match(members, Clock(0, 1)).unknown == "no collectives of theirs were seen"
