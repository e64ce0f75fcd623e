"""Runs and comparisons as a few lines of HTML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import dlprof
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.analysis.findings.title import Title
from dlprof.notebook import html
from dlprof.notebook.views import ComparisonView, RunView
from dlprof.schema.vocabulary import Basis
from tests.unit import runs
from tests.unit.runs import S

HOSTILE = "<script>alert('x')</script>\"&\x1b[31m\x00$x_1$é" + "y" * 10_000


def test_the_page_of_a_run_begins_with_the_answer(trained: RunView) -> None:
    """The sentence, then the bar, then the steps."""
    page = trained._repr_html_()

    assert (
        "The 10.0 s went to fit 6.00 s (60.0 %), import 2.00 s (20.0 %), teardown 2.00 s (20.0 %); the largest" in page
    )
    assert page.index("fit 6.00 s") < page.index("class='bar'") < page.index("<table>")
    assert "<span style='width:50.00%;background:#0072b2' title='fit.steps: 5.00 s'>fit.steps</span>" in page
    assert "fit.callbacks 1.00 s (10.0 %)" in page


def test_the_page_is_small_and_needs_nothing_from_elsewhere(trained: RunView) -> None:
    """No script, no link, no colour of its own for the text."""
    page = trained._repr_html_()

    assert len(page) < 10_000
    assert not [word for word in ("<script", "http", "src=", "@import", "background:#fff") if word in page]


def test_texts_from_a_run_come_out_as_text(tmp_path: Path) -> None:
    """Names of scripts, arguments, phases, loops and what health says, each hostile."""
    told = runs.manifest(command={"script": HOSTILE, "module": None, "program": None, "argv": [HOSTILE]})
    runs.trained(
        tmp_path / "a",
        told,
        phases=[{"phase": HOSTILE, "parent": None, "dur_ns": 10 * S, "count": 1}],
        steps=runs.steps(20, loop=HOSTILE),
        health=[{"slug": "x", "severity": "error", "message": HOSTILE, "count": 1}],
    )
    page = dlprof.open(tmp_path / "a")._repr_html_()

    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&quot;&amp;") >= 4
    assert "\x1b" not in page
    assert "\x00" not in page
    assert len(page) < 20_000


@pytest.mark.parametrize(
    ("confidence", "heading", "told"),
    [
        (0.8, "<b>Slow</b>", "less. (confidence 80 %; nine in ten like it cost 1.00 s to 3.00 s)"),
        (0.4, "<b>Perhaps: Slow</b>", "less. (confidence 40 %)"),
    ],
)
def test_a_finding_says_how_sure_it_is(confidence: float, heading: str, told: str, trained: RunView) -> None:
    """False before: what is only asked elsewhere stood in a notebook as a fact."""
    plain = Finding("s", "It costs.", S, 0.1, (S, 3 * S), Basis.MEASURED, None, None, (), "less.")
    finding = replace(plain, confidence=confidence, title=Title("Slow", "slow"))
    page = html.of_run(trained.report, Diagnosis((finding,), (), 10 * S))

    assert heading in page
    assert told in page


def test_claims_and_places_of_findings_come_out_as_text(trained: RunView) -> None:
    """A finding carries names of files and functions."""
    finding = Finding("s", HOSTILE, S, 0.1, None, Basis.MEASURED, HOSTILE, 3, (), HOSTILE)

    page = html.of_run(trained.report, Diagnosis((finding,) * 4, (), 10 * S))

    assert "<script" not in page
    assert page.count("<li>") == 3
    assert "and 1 more: findings()" in page


def test_names_in_a_comparison_come_out_as_text(tmp_path: Path) -> None:
    """Labels are names of folders."""
    for name in ("<b>one<b>", "<b>two<b>"):
        runs.trained(tmp_path / name)
    page = dlprof.compare(tmp_path / "<b>one<b>", tmp_path / "<b>two<b>")._repr_html_()

    assert "<b>one<b>" not in page
    assert "&lt;b&gt;one&lt;b&gt;" in page


def test_the_page_of_a_comparison_draws_what_takes_longer_to_the_right(pair: ComparisonView) -> None:
    """Orange to the right where A takes longer."""
    page = pair._repr_html_()

    assert "a took 10.0 s, b 6.00 s: a is 1.67 x slower than b, by 4.00 s, most of it in fit/steps (4.00 s)." in page
    assert "<td>fit/steps</td><td>5.00 s</td><td>1.00 s</td><td>+4.00 s</td><td></td>" in page
    assert "<div style='margin-left:50.0%;width:50.0%;background:#d55e00'></div>" in page


def test_the_verdict_is_that_of_the_text_report(trained: RunView) -> None:
    """One sentence in one place."""
    assert trained.report.verdict in trained._repr_html_()
    assert trained.report.verdict.startswith("The 10.0 s went to fit 6.00 s (60.0 %)")


@pytest.mark.parametrize(
    ("process", "said"),
    [
        ({"exit_code": None, "signal": 9}, "killed (SIGKILL)"),
        ({"exit_code": None, "signal": None}, "how it ended is not known"),
        ({"exit_code": 3, "signal": None}, "exit code 3"),
    ],
)
def test_the_page_says_how_the_run_ended(process: dict[str, int | None], said: str, tmp_path: Path) -> None:
    """By a signal, with an exit code, or not known."""
    runs.trained(tmp_path / "a", runs.manifest(process={"pid": 42, "wall_ns": 10 * S, **process}))

    assert f"; {said};" in dlprof.open(tmp_path / "a")._repr_html_()


def test_an_imported_run_has_no_exit_and_no_verdict(tmp_path: Path) -> None:
    """Nothing was run."""
    runs.trained(tmp_path / "a", runs.manifest(state="imported"))

    page = dlprof.open(tmp_path / "a")._repr_html_()

    assert "; imported;" in page
    assert "A train step takes" not in page


def test_a_run_of_which_nothing_is_known_has_no_bar(tmp_path: Path) -> None:
    """Nor a table of steps."""
    runs.make(tmp_path / "a", runs.manifest(process={"pid": 42, "exit_code": 0, "signal": None, "wall_ns": None}))

    page = dlprof.open(tmp_path / "a")._repr_html_()

    assert "class='bar'" not in page
    assert "<table>" not in page


def test_a_run_without_causes_says_so(trained: RunView) -> None:
    """In one sentence."""
    page = html.of_run(trained.report, Diagnosis((), (), 10 * S))

    assert "No cause of lost time was found." in page


def test_a_comparison_whose_a_is_faster_names_the_other_way_round(pair: ComparisonView) -> None:
    """Causes are those of the slower one."""
    a, b = pair.comparison.b, pair.comparison.a
    turned = dlprof.compare(str(a.runs[0].folder.path), str(b.runs[0].folder.path))

    assert "compare(b, a) names the causes of what takes longer in B." in turned._repr_html_()
