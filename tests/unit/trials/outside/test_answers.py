"""Whether an answer is right."""

from __future__ import annotations

import pytest
from msgspec import structs
from msgspec.structs import replace

from tests.unit.trials.outside.cases import answer, problem, said


def test_the_rank_is_that_of_the_first_accepted_finding() -> None:
    """The second of three; in the pair the first."""
    given = answer(said("input-bound"), said("io-bound"), said("checkpoint-heavy"), in_pair=(said("io-bound"),))

    assert (given.rank, given.pair_rank) == (2, 1)


def test_without_an_accepted_finding_nothing_is_judged() -> None:
    """Line, fix and time at stake are those of an accepted finding: null, not wrong."""
    given = answer(said("input-bound", line=7), buggy_ns=9, fixed_ns=3)

    assert (given.rank, given.line_right, given.fix_named, given.stake_close) == (None, None, None, None)


@pytest.mark.parametrize(("line", "right"), [(7, True), (9, False), (None, False)])
def test_a_line_is_right_when_it_is_one_of_the_truth(line: int | None, right: bool) -> None:
    """A finding that names no line does not name the right one."""
    assert answer(said("io-bound", line=line)).line_right is right


def test_a_line_of_another_file_is_wrong() -> None:
    """The seventh line of a library is not the seventh of the script."""
    assert answer(replace(said("io-bound", line=7), file="lib/util.py")).line_right is False


def test_where_no_line_is_to_blame_none_is_judged() -> None:
    """As with a cause in the environment."""
    assert answer(said("io-bound", line=7), problem=problem(line=[])).line_right is None


@pytest.mark.parametrize(
    ("step", "named"), [("Save it Less Often.", True), ("once, at the end of each epoch", True), ("buy a disk", False)]
)
def test_a_fix_is_named_by_any_of_its_words(step: str, named: bool) -> None:
    """Capitals do not matter."""
    assert answer(said("io-bound", step=step)).fix_named is named


def test_a_fix_without_words_is_not_judged() -> None:
    """A truth file that has only prose leaves it to people."""
    assert answer(said("io-bound", step="each epoch"), problem=problem(fix_words=[])).fix_named is None


@pytest.mark.parametrize(("stakes", "close"), [((50, 8), True), ((20, 20), False), ((80, 0), False)])
def test_a_time_at_stake_is_held_against_the_cost(stakes: tuple[int, int], close: bool) -> None:
    """All accepted findings together; the cost is 90 - 30 ns, of which a fifth is 12 ns."""
    found = (said("io-bound", at_stake_ns=stakes[0]), said("checkpoint-heavy", at_stake_ns=stakes[1]))

    assert answer(*found, buggy_ns=90, fixed_ns=30).stake_close is close


def test_what_two_accepted_findings_would_save_in_two_ways_counts_once() -> None:
    """60 ns, of which the other one saves 25: together 60, the cost."""
    all_of_it = structs.replace(said("io-bound", at_stake_ns=60), shared_ns=25, shared_with="checkpoint-heavy")

    given = answer(all_of_it, said("checkpoint-heavy", at_stake_ns=25), buggy_ns=90, fixed_ns=30)

    assert given.cost_over_stake == 1.0


@pytest.mark.parametrize(
    ("intervals", "holds"), [(((20, 40), (10, 20)), True), (((20, 30), (10, 20)), False), (((20, 40), None), None)]
)
def test_the_intervals_of_all_accepted_findings_are_held_against_the_cost(
    intervals: tuple[tuple[int, int] | None, ...], holds: bool | None
) -> None:
    """Added: of 30 to 60 ns, the cost is 60; where one is not known, nothing is judged."""
    found = [
        structs.replace(said(slug, at_stake_ns=30), interval_ns=interval)
        for slug, interval in zip(("io-bound", "checkpoint-heavy"), intervals, strict=True)
    ]

    assert answer(*found, buggy_ns=90, fixed_ns=30).interval_holds is holds


@pytest.mark.parametrize(("accept", "cost_ns"), [(["io-bound"], 40), (["import-heavy"], 60)])
def test_imports_are_part_of_the_cost_only_where_they_are_the_cause(accept: list[str], cost_ns: int) -> None:
    """Of 60 ns between the runs 20 are imports, in the first run of a machine for one."""
    given = answer(said(accept[0]), problem=problem(accept=accept), buggy_ns=90, fixed_ns=30, ends_ns=20)

    assert given.cost_ns == cost_ns


def test_a_fix_that_saved_nothing_gives_no_cost_to_judge_by() -> None:
    """The fixed run was the slower one: noise."""
    given = answer(said("io-bound", at_stake_ns=5), buggy_ns=30, fixed_ns=31)

    assert (given.cost_ns, given.stake_close) == (-1, None)


def test_small_findings_are_silence() -> None:
    """2.9 % is not worth a word, 3 % is."""
    assert answer(said("io-bound", 0.029)).silent
    assert not answer(said("io-bound", 0.03)).silent


def test_a_finding_on_the_fixed_script_is_false_unless_the_truth_allows_it() -> None:
    """Of three, one is small, and one is true."""
    found = (said("input-bound", 0.2), said("gc-pressure", 0.05), said("dispatch-bound", 0.4))

    given = answer(on_fixed=found, problem=problem(true_of_fixed=["dispatch-bound"]))

    assert [one.slug for one in given.false_on_fixed] == ["input-bound"]


def test_what_is_said_of_the_machine_takes_no_rank() -> None:
    """That others used its cores is no wrong story of the script, and no story of it either."""
    busy = said("cpu-contention", 0.5)

    given = answer(busy, said("io-bound"), in_pair=(busy, said("io-bound")), on_fixed=(busy,))

    assert (given.rank, given.pair_rank, given.right) == (1, 1, said("io-bound"))
    assert given.false_on_fixed == ()
    assert given.machine_told
    assert answer(busy).silent


def test_a_busy_machine_that_is_the_cause_has_a_rank() -> None:
    """Where the truth accepts it."""
    assert answer(said("cpu-contention"), problem=problem(accept=["cpu-contention"])).rank == 1


def test_a_fix_may_stand_in_the_change_that_a_finding_names() -> None:
    """Not only in what it says to do."""
    assert answer(replace(said("io-bound", step="See there."), fix="save(each epoch)")).fix_named is True


def test_what_is_only_asked_of_the_fixed_script_is_no_false_claim() -> None:
    """Half sure is a claim, less is a question."""
    found = (replace(said("input-bound", 0.2), confidence=0.49), replace(said("gc-pressure", 0.3), confidence=0.5))

    given = answer(on_fixed=found)

    assert [one.slug for one in given.asked_on_fixed] == ["input-bound"]
    assert [one.slug for one in given.false_on_fixed] == ["gc-pressure"]


def test_judged_are_the_first_finding_and_large_ones_on_the_fixed_script() -> None:
    """What comes second may be true as well; 5 % is not large; the machine is nobody's fault."""
    given = answer(
        said("io-bound"),
        said("gc-pressure"),
        on_fixed=(said("cpu-contention"), said("input-bound"), said("jit-off", 0.05)),
    )

    assert [(one.slug, right) for one, right in given.judged] == [("io-bound", True), ("input-bound", False)]
