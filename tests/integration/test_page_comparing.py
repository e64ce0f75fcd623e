"""Pages of comparisons and of folders in a real browser: what they show, for everybody, and on paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dlprof.history import page as history_page
from dlprof.report import run_index
from dlprof.report.html import index_page
from dlprof.store.run import Run
from tests import axe
from tests.integration.shown_pages import Shown, rich, show
from tests.unit.history.test_tables import FOUND
from tests.unit.report.html.pages import page_of_both
from tests.unit.runs import S, trained

pytestmark = pytest.mark.integration


def sampled(run: Run, path: Path, seconds: float) -> Run:
    """A like run whose stack was seen for so long, and one call of it on this side only."""
    names: dict[str, Any] = {name: run.rows(name) for name in ("frames", "lines", "steps", "spans", "phases")}
    names["frames"] += [{**row, "stack_id": 2} for row in names["frames"][:2]]
    names["frames"].append({**names["frames"][0], "stack_id": 2, "depth": 2, "function": "extra", "file": "keras/c.py"})
    rows = [
        {"thread_id": 1, "thread": "MainThread", "start_ns": 3 * S, "dur_ns": int(seconds * S), "stack_id": 1},
        {"thread_id": 1, "thread": "MainThread", "start_ns": 6 * S, "dur_ns": S // 2, "stack_id": 2},
    ]
    return trained(path, stacks=rows, **names)


def both(folder: Path) -> str:
    """A comparison with everything, of which the frames differ."""
    a = rich(folder / "a", 1.7)
    return page_of_both(a, sampled(a, folder / "b", 2))


def folder(path: Path) -> str:
    """Twenty runs and a damaged one."""
    for n in range(20):
        trained(path / "runs" / f"run-{n:02d}")
    (path / "runs" / "bad").mkdir()
    (path / "runs" / "bad" / "manifest.json").write_text("{")
    index = run_index.of_folder(path / "runs")
    return index_page.make(index, {"run-03": "run-03/report.html"})


def over_commits(_path: Path) -> str:
    """A history with a change."""
    return history_page.make(FOUND)


PAGES: list[Callable[[Path], str]] = [both, folder, over_commits]


@pytest.fixture
def compared(browser: Any, tmp_path: Path) -> Iterator[Shown]:
    """The page of a comparison."""
    shown = show(browser, tmp_path, both(tmp_path))
    yield shown
    shown.page.close()


@pytest.fixture
def listed(browser: Any, tmp_path: Path) -> Iterator[Shown]:
    """The page of a folder."""
    shown = show(browser, tmp_path, folder(tmp_path))
    yield shown
    shown.page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(browser: Any, tmp_path: Path, page: Callable[[Path], str], theme: str) -> None:
    """All details open; and the page says nothing on the console."""
    shown = show(browser, tmp_path, page(tmp_path), color_scheme=theme)
    assert axe.violations(shown.page) == []
    assert shown.said == []
    shown.page.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_narrow_page_does_not_scroll_sideways(browser: Any, tmp_path: Path, page: Callable[[Path], str]) -> None:
    """On 360 pixels; wide tables scroll by themselves."""
    shown = show(browser, tmp_path, page(tmp_path))
    shown.page.set_viewport_size({"width": 360, "height": 740})
    shown.settle()
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 360
    shown.page.close()


@pytest.mark.parametrize(("page", "most"), [(both, 7), (folder, 2)])
def test_a_page_is_printed_on_few_sheets(browser: Any, tmp_path: Path, page: Callable[[Path], str], most: int) -> None:
    """As many as its content takes."""
    shown = show(browser, tmp_path, page(tmp_path))
    shown.page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) <= most
    shown.page.close()


def test_a_comparison_fits_some_screens(compared: Shown) -> None:
    """It was 26,600 px once, nearly all of it rows that do not differ."""
    assert compared.page.evaluate("document.documentElement.scrollHeight") < 6000


def test_a_flame_graph_has_the_width_of_the_chosen_side(compared: Shown) -> None:
    """A call that was seen on one side only is drawn only there."""
    drawn = "dlprofPage.flames.nodes.map(node => [node[3], node[2]])"
    compared.page.select_option("#flame-fold", "a")
    assert "extra" not in [name for name, _ in compared.page.evaluate(drawn)]
    compared.page.select_option("#flame-fold", "b")
    assert ["extra", S // 2] in compared.page.evaluate(drawn)


def test_frames_have_the_colour_of_the_side_that_takes_longer(compared: Shown) -> None:
    """A took 4 s in `fit`, B 2 s; `extra` only B."""
    colour = "name => { const f = dlprofPage.flames; return f.colourOf(f.nodes.find(node => node[3] === name)); }"
    compared.page.select_option("#flame-fold", "b")
    assert compared.page.evaluate(colour, "fit") == "#e58a45"
    assert compared.page.evaluate(colour, "extra") == "#56a5d8"


def test_runs_sort_and_filter(listed: Shown) -> None:
    """By a click on a heading, and by words."""
    names = "[...document.querySelectorAll('#runs tbody tr:not([hidden])')].map(row => row.cells[0].textContent)"
    listed.page.locator("#runs th button").first.click()
    assert listed.page.evaluate(names)[0] == "run-00"
    listed.page.locator("#runs input[type=search]").fill("run-07")
    assert listed.page.evaluate(names) == ["run-07"]


def test_a_folder_draws_a_point_for_each_run(listed: Shown) -> None:
    """Of the wall time and of the step; the damaged run is named."""
    assert listed.page.locator("#trends circle").count() == 40
    assert "bad" in listed.text("#damaged")
