"""The page of a run of ranks in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dlprof.report.html import ranks_page
from tests.integration.shown_pages import Shown, show
from tests.unit.analysis.test_rank_pairs import compared
from tests.unit.report.html.test_ranks_page import page_of_ranks

pytestmark = pytest.mark.integration


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Shown]:
    """The page of two ranks, of which the second does 7 ms of 20 more."""
    found = show(browser, tmp_path, page_of_ranks(tmp_path / "run", {0: 5, 1: 12}))
    yield found
    found.page.close()


def test_the_map_the_bars_and_the_timelines_are_drawn(shown: Shown) -> None:
    """Without a word, and without a request."""
    assert shown.said == []
    assert len(shown.asked_for) == 1
    assert shown.page.locator("html").get_attribute("data-ready") == "yes"
    for chart in (".heat", "#rank-chart", ".timeline .chart"):
        assert shown.page.locator(f"{chart} canvas").count() == 1


def test_a_cell_tells_rank_step_and_parts(shown: Shown) -> None:
    """Own work is 12 ms of rank 0 and 19 of rank 1: the median of the two lies with the second."""
    assert shown.page.evaluate("dlprofPage.heats[0].lines({row: 0, column: 6})")[:4] == [
        "rank 0, step 7", "20.0 ms with the wait for the batch", "own work: 12.0 ms (60.0 %)",
        "waiting for later ranks: 7.00 ms (35.0 %)",
    ]  # fmt: skip
    assert "7.00 ms less own work than the median rank here" in shown.page.evaluate(
        "dlprofPage.heats[0].lines({row: 0, column: 6})"
    )


def test_keys_go_from_cell_to_cell_and_into_the_timelines(shown: Shown) -> None:
    """The seventh step of the second rank, 20 ms after 2.12 s, with as much around it."""
    heat = shown.page.locator(".heat")
    heat.focus()
    for key in ("ArrowDown", *["ArrowRight"] * 6):
        shown.page.keyboard.press(key)
    shown.page.keyboard.press("Enter")
    shown.settle()
    assert shown.text("#heat-chosen").startswith("rank 1, step 7 — 20.0 ms")
    assert shown.window() == pytest.approx((2.1e9, 2.16e9), abs=1e6)


def test_the_colour_tells_what_is_chosen(shown: Shown) -> None:
    """The whole step in place of own work."""
    assert shown.page.evaluate("dlprofPage.heats[0].figure") == "own"
    shown.page.locator("#heat-figure").select_option("wait")
    assert shown.page.evaluate("[dlprofPage.heats[0].figure, dlprofPage.heats[0].scale[0]]") == ["wait", 0]


def test_two_runs_share_a_scale(browser: Any, tmp_path: Path) -> None:
    """From 12 ms of own work on."""
    found = show(browser, tmp_path, ranks_page.make_pair(compared(tmp_path / "runs")))
    scales = found.page.evaluate("dlprofPage.heats.map(one => one.scale)")
    assert found.said == []
    assert scales[0] == scales[1]
    assert scales[0][0] == pytest.approx(12e6, rel=0.001)
    found.page.close()
