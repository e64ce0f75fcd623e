"""The outside exam as JSON and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from dlprof.trials.outside import figures, reliability, stakes_fit
from dlprof.trials.outside.answers import Answer, Said
from dlprof.trials.outside.figures import Figures
from dlprof.trials.outside.reliability import Bin, OfGround
from dlprof.trials.outside.stakes_fit import OfStakes

SCHEMA = "dlprof.exam-outside/1"
_HEADS = ("", "problems", "first", "found", "pair: first", "pair: found", "line right", "fix named", "within 20 %",
          "in the interval", "other first", "silent", "false on fixed", "asked on fixed", "machine")  # fmt: skip


class ProblemReport(Struct, frozen=True):
    """A problem, and what was made of it; attributes as in `Truth` and `Answer`."""

    name: str
    backend: str
    keras: bool
    held_out: bool
    root_cause: str
    source: str
    accept: tuple[str, ...]
    rank: int | None
    pair_rank: int | None
    line_right: bool | None
    fix_named: bool | None
    stake_close: bool | None
    interval_holds: bool | None
    silent: bool | None
    buggy_ns: int | None
    fixed_ns: int | None
    cost_ns: int | None
    said: tuple[Said, ...]
    in_pair: tuple[Said, ...]
    on_fixed: tuple[Said, ...]
    false_on_fixed: tuple[str, ...]
    failed: str | None
    by_rule_writer: bool


class ExamReport(Struct, frozen=True, kw_only=True):
    """An outside exam.

    Attributes:
        asked: Problems that were to be sat; more than there are in `problems`: it was broken off.
        groups: Figures of all, and of the open and held-out halves.
        reliability: How often findings were right, by how sure they were.
        grounds: The same by what told that they are the cause, without held-out problems.
        stakes: What causes cost over what was told, by the same, without held-out problems.
    """

    schema: str = SCHEMA
    asked: int
    groups: tuple[Figures, ...]
    backends: tuple[Figures, ...]
    root_causes: tuple[Figures, ...]
    reliability: tuple[Bin, ...]
    grounds: tuple[OfGround, ...]
    stakes: tuple[OfStakes, ...]
    problems: tuple[ProblemReport, ...]


def as_json(answers: Sequence[Answer], asked: int | None = None) -> ExamReport:
    """The exam, for machines (`dlprof.exam-outside/1`). Times are ns; what could not be judged is null."""
    return ExamReport(
        asked=len(answers) if asked is None else asked,
        groups=figures.of_all(answers),
        backends=figures.by_backend(answers),
        root_causes=figures.by_root_cause(answers),
        reliability=reliability.of_answers(answers),
        grounds=reliability.of_grounds(answers),
        stakes=stakes_fit.of_answers(answers),
        problems=tuple(_problem(answer) for answer in answers),
    )


def as_text(report: ExamReport) -> str:
    """The same as text for a file."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"


def _problem(answer: Answer) -> ProblemReport:
    truth = answer.truth
    return ProblemReport(
        answer.problem.name, truth.backend, truth.keras, truth.held_out, truth.root_cause, truth.source, truth.accept,
        answer.rank, answer.pair_rank, answer.line_right, answer.fix_named, answer.stake_close, answer.interval_holds,
        None if answer.failed else answer.silent, answer.buggy_ns, answer.fixed_ns, answer.cost_ns,
        answer.said, answer.in_pair, answer.on_fixed, tuple(one.slug for one in answer.false_on_fixed), answer.failed,
        truth.by_rule_writer,
    )  # fmt: skip


def in_short(answer: Answer) -> str:
    """One line on an answer."""
    if answer.failed:
        return f"failed: {answer.failed}"
    said = ", ".join(f"{one.slug} {one.share:.0%}" for one in answer.said[:4]) or "nothing"
    return f"rank {answer.rank or '-'} of {said}; as a pair {answer.pair_rank or '-'}"


