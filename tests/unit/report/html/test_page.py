"""What holds for every page."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from tests.unit.report.html.pages import HOSTILE, Elements, named, page_of, page_of_both
from tests.unit.runs import trained


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stand_in_a_page_as_text(tmp_path: Path, name: str) -> None:
    """No name makes an element, an attribute or a script."""
    run = named(tmp_path / "r", name)
    plain = named(tmp_path / "p" / "r", "plain")
    for text, usual in ((page_of(run), page_of(plain)), (page_of_both(run, run), page_of_both(plain, plain))):
        tags = [(tag, sorted(attributes)) for tag, attributes in Elements(text).found]

        assert tags == [(tag, sorted(attributes)) for tag, attributes in Elements(usual).found]
        assert "onerror" not in {key for _, keys in tags for key in keys}
        assert "onload" not in {key for _, keys in tags for key in keys}


def test_a_name_is_shown_as_it_is(tmp_path: Path) -> None:
    """What a browser makes of the escaped text is the name."""
    text = page_of(named(tmp_path / "r", HOSTILE[1]))
    assert HOSTILE[1] in Elements(text).text
    assert html.escape(HOSTILE[1], quote=False) in text


def test_a_page_names_no_other_place(tmp_path: Path) -> None:
    """No element loads anything."""
    for tag, attributes in Elements(page_of(trained(tmp_path / "r"))).found:
        for key in ("src", "srcset", "href", "action", "data", "poster"):
            value = attributes.get(key) or ""
            assert value.startswith(("#", "data:,")) or not value, (tag, key, value)
