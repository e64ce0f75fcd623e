"""An exam as JSON and as Markdown."""

from __future__ import annotations

from typing import Literal, TypedDict

from dlprof.trials.exam.result import FALSE_SHARE, Answer, Result, Row, rows


class CaseReport(TypedDict):
    """A planted cause, and what the diagnosis made of it; attributes as in `Answer`."""

    name: str
    slug: str
    backend: str
    found: list[str]
    rank: int | None
    at_stake_ns: int | None
    cost_ns: int | None
    cost_doubt_ns: int | None
    error: float | None
    line_found: bool | None
    failed: str | None


class PairReport(TypedDict):
    """Two runs of the same thing; attributes as in `CleanPair`."""

    name: str
    gap_ns: int
    findings: list[tuple[str, float]]
    false_alarm: bool
    failed: str | None


class ExamReport(TypedDict):
    """An exam."""

    schema: Literal["dlprof.exam/1"]
    cases: list[CaseReport]
    rules: list[Row]
    machine_spread: float | None
    """By how much the machine's speed varied, as a share; null: not known."""
    clean_pairs: list[PairReport]


def as_json(result: Result) -> ExamReport:
    """The exam as one JSON object (`dlprof.exam/1`)."""
    return {
        "schema": "dlprof.exam/1",
        "cases": [
            {
                "name": answer.truth.name, "slug": answer.truth.slug, "backend": answer.truth.backend,
                "found": list(answer.found), "rank": answer.rank, "at_stake_ns": answer.at_stake_ns,
                "cost_ns": answer.cost_ns, "cost_doubt_ns": answer.doubt_ns, "error": answer.error,
                "line_found": answer.line_found, "failed": answer.failed,
            }
            for answer in result.answers
        ],
        "rules": rows(result),
        "machine_spread": result.spread,
        "clean_pairs": [
            {"name": pair.name, "gap_ns": pair.gap_ns, "findings": list(pair.findings),
             "false_alarm": pair.false_alarm, "failed": pair.failed}
            for pair in result.pairs
        ],
    }  # fmt: skip


def as_markdown(result: Result) -> str:
    """The exam as two tables: rules, and cases."""
    lines = [
        "| rule | cases | first | found | precision | mean rank | median error | within 20 % |",
        "| --- " + "| ---: " * 7 + "|",
    ]
    for row in rows(result):
        cells = [
            row.slug, str(row.cases), str(row.first), _percent(row.recall), _percent(row.precision),
            "-" if row.rank is None else f"{row.rank:.1f}", _percent(row.error), _percent(row.within),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| case | backend | planted | first finding | rank | cost (s) | ± | at stake (s) | error | line |",
              "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"]  # fmt: skip
    lines += [_case(answer) for answer in result.answers]
    if result.spread is not None:
        longer = _percent(result.spread)
        lines += [
            "",
            f"The same work took up to {longer} longer at one time than at another, the extreme tenths left out.",
        ]
    alarms = [pair for pair in result.pairs if pair.false_alarm]
    if result.pairs:
        lines += [
            "",
            f"Clean pairs: {len(result.pairs)}, with a finding above {FALSE_SHARE:.0%} of wall: {len(alarms)}.",
        ]
        lines += [
            f"- {pair.name}: {', '.join(f'{slug} {share:.0%}' for slug, share in pair.findings)}" for pair in alarms
        ]
    return "\n".join(lines) + "\n"


def _case(answer: Answer) -> str:
    times = (answer.cost_ns, answer.doubt_ns, answer.at_stake_ns)
    seconds = ["-" if ns is None else f"{ns / 1e9:.2f}" for ns in times]
    line = {None: "-", True: "yes", False: "no"}[answer.line_found]
    first = f"failed: {answer.failed}" if answer.failed else answer.found[0] if answer.found else "nothing"
    cells = [
        answer.truth.name, answer.truth.backend, answer.truth.slug, first, str(answer.rank or "-"), *seconds,
        "-" if answer.error is None else f"{answer.error:+.0%}", line,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"
