"""Figures as text."""

from __future__ import annotations

import pytest

from dlprof import units
from tests.unit.runs import MS, S


@pytest.mark.parametrize(
    ("ns", "expected"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_500, "1.50 µs"),
        (12_340_000, "12.3 ms"),
        (999_900_000, "1.00 s"),
        (61e9, "61.0 s"),
        (3_725e9, "1 h 02 min"),
    ],
)
def test_durations_have_three_digits_and_a_unit(ns: float | None, expected: str) -> None:
    """No figure without its unit."""
    assert units.duration(ns) == expected


def test_strips_show_gaps_as_blanks() -> None:
    """Not measured is not idle."""
    assert units.strip([0, 50, 100, None]) == "▁▅█ "


@pytest.mark.parametrize(
    ("ns", "text"), [(-700 * S, "-11 min 40 s"), (-7200 * S, "-2 h 00 min"), (-5 * MS, "-5.00 ms")]
)
def test_times_below_zero_are_those_above_with_a_sign(ns: int, text: str) -> None:
    """Also from ten minutes on."""
    assert units.duration(ns) == text


@pytest.mark.parametrize(("encoding", "expected"), [("ascii", b"2.00 us - ? ."), ("latin-1", b"2.00 \xb5s - ? .")])
def test_a_stream_that_is_not_of_utf_8_spells_what_it_lacks(encoding: str, expected: bytes) -> None:
    """Signs of our own in ASCII, others as a question mark."""
    assert f"{units.duration(2000)} − 日 …".encode(encoding, units.SPELLED) == expected


def test_a_text_that_is_cut_says_so() -> None:
    """And one that fits is as it was."""
    assert [units.cut("dgrad_engine<float, 512>", 20), units.cut("sgemm", 20)] == ["dgrad_engine<float,…", "sgemm"]


@pytest.mark.parametrize(("count", "text"), [(0, "0 passes"), (1, "1 pass"), (2000, "2,000 passes")])
def test_a_number_stands_with_its_noun(count: int, text: str) -> None:
    """One is no plural."""
    assert units.counted(count, "pass", "passes") == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 times"), (1, "once"), (2000, "2,000 times")])
def test_how_often_is_said_in_words(count: int, text: str) -> None:
    """Nobody says `1 times`."""
    assert units.times(count) == text


def test_a_noun_without_a_plural_of_its_own_has_an_s() -> None:
    """As most have."""
    assert units.counted(3, "train step") == "3 train steps"