def as_markdown(answers: Sequence[Answer]) -> str:
    """The exam as tables: figures of groups, backends and root causes, reliability, then each problem."""
    tables = (figures.of_all(answers), figures.by_backend(answers), figures.by_root_cause(answers))
    lines = [line for rows in tables for line in (*_figures(rows), "")]
    lines += [*_reliability(answers), "", *_grounds(answers), "", *_stakes(answers), ""]
    lines += ["| problem | backend | accepted | first finding | rank | in pair | slower | line | fix | fixed |",
              "| --- | --- | --- | --- | ---: | ---: | ---: | --- | --- | --- |"]  # fmt: skip
    return "\n".join([*lines, *(_row(answer) for answer in answers)]) + "\n"


def _reliability(answers: Sequence[Answer]) -> list[str]:
    rows = [
        f"| {one.low:.2f} to {one.high:.2f} | {one.findings} | {'-' if one.said is None else f'{one.said:.0%}'} "
        f"| {'-' if one.right is None else f'{one.right:.0%}'} |"
        for one in reliability.of_answers(answers)
    ]
    return ["| confidence | findings | said, on average | right |", "| --- | ---: | ---: | ---: |", *rows]


def _grounds(answers: Sequence[Answer]) -> list[str]:
    rows = [
        f"| {one.ground} | {one.findings} | {one.right} | {one.strength:.1f} | {one.prior:.2f} | {one.used:.2f} |"
        for one in reliability.of_grounds(answers)
    ]
    head = "| told by | findings | right | strength | prior to take | taken |"
    return [head, "| --- | ---: | ---: | ---: | ---: | ---: |", *rows]


def _stakes(answers: Sequence[Answer]) -> list[str]:
    rows = [
        f"| {one.ground} | {one.problems} | {_between(one.low, one.high)} | {_between(*one.used)} |"
        for one in stakes_fit.of_answers(answers)
    ]
    return [
        "| told by | problems | cost over what was told, nine in ten | taken |",
        "| --- | ---: | ---: | ---: |",
        *rows,
    ]


def _between(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def _figures(rows: Sequence[Figures]) -> list[str]:
    head = [f"| {' | '.join(_HEADS)} |", "| --- " + "| ---: " * (len(_HEADS) - 1) + "|"]
    return [*head, *(f"| {' | '.join(_cells(row))} |" for row in rows)]


def _cells(row: Figures) -> list[str]:
    failed = f" ({row.failed} failed)" if row.failed else ""
    judged = (
        (row.line_right, row.lines_judged),
        (row.fix_named, row.fixes_judged),
        (row.stake_close, row.stakes_judged),
        (row.interval_holds, row.intervals_judged),
    )
    counts = (row.first, row.found, row.pair_first, row.pair_found)
    rest = (row.other_first, row.silent, row.false_on_fixed, row.asked_on_fixed, row.machine_told)
    return [
        row.group,
        f"{row.problems}{failed}",
        *map(str, counts),
        *(f"{right} of {all_of}" for right, all_of in judged),
        *map(str, rest),
    ]


def _row(answer: Answer) -> str:
    first = f"{answer.of_script[0].slug} {answer.of_script[0].share:.0%}" if answer.of_script else "nothing"
    slower = f"{answer.buggy_ns / answer.fixed_ns:.1f} x" if answer.buggy_ns and answer.fixed_ns else "-"
    words = {None: "-", True: "yes", False: "no"}
    false = ", ".join(f"{one.slug} {one.share:.0%}" for one in answer.false_on_fixed)
    cells = [
        f"{answer.problem.name}{'' if answer.truth.half == 'open' else f' ({answer.truth.half})'}",
        f"{answer.truth.backend}{', Keras' if answer.truth.keras else ''}", ", ".join(answer.truth.accept) or "-",
        f"failed: {answer.failed}" if answer.failed else first, str(answer.rank or "-"), str(answer.pair_rank or "-"),
        slower, words[answer.line_right], words[answer.fix_named], false or "-",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"
