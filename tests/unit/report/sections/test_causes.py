"""The findings of a run."""

from __future__ import annotations

import io
from typing import Any

from msgspec import structs

from dlprof.report.console import make_page
from dlprof.report.model import Cause
from dlprof.report.sections import causes
from tests.unit.report.reports import printed, report
from tests.unit.runs import S

CAUSE = Cause(
    "input-bound",
    "The training waited for its input",
    "It waits: 2.00 s.",
    2 * S,
    0.2,
    "measured",
    "train.py",
    7,
    "Prefetch.",
)


def shown(**changes: Any) -> list[str]:
    """The section of a run."""
    return printed(causes.all_findings, report(**changes))


def test_a_finding_has_its_title_its_cost_its_claim_and_what_to_do() -> None:
    """Its slug is small print, at the end."""
    assert shown(findings=(CAUSE,))[1:] == [
        "1. The training waited for its input  2.00 s, 20 %  input-bound",
        "   It waits: 2.00 s.",
        "   train.py:7  Prefetch.",
    ]


def test_a_finding_that_is_not_sure_enough_is_asked() -> None:
    """In the answer as in the diagnosis."""
    asked = structs.replace(CAUSE, confidence=0.21, is_question=True)

    assert shown(findings=(asked,))[1].startswith("1. Perhaps: The training waited for its input  2.00 s, 20 %")


def test_a_run_without_findings_says_so() -> None:
    """Which is not the same as one that cannot be diagnosed."""
    assert shown(findings=())[1:] == ["  No cause worth mentioning was found."]
    assert shown(findings=None)[1:] == ["  this run cannot be diagnosed"]


def test_causes_that_were_not_looked_for_are_counted() -> None:
    """There may be more."""
    lines = shown(findings=(CAUSE,), not_asked=("gpu-idle", "io-bound"))

    assert lines[-1] == "  2 kinds of causes were not looked for, for want of time"


def test_an_estimate_says_so() -> None:
    """In its cost."""
    assert causes.cost(2 * S, 0.2, "estimated") == "about 2.00 s, 20 %"


def test_a_long_title_is_folded() -> None:
    """With its cost and its slug."""
    title = "A very long title " * 9
    long = Cause("input-bound", title, "", 2 * S, 0.2, "measured", None, None, "Prefetch.")
    told = shown(findings=(long,))[1:]

    assert max(map(len, told)) <= 100
    assert " ".join(" ".join(told).split()).startswith(f"1. {title}2.00 s, 20 % input-bound ")


def test_a_title_is_cut_where_one_line_is_asked_for() -> None:
    """The cost and the slug stay."""
    long = Cause("input-bound", "A very long title " * 9, "", 2 * S, 0.2, "measured", None, None, "Prefetch.")
    (told,) = causes.lines_of(make_page(io.StringIO(), plain=True), 1, long, most=1)
    line = told.plain

    assert len(line) <= 100
    assert line.endswith(".  2.00 s, 20 %  input-bound")  # three dots in ASCII
