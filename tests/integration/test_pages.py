"""Pages in a real browser: they load nothing, run no one's script, and can be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dlprof.store.run import Run
from tests.integration.shown_pages import Shown, rich, show
from tests.unit.report.html.pages import HOSTILE, embedded, named, page_of, page_of_both
from tests.unit.runs import MS, S, dlprof, lasting

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with everything."""
    return rich(tmp_path_factory.mktemp("runs") / "rich")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same, with a slower convolution, and 4 s longer."""
    made = rich(tmp_path_factory.mktemp("runs") / "slower", 1.2)
    return lasting(made, 14 * S)


@pytest.fixture
def shown(browser: Any, tmp_path: Path, run: Run) -> Iterator[Shown]:
    """The run's page."""
    found = show(browser, tmp_path, page_of(run))
    yield found
    found.page.close()


def test_a_page_says_nothing_and_asks_for_nothing(shown: Shown) -> None:
    """No console message, no request but that for the file itself; all charts are drawn."""
    assert shown.said == []
    assert [url for url in shown.asked_for if not url.startswith("file:")] == []
    assert len(shown.asked_for) == 1
    assert shown.page.locator("html").get_attribute("data-ready") == "yes"
    for chart in ("phase-chart", "step-chart", "flame-chart", "layer-chart", "memory-chart"):
        assert shown.page.locator(f"#{chart} canvas").count() == 1


def test_memory_is_drawn_on_the_axis_of_the_timeline(shown: Shown) -> None:
    """The stretch that this shows; a moment tells what there was, and in which phase."""
    shown.page.evaluate("dlprofPage.timelines[0].show(2e9, 5e9, 0)")
    shown.settle()

    assert shown.page.evaluate("[dlprofPage.memory.from, dlprofPage.memory.to]") == list(shown.window())
    assert shown.page.evaluate("dlprofPage.memory.lines(4.5e9)") == [
        "4.5 s: 400 MB", "in fit.steps", "nearby the main thread stood at train.py:7",
    ]  # fmt: skip


