"""The search of the documentation's site, as it is read offline: `.ci/docs` builds it, then `pytest` of this file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import questions

DOCS = Path(__file__).parents[2] / "docs"
SITE = DOCS / "_build" / "html"
QUESTIONS = questions.of_index((DOCS / "index.md").read_text(encoding="utf-8"))

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    """A tab of the browser; skipped where the site was not built."""
    if not (SITE / "searchindex.js").is_file():
        pytest.skip("the site is not built (.ci/docs)")
    made = browser.new_page(viewport={"width": 1280, "height": 900})
    yield made
    made.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_of_the_index_finds_its_page_first(page: Any, question: str) -> None:
    """Typed into the field beside every page."""
    page.goto((SITE / "index.html").as_uri())
    page.fill("input[name=q]", question)
    page.press("input[name=q]", "Enter")

    first = page.wait_for_selector("ul.search li a")

    assert first.get_attribute("href").partition("#")[0].partition("?")[0] == f"{QUESTIONS[question]}.html"
