"""The page of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

from dlprof.analysis import compare
from dlprof.analysis.compare import Side
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.report import compare_json
from dlprof.report.html import comparison_page
from dlprof.report.json_text import plain
from dlprof.schema.vocabulary import Basis, Whole
from tests.unit.report.html.pages import Elements, embedded, page_of_both, unpacked
from tests.unit.runs import S, lasting, phases, steps, trained


def test_a_comparison_carries_its_json(tmp_path: Path) -> None:
    """The same object as `dlprof compare --json`."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b")
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    assert embedded(page_of_both(a, b), "compare.json") == json.loads(
        json.dumps(plain(compare_json.as_json(found, [])))
    )


def test_a_faster_side_is_not_said_to_be_slower(tmp_path: Path) -> None:
    """The other one is."""
    a = trained(tmp_path / "a")
    b = lasting(trained(tmp_path / "b", phases=phases(fit_steps=10, fit_callbacks=1, teardown=2)), 15 * S)
    text = Elements(page_of_both(a, b)).text
    assert "Why b is slower" in text
    assert "Why a is slower" not in text


def test_an_interval_over_runs_is_shown_as_what_it_is(tmp_path: Path) -> None:
    """Of one run it is what causes like it cost."""
    a = lasting(trained(tmp_path / "a", phases=phases(fit_steps=10, fit_callbacks=1, teardown=2)), 15 * S)
    found = compare.compare(Side("a", (a,)), Side("b", (trained(tmp_path / "b"),)))
    finding = Finding(
        "s", "It costs.", S, 0.5, (S // 2, 2 * S), Basis.MEASURED, None, None, (), "Do less.", confidence=0.8
    )
    page = comparison_page.make(found, [], Diagnosis((finding,), (), 2 * S, Whole.GAP), of_b=None)
    shown = " ".join(Elements(page).text.split())

    assert "95 % 500 ms to 2.00 s" in shown
    assert "nine in ten" not in shown


def test_parts_that_differ_are_named_and_diagnosed_in_both_directions(tmp_path: Path) -> None:
    """Though the wall times are alike."""
    a = trained(tmp_path / "a", phases=phases(fit_steps=6, fit_callbacks=1, teardown=3))
    b = trained(tmp_path / "b", phases=phases(fit_steps=8, fit_callbacks=1, teardown=1))
    text = Elements(page_of_both(a, b)).text
    assert "no difference beyond noise as a whole, but parts differ beyond it: a takes longer in teardown" in text
    assert "What takes longer in a" in text
    assert "What takes longer in b" in text


def test_parts_that_no_side_has_are_left_out_and_small_ones_folded(tmp_path: Path) -> None:
    """40 ms of 10 s is less than 0.5 %."""
    both = [trained(tmp_path / name, phases=phases(fit_steps=6, save=0.04, data=0, teardown=3)) for name in "ab"]
    text = page_of_both(*both)
    assert "1 smaller parts" in Elements(text).text
    assert "<td>data</td>" not in text
    assert text.count("<td>save</td>") == 1


def test_the_waterfall_sums_to_the_gap(tmp_path: Path) -> None:
    """From B's wall time to A's."""
    a, b = trained(tmp_path / "a"), trained(tmp_path / "b", steps=steps(125))
    b = lasting(b, 7 * S)
    content, _ = unpacked(page_of_both(a, b))
    assert sum(part["delta_ns"] for part in content["waterfall"]) == 3 * S
    assert content["walls_ns"] == [10 * S, 7 * S]
