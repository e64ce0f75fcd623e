"""Phases and findings in Markdown."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.export import markdown
from dlprof.schema.vocabulary import Basis
from tests.unit.export.run_of_everything import whole
from tests.unit.runs import S

FINDING = Finding("input-bound", "It waits.", S, 0.1, None, Basis.MEASURED, "train.py", 7, (), "Read faster.")


def test_phases_are_a_table(tmp_path: Path) -> None:
    """With their share of the run."""
    lines = markdown.phases(whole(tmp_path / "run")).splitlines()

    assert lines[:3] == ["|phase|time|% of the run|entries|", "|---|---:|---:|---:|", "|startup|2.00 s|20.0|1|"]


def test_findings_have_their_cost_and_what_they_explain() -> None:
    """And the line of the script, where one is known."""
    text = markdown.findings(Diagnosis((FINDING,), (), 10 * S))

    assert text.split("\n\n") == [
        "### 1\\. Input bound: 1.00 s, 10 % (measured)",
        "It waits\\.",
        "At train\\.py:7",
        "Read faster\\.",
        "These causes explain 1.00 s of 10.0 s (10.0 %).",
    ]


def test_a_run_without_findings_says_so() -> None:
    """In one sentence."""
    assert markdown.findings(Diagnosis((), (), 10 * S)) == "No cause worth mentioning was found."
