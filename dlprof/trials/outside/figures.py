"""Figures of the outside exam: of all, of its two halves, by backend and by root cause."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dlprof.trials.outside.answers import Answer


class Figures(Struct, frozen=True):
    """Counts of some problems.

    Attributes:
        group: Which problems.
        problems: How many there are.
        failed: How many of them could not be run or diagnosed; they count nowhere below.
        first, found: In how many an accepted finding came first, or came at all, on the script alone.
        pair_first, pair_found: The same, where it was compared with the fixed script.
        line_right, lines_judged: Of those found that have a line to blame, how many blame it.
        fix_named, fixes_judged: Of those found whose truth has words for the fix, how many name it.
        stake_close, stakes_judged: Of those found whose cost is known, how many are within 20 % of it.
        interval_holds, intervals_judged: Of those with an interval, how many hold the cost.
        other_first: In how many another finding came first.
        silent: In how many nothing of 3 % or more was said.
        false_on_fixed: In how many something false above 5 % was claimed of the fixed script.
        asked_on_fixed: In how many something false above 5 % was asked of it, and nothing claimed.
        machine_told: In how many something was said of the machine, as that others used it; that takes no rank.
    """

    group: str
    problems: int
    failed: int
    first: int
    found: int
    pair_first: int
    pair_found: int
    line_right: int
    lines_judged: int
    fix_named: int
    fixes_judged: int
    stake_close: int
    stakes_judged: int
    interval_holds: int
    intervals_judged: int
    other_first: int
    silent: int
    false_on_fixed: int
    asked_on_fixed: int
    machine_told: int


def of_all(answers: Sequence[Answer]) -> tuple[Figures, ...]:
    """Figures of all problems, then of the open, the held-out, and the rules' writer's ones where there are several."""
    halves = _by(answers, lambda answer: answer.truth.half)
    return (_of("all", answers), *(halves if len(halves) > 1 else ()))


def by_backend(answers: Sequence[Answer]) -> tuple[Figures, ...]:
    """Figures by backend, with Keras and without."""
    return _by(answers, lambda answer: f"{answer.truth.backend}, {'Keras' if answer.truth.keras else 'own loop'}")


def by_root_cause(answers: Sequence[Answer]) -> tuple[Figures, ...]:
    """Figures by root cause of DLPerf's study."""
    return _by(answers, lambda answer: answer.truth.root_cause)


def _by(answers: Sequence[Answer], key: Callable[[Answer], str]) -> tuple[Figures, ...]:
    groups = sorted({key(answer) for answer in answers})
    return tuple(_of(group, [answer for answer in answers if key(answer) == group]) for group in groups)


def _of(group: str, answers: Sequence[Answer]) -> Figures:
    ran = [answer for answer in answers if not answer.failed]
    names = ("line_right", "fix_named", "stake_close", "interval_holds")
    lines, fixes, stakes, intervals = (_judged(ran, name) for name in names)
    return Figures(
        group=group,
        problems=len(answers),
        failed=len(answers) - len(ran),
        first=sum(answer.rank == 1 for answer in ran),
        found=sum(answer.rank is not None for answer in ran),
        pair_first=sum(answer.pair_rank == 1 for answer in ran),
        pair_found=sum(answer.pair_rank is not None for answer in ran),
        line_right=sum(lines),
        lines_judged=len(lines),
        fix_named=sum(fixes),
        fixes_judged=len(fixes),
        stake_close=sum(stakes),
        stakes_judged=len(stakes),
        interval_holds=sum(intervals),
        intervals_judged=len(intervals),
        other_first=sum(answer.rank != 1 and bool(answer.of_script) for answer in ran),
        silent=sum(answer.silent for answer in ran),
        false_on_fixed=sum(bool(answer.false_on_fixed) for answer in ran),
        asked_on_fixed=sum(bool(answer.asked_on_fixed) and not answer.false_on_fixed for answer in ran),
        machine_told=sum(answer.machine_told for answer in ran),
    )


def _judged(answers: Sequence[Answer], name: str) -> list[bool]:
    """The judgements that could be made."""
    return [value for answer in answers if (value := getattr(answer, name)) is not None]