def test_the_figures_are_those_of_the_json(shown: Shown, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """What the page carries, what it shows, and what the command prints."""
    capsys.readouterr()
    assert dlprof("report", run.folder.path, "--json", "--top", 25) == 0
    report = json.loads(capsys.readouterr().out)

    assert embedded(shown.page.content(), "report.json") == report
    assert shown.text("#figure-wall") == "10.0 s"
    assert report["wall_ns"] == 10 * S
    assert shown.text("td[data-phase='fit']") == "6.00 s"


def test_keys_zoom_and_pan_the_time_line(shown: Shown) -> None:
    """Plus halves what is shown, an arrow moves it by a fifth, 0 shows all."""
    shown.page.locator(".timeline .chart").focus()
    assert shown.window() == (0, 10 * S)
    shown.page.keyboard.press("+")
    shown.settle()
    assert shown.window() == pytest.approx((2.5 * S, 7.5 * S), abs=0.02 * S)
    shown.page.keyboard.press("ArrowRight")
    shown.settle()
    assert shown.window() == pytest.approx((3.5 * S, 8.5 * S), abs=0.02 * S)
    shown.page.keyboard.press("0")
    shown.settle()
    assert shown.window() == pytest.approx((0, 10 * S), abs=0.02 * S)


def test_a_search_counts_its_matches_and_goes_to_them(shown: Shown) -> None:
    """Ten kernels of 9 ms; the first one begins at 3 s, the second one 20 ms later."""
    shown.page.locator(".timeline .search").fill("conv2d")
    assert shown.text(".timeline .matches") == "10 events, 90.0 ms"
    shown.page.keyboard.press("Enter")
    shown.settle()
    begin, end = shown.window()
    assert begin < 3 * S < 3 * S + 9 * MS < end < 3 * S + 100 * MS
    assert shown.text(".timeline .chosen").startswith("conv2d — operator, conv, conv_1, forward — 9.00 ms")
    shown.page.keyboard.press("Enter")
    shown.settle()
    assert shown.window()[0] - begin == pytest.approx(20 * MS, abs=MS)


def test_a_search_without_a_match_says_so(shown: Shown) -> None:
    """And not 0 events of something."""
    shown.page.locator(".timeline .search").fill("nothing like this")
    assert shown.text(".timeline .matches") == "no event"


def test_a_click_tells_what_an_event_is(shown: Shown) -> None:
    """The first row below the heading are the phases; in the middle of the run there is fit."""
    chart = shown.page.locator(".timeline .chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    shown.page.mouse.click(box["x"] + 230 + (box["width"] - 246) * 0.5, box["y"] + 8 + 17 + 8)
    assert shown.text(".timeline .chosen").startswith("fit — 6.00 s")


def test_a_stretch_can_be_chosen_by_name(shown: Shown) -> None:
    """The import, with a margin of 5 %."""
    shown.page.locator(".timeline .jump").select_option(label="import")
    shown.settle()
    assert shown.window() == pytest.approx((0, 2.1 * S), abs=0.02 * S)


def test_a_line_shows_time_samples_and_kernels(shown: Shown) -> None:
    """Line 2 made the layer conv_1, whose kernels took 9 of 15 ms of a step; line 7 stood on the stack for 4 s."""
    cells = shown.page.locator("#L-train_2e_py-2 td").all_inner_texts()
    assert cells[:4] == ["2", "1", "2.00 s", ""]
    assert cells[4].endswith(" s")
    assert shown.page.locator("#L-train_2e_py-7 td").all_inner_texts()[3] == "4.00 s"


def test_what_is_not_in_sight_is_not_drawn(shown: Shown) -> None:
    """During the import no kernel ran: their row is empty then, though it was full before."""
    drawn = """() => {
        const line = dlprofPage.timelines[0], row = line.labels.findIndex(label => label.startsWith('host operators:'));
        const canvas = line.element.querySelector('canvas'), ratio = canvas.width / canvas.clientWidth;
        const y = (line.grids[0].top + 17 * row + 8) * ratio, width = canvas.width - 270 * ratio;
        const pixels = canvas.getContext('2d').getImageData(240 * ratio, y, width, 1).data;
        const colours = new Set();
        for (let i = 0; i < pixels.length; i += 4) colours.add(pixels.slice(i, i + 3).join());
        return colours.size;
    }"""
    assert shown.page.evaluate(drawn) > 3
    shown.page.locator(".timeline .jump").select_option(label="import")
    shown.settle()
    assert shown.page.evaluate(drawn) <= 3  # nothing but the lines of the axis


def test_a_flame_graph_can_be_searched(shown: Shown) -> None:
    """Time under the frames that match, once."""
    shown.page.locator("#flame-search").fill("work")
    assert shown.text("#flame-matches") == "1 frames, 4.00 s, 100.0 % of the phase"


def test_the_theme_can_be_changed(shown: Shown) -> None:
    """From the system's to the other one, and the charts with it."""
    assert shown.page.locator("html").get_attribute("data-theme") == "light"
    shown.page.locator("#theme").click()
    assert shown.page.locator("html").get_attribute("data-theme") == "dark"
    assert shown.said == []


def test_a_dark_system_gets_a_dark_page(browser: Any, tmp_path: Path, run: Run) -> None:
    """Without a click."""
    shown = show(browser, tmp_path, page_of(run), color_scheme="dark")
    assert shown.page.locator("html").get_attribute("data-theme") == "dark"
    shown.page.close()


def test_a_comparison_zooms_both_sides_together(browser: Any, tmp_path: Path, run: Run, slower: Run) -> None:
    """Until the reader says otherwise; both have one scale, that of the longer run."""
    shown = show(browser, tmp_path, page_of_both(slower, run))
    assert shown.said == []
    assert shown.window(0) == shown.window(1) == (0, 14 * S)
    shown.page.locator(".timeline .chart").first.focus()
    shown.page.keyboard.press("+")
    shown.settle()
    assert shown.window(1) == pytest.approx((3.5 * S, 10.5 * S), abs=0.03 * S)
    shown.page.locator("#together").uncheck()
    shown.page.locator(".timeline .chart").first.focus()
    shown.page.keyboard.press("0")
    shown.settle()
    assert shown.window(0) == pytest.approx((0, 14 * S), abs=0.03 * S)
    assert shown.window(1) == pytest.approx((3.5 * S, 10.5 * S), abs=0.03 * S)
    shown.page.close()


def test_a_comparison_shows_the_gap_of_its_json(browser: Any, tmp_path: Path, run: Run, slower: Run) -> None:
    """4 s."""
    shown = show(browser, tmp_path, page_of_both(slower, run))
    assert shown.text("#figure-gap") == "4.00 s"
    assert embedded(shown.page.content(), "compare.json")["gap_ns"] == 4 * S
    assert shown.page.locator("#waterfall-chart canvas").count() == 1
    shown.page.close()


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_runs_as_a_script(browser: Any, tmp_path: Path, name: str) -> None:
    """Not in the page, and not in the charts' labels and tips."""
    bad = named(tmp_path / "r", name)
    for text in (page_of(bad), page_of_both(bad, bad)):
        shown = show(browser, tmp_path, text)
        chart = shown.page.locator(".timeline .chart").first
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for row in range(5):
            shown.page.mouse.move(box["x"] + 700, box["y"] + 16 + 17 * row)
        shown.page.locator(".timeline .search").first.fill(name[:100])
        shown.settle()
        assert shown.said == []
        assert len(shown.asked_for) == 1
        shown.page.close()
