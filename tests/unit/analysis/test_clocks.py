"""How the clocks of ranks stand to each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dlprof.analysis import clocks, ranks
from dlprof.analysis.clocks import Clock, HostClock, Placement
from tests.unit import ranked_runs
from tests.unit.runs import MS, S


def test_ranks_of_one_machine_have_one_clock(tmp_path: Path) -> None:
    """Their own zeros lie on it."""
    found = clocks.of_ranks(ranked_runs.make(tmp_path, {0: 5, 1: 12}).members)
    assert found == Clock(0, 1, None, {0: Placement(0), 1: Placement(S)})


def test_the_offset_of_another_machine_is_told_by_collectives(tmp_path: Path) -> None:
    """Its wall clock shows 3 ms more. Rank 0 leaves a collective 1 ms after rank 1 has come, and rank 1 leaves it 8 ms
    after rank 0 has come: 3 ms it is, and 2 ms or 11 ms it could be.
    """
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"told": ranked_runs.far(1, 3 * MS)}).members
    found = clocks.of_ranks(members)
    assert (found.offset_ns, found.error_ns, found.unknown) == (3 * MS, 8 * MS, None)
    assert found.hosts == {"other": HostClock(3 * MS, 8 * MS, 0.0, 40)}
    assert found.placements == {0: Placement(0), 1: Placement(S, 0.0, S + 403 * MS)}


def test_ranks_that_come_last_by_turns_tell_it_better(tmp_path: Path) -> None:
    """In every second collective rank 1 comes first: from both sides there is 1 ms.

    The first one bounds from one side only, so that 20 ms of a drift of 500 millionths are added: 10 µs.
    """
    first, second = ranked_runs.collectives(0, 5, 12), ranked_runs.collectives(1, 12, 12)
    for one, other in list(zip(first, second, strict=True))[::2]:
        zero = other["start_ns"] - 7 * MS
        other.update(start_ns=zero, dur_ns=8 * MS, blocked_ns=8 * MS)
        one.update(start_ns=one["start_ns"] + 7 * MS, dur_ns=MS, blocked_ns=MS)
    members = ranked_runs.make(
        tmp_path,
        {0: 5, 1: 12},
        rank_0={"collectives": first},
        rank_1={"collectives": second, "told": ranked_runs.far(1, -5 * S)},
    ).members
    found = clocks.of_ranks(members)
    assert (found.offset_ns, found.error_ns) == (5 * S, MS + 10_000)
    assert found.hosts["other"].offset_ns == -5 * S


def test_a_drift_is_told_and_taken_out(tmp_path: Path) -> None:
    """The far clock goes 100 millionths faster: after 780 ms it shows 78 µs more."""
    rows = ranked_runs.collectives(1, 12, 12)
    for one in rows:
        one["start_ns"] += round(1e-4 * (one["start_ns"] - S))
    told = {"collectives": rows, "told": ranked_runs.far(1, 3 * MS)}
    found = clocks.of_ranks(ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1=told).members)
    assert found.hosts["other"].drift_ppm == pytest.approx(100, rel=0.01)
    placed = found.placements[1].placed(np.array([one["start_ns"] for one in rows]))
    true = np.array([S + one["start_ns"] for one in ranked_runs.collectives(1, 12, 12)])
    assert np.abs(placed - true).max() < 2000
    own = np.array([S, 2 * S])
    assert np.abs(found.placements[1].own(found.placements[1].placed(own)) - own).max() <= 1


def test_noise_is_no_drift(tmp_path: Path) -> None:
    """Ends that differ by up to 50 µs, as they come."""
    draw = np.random.default_rng(3)
    rows = ranked_runs.collectives(1, 12, 12)
    for one in rows:
        one["dur_ns"] += int(draw.integers(0, 50_000))
    told = {"collectives": rows, "told": ranked_runs.far(1, 0)}
    found = clocks.of_ranks(ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1=told).members)
    assert found.hosts["other"].drift_ppm == 0.0
    assert found.offset_ns is not None
    assert found.offset_ns < 50_000


def test_noise_that_looks_like_a_drift_is_kept_within_the_stated_error(tmp_path: Path) -> None:
    """Ends of backwards slide by 4 ms in 0.8 s, as if a clock went faster by 5,000 millionths; a barrier in between
    holds. The clocks are one.
    """
    first, second = ranked_runs.collectives(0, 5, 12), ranked_runs.collectives(1, 12, 12)
    for number, one in enumerate(second):
        one["dur_ns"] += number * MS // 10
    for rows, begin in ((first, 0), (second, MS // 2)):
        rows.append({**rows[0], "kind": "barrier", "start_ns": rows[0]["start_ns"] + begin, "dur_ns": MS - begin})
    first[-1]["start_ns"] = second[-1]["start_ns"] - MS // 2 + S
    told = {"collectives": second, "told": ranked_runs.far(1, 0)}
    found = clocks.of_ranks(
        ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0={"collectives": first}, rank_1=told).members
    )
    assert found.hosts["other"].drift_ppm == 0.0
    assert found.offset_ns is not None
    assert found.error_ns is not None
    assert found.offset_ns <= found.error_ns < 3 * MS


def test_backwards_bound_nothing_where_other_collectives_do(tmp_path: Path) -> None:
    """Rank 0 went on 2 ms before the backward of rank 1 was over: what it gave had left it. One barrier holds.

    800 ms from it a drift that is not known, of 500 millionths at most, adds 0.4 ms.
    """
    first, second = ranked_runs.collectives(0, 5, 12), ranked_runs.collectives(1, 12, 12)
    for one in first:
        one["dur_ns"] -= 3 * MS
        one["blocked_ns"] -= 3 * MS
    for rows, begin, dur in ((first, 0, 2 * MS), (second, MS, MS)):
        rows.append({**rows[-1], "kind": "barrier", "start_ns": rows[-1]["start_ns"] + 20 * MS + begin, "dur_ns": dur})
    first[-1]["start_ns"] += 7 * MS
    told = {"collectives": second, "told": ranked_runs.far(1, 0)}
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0={"collectives": first}, rank_1=told).members
    found = clocks.of_ranks(members)
    assert (found.offset_ns, found.error_ns) == (2 * MS, 3 * MS + 400_000)
    loose = {"collectives": second[:-1], "told": ranked_runs.far(1, 0)}
    members = ranked_runs.make(tmp_path / "b", {0: 5, 1: 12}, rank_0={"collectives": first[:-1]}, rank_1=loose).members
    assert clocks.of_ranks(members).error_ns == 5 * MS


@pytest.mark.parametrize("kind", ["broadcast", "scatter", "reduce", "gather"])
def test_collectives_that_one_may_leave_before_all_have_come_tell_nothing(tmp_path: Path, kind: str) -> None:
    """The root of a broadcast goes on at once."""
    rows = [
        [{**one, "kind": kind} for one in ranked_runs.collectives(rank, own, 12)] for rank, own in ((0, 5), (1, 12))
    ]
    told = {"collectives": rows[1], "told": ranked_runs.far(1, 0)}
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_0={"collectives": rows[0]}, rank_1=told).members
    found = clocks.of_ranks(members)
    assert (found.offset_ns, found.error_ns, found.placements) == (None, None, {})
    assert found.unknown == "the clock of other was not compared: no collective of all ranks is there of it and h"


def test_machines_of_one_name_are_told_by_when_their_clocks_began(tmp_path: Path) -> None:
    """As containers may be called."""
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"told": ranked_runs.far(1, 0, host="h")}).members
    assert list(clocks.of_ranks(members).hosts) == ["h (2)"]


def test_without_an_anchor_nothing_is_known(tmp_path: Path) -> None:
    """As of imported traces."""
    members = ranked_runs.make(tmp_path, {0: 5, 1: 12}, rank_1={"told": {"clock": {"origin_perf_ns": 0}}}).members
    assert clocks.of_ranks(members) == Clock(None, None, "a rank does not tell when its clock began")


def test_waits_and_the_straggler_are_those_of_one_machine(tmp_path: Path) -> None:
    """Wherever the ranks ran, and whatever their clocks showed."""
    here = ranks.of_run(ranked_runs.make(tmp_path / "here", {0: 5, 1: 12}))
    told = {"told": ranked_runs.far(1, -250 * MS)}
    there = ranks.of_run(ranked_runs.make(tmp_path / "there", {0: 5, 1: 12}, rank_1=told))
    figures = [
        (one.straggler, one.skew_ns, one.skew_how, [rank.collective_wait_ns for rank in one.ranks])
        for one in (here, there)
    ]
    assert figures[0] == figures[1]
    assert there.clock.offset_ns == 250 * MS
