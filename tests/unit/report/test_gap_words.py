"""The gap in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dlprof.analysis import compare
from dlprof.analysis.compare import Comparison, Item, Side
from dlprof.analysis.parity import Parity
from dlprof.report import gap_words
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Loop
from dlprof.store.run import Run
from tests.unit.runs import MS, S, intervals, lasting, make, manifest, trained


def item(path: str, a_ns: int, b_ns: int, *, noise: bool = False) -> Item:
    """A part of both sides."""
    return Item(path=TreePath(path), a_ns=a_ns, b_ns=b_ns, ci_ns=None, noise=noise)


FIT = item("fit/steps", 6 * S, 2 * S)
IMPORT = item("import", S, 2 * S)
SMALL = item("teardown", 10 * MS, 20 * MS, noise=True)
BRIEF = item("save", 30 * MS, 10 * MS)


@pytest.fixture
def gap(tmp_path: Path) -> Comparison:
    """A of 10 s, B of 7 s."""
    a, b = trained(tmp_path / "a"), lasting(trained(tmp_path / "b"), 7 * S)
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    return replace(found, items=(FIT, IMPORT, SMALL), noise=False)


def test_the_gap_and_its_parts_are_told_in_both_directions(gap: Comparison) -> None:
    """What the faster side loses is said, too."""
    assert gap_words.verdict(gap) == (
        "a took 10.0 s, b 7.00 s: a is 1.43 x slower than b, by 3.00 s, most of it in fit/steps (4.00 s); "
        "b takes longer in import (1.00 s)."
    )


def test_the_verdict_turns_round_when_b_is_slower(gap: Comparison) -> None:
    """A part that is less than half of the gap is not most of it."""
    turned = replace(gap, a_wall_ns=7 * S, b_wall_ns=10 * S, gap_ns=-3 * S)
    assert gap_words.verdict(turned) == (
        "a took 7.00 s, b 10.0 s: b is 1.43 x slower than a, by 3.00 s, with import (1.00 s); "
        "a takes longer in fit/steps (4.00 s)."
    )


def test_parts_that_differ_are_named_where_the_whole_does_not(gap: Comparison) -> None:
    """In both directions: no word of "no difference" alone stands above them."""
    assert gap_words.verdict(replace(gap, noise=True)) == (
        "a took 10.0 s, b 7.00 s: no difference beyond noise as a whole, but parts differ beyond it: "
        "a takes longer in fit/steps (4.00 s); b takes longer in import (1.00 s)."
    )


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ((SMALL,), "no difference beyond noise, neither as a whole nor in a part."),
        ((BRIEF, SMALL), "no difference beyond noise, but in parts that take less than 1 % of the time."),
    ],
)
def test_without_a_difference_that_is_said(gap: Comparison, items: tuple[Item, ...], text: str) -> None:
    """Parts that take next to nothing are not named."""
    assert gap_words.verdict(replace(gap, noise=True, items=items)).endswith(f": {text}")


def test_a_gap_without_a_cause_of_its_own_is_told_alone(gap: Comparison) -> None:
    """All parts are noise."""
    assert gap_words.verdict(replace(gap, items=(SMALL,))).endswith("slower than b, by 3.00 s.")


def test_of_many_parts_three_are_named(gap: Comparison) -> None:
    """And the others counted."""
    items = tuple(item(path, 2 * S, S) for path in ("fit/build", "fit/input", "fit/steps", "import", "save"))
    assert gap_words.verdict(replace(gap, items=items)).endswith(
        "most of it in fit/build (1.00 s), fit/input (1.00 s), fit/steps (1.00 s), 2 more."
    )


def test_what_is_not_comparable_is_not_called_slower(gap: Comparison) -> None:
    """It took longer; the work may have been another, and a ratio would mean nothing."""
    found = replace(gap, parity=Parity(("the models differ",), (), ()), items=())
    assert gap_words.verdict(found) == "a took 10.0 s, b 7.00 s: a took 3.00 s more than b."


def test_foreign_traces_have_steps_but_no_fit(gap: Comparison, tmp_path: Path) -> None:
    """Against an own run the name is that of the own run's part."""
    theirs = [make(tmp_path / name, manifest(state="imported")) for name in ("c", "d")]
    foreign = replace(gap, a=Side("c", (theirs[0],)), b=Side("d", (theirs[1],)))

    assert gap_words.name(foreign, FIT) == "steps"
    assert gap_words.name(replace(foreign, a=gap.a), FIT) == "fit/steps"


@pytest.mark.parametrize(("ns", "text"), [(S, "+1.00 s"), (-S, "-1.00 s"), (0, "0")])
def test_differences_have_their_sign(ns: int, text: str) -> None:
    """Also above 0."""
    assert gap_words.signed(ns) == text


LONG = "20261129-083913-torch_plain-torch"


def test_sides_with_long_names_are_called_a_and_b_in_sentences(gap: Comparison) -> None:
    """The heading above says which is which."""
    long = replace(gap, a=replace(gap.a, label=LONG))

    assert gap_words.verdict(long) == (
        "A took 10.0 s, B 7.00 s: A is 1.43 x slower than B, by 3.00 s, most of it in fit/steps (4.00 s); "
        "B takes longer in import (1.00 s)."
    )


def test_a_heading_that_stands_alone_says_what_a_and_b_are() -> None:
    """Only where they are called so."""
    assert gap_words.introduced(LONG, "torch") == (f"A ({LONG})", "B (torch)")
    assert gap_words.introduced("mxnet", "torch") == ("mxnet", "torch")


def test_a_side_that_is_called_like_its_run_is_named_once(gap: Comparison) -> None:
    """Runs that are called otherwise, or are several, are named behind it."""
    assert gap_words.heading("A", gap.a) == "A: a"
    assert gap_words.heading("B", Side("torch", (*gap.a.runs, *gap.b.runs))) == "B: torch  (a, b)"


def started(path: Path, import_s: int, waited_s: int) -> Run:
    """A run of 10 s whose import takes so long; its main thread computes for a second of it, and waits so long."""
    at = {"run_ns": S, "wait_ns": waited_s * S, "main_run_ns": S, "main_wait_ns": waited_s * S}
    rows = [{"time_ns": moment * S, "interval_ns": S, "rss_bytes": S, **at} for moment in (import_s, 9)]
    spans = intervals(("import", 0, import_s), ("fit.steps", import_s, 8), ("teardown", 8, 10))
    return trained(path, phase_intervals=spans, process_samples=rows)


def test_a_longer_start_is_told_by_what_the_main_thread_did(tmp_path: Path) -> None:
    """Of 3 s two without a core; where no start is longer, nothing is said."""
    a, b = started(tmp_path / "a", 5, 2), started(tmp_path / "b", 2, 0)
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))

    assert gap_words.starts(replace(found, items=(FIT,))) == ""
    assert gap_words.starts(replace(found, items=(item("import", 5 * S, 2 * S),))) == (
        "starting and ending: of +3.00 s the main thread computed 0, waited for a core +2.00 s, "
        "stood still (a disk, another process, a lock) +1.00 s"
    )


def test_steps_that_one_side_did_more_are_told(gap: Comparison) -> None:
    """With how many both did."""
    more = replace(gap, items=(replace(FIT, more_steps_ns=2 * S), IMPORT), steps={Loop.TRAIN: (600, 300)})

    assert gap_words.more_steps(gap) == ""
    assert gap_words.more_steps(more) == (
        "of the gap +2.00 s are steps that only one side did, at B's time for each: 600 and 300 of train"
    )
