"""What holds for every page."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from dlprof.report.html import page
from tests.unit.report.html.pages import HOSTILE, Elements, named, page_of, page_of_both
from tests.unit.runs import MS, S, trained


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


def test_a_time_that_is_not_known_is_a_dash() -> None:
    """Never 0."""
    assert [page._duration(ns) for ns in (1500, 0, None)] == ["1.50 µs", "0 ns", "\N{EN DASH}"]


def test_what_takes_next_to_nothing_has_no_colour() -> None:
    """Of 40 s: 546 ns and 33 ms are both pale, 5 s is not; more than the whole is no stronger than the whole."""
    whole = 40 * S
    assert [page._shade(ns, whole) for ns in (546, 33 * MS, 5 * S, 40 * S, 90 * S)] == [0, 0, 3, 8, 8]


def test_no_heading_of_a_table_is_empty(tmp_path: Path) -> None:
    """Also that of the bars says what they are."""
    text = page_of(trained(tmp_path / "r"))
    assert "<th></th>" not in text
    assert '<th class="meters"></th>' not in text
