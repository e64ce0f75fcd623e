"""Pages for everybody: accessibility by axe, narrow screens, and paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dlprof.report.html import run_page
from dlprof.store.run import Run
from tests import axe
from tests.integration.shown_pages import launched, rich, show
from tests.unit.report.html.pages import page_of

pytestmark = pytest.mark.integration


def _own(folder: Path) -> str:
    return page_of(rich(folder / "own"))


def _imported(folder: Path) -> str:
    return run_page.make(launched(folder / "theirs"), None, "it is a trace of somebody else's")


PAGES: list[Callable[[Path], str]] = [_own, _imported]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(browser: Any, tmp_path: Path, page: Callable[[Path], str], theme: str) -> None:
    """Contrast, names, headings, tables: no violation of any weight, all details and lines open."""
    shown = show(browser, tmp_path, page(tmp_path), color_scheme=theme)
    assert axe.violations(shown.page) == []
    shown.page.close()


def test_axe_would_find_something(browser: Any, tmp_path: Path) -> None:
    """A button without a name, on the same page."""
    shown = show(browser, tmp_path, _imported(tmp_path))
    shown.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    (found,) = axe.violations(shown.page)
    assert found.startswith("critical button-name")
    shown.page.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_narrow_page_does_not_scroll_sideways(browser: Any, tmp_path: Path, page: Callable[[Path], str]) -> None:
    """On 360 pixels; wide tables scroll by themselves."""
    shown = show(browser, tmp_path, page(tmp_path))
    shown.page.set_viewport_size({"width": 360, "height": 740})
    shown.settle()
    assert shown.page.evaluate("document.documentElement.scrollWidth") == 360
    shown.page.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with everything."""
    return rich(tmp_path_factory.mktemp("runs") / "rich")


def test_a_dark_page_is_printed_light_and_is_dark_again(browser: Any, tmp_path: Path, run: Run) -> None:
    """As few pages as its content takes, and the charts are drawn for the width of paper."""
    shown = show(browser, tmp_path, page_of(run), color_scheme="dark")
    seen = """addEventListener('beforeprint', () => setTimeout(() => { window.told = [
        document.documentElement.dataset.theme, document.querySelector('#step-chart canvas').clientWidth]; }))"""
    shown.page.evaluate(seen)
    shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown.settle()
    assert shown.page.evaluate("window.told") == ["light", 700]
    shown.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.page.locator("html").get_attribute("data-theme") == "dark"
    shown.page.pdf(path=tmp_path / "page.pdf", format="A4")
    pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes()))
    assert 2 <= pages <= 7
    assert shown.said == []
    shown.page.close()
