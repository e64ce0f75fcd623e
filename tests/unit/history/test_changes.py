"""Change points of a measure."""

from __future__ import annotations

import random
import sys

import pytest

from dlprof.errors import UnavailableError
from dlprof.history import changes


def drawn(*levels: tuple[int, float], repeat: int = 3, noise: float = 0.02) -> list[list[float]]:
    """So many commits of each level, each run so often, with normal noise."""
    draw = random.Random(7)
    return [[draw.gauss(level, noise * level) for _ in range(repeat)] for count, level in levels for _ in range(count)]


def test_a_step_is_found_at_its_commit() -> None:
    """With both levels."""
    (found,) = changes.find(drawn((6, 1.0), (5, 1.2)), 0.05)

    assert found.index == 6
    assert (round(found.before, 1), round(found.after, 1)) == (1.0, 1.2)
    assert 0.15 < found.share < 0.25


def test_a_level_that_does_not_change_has_none() -> None:
    """Noise alone is no change."""
    assert changes.find(drawn((20, 1.0)), 0.0) == []


def test_several_changes_in_both_directions_are_found() -> None:
    """Also one that was taken back."""
    found = changes.find(drawn((5, 1.0), (1, 2.0), (5, 1.0), (4, 0.8)), 0.05)

    assert [(one.index, one.share > 0) for one in found] == [(5, True), (6, False), (11, False)]


def test_a_change_that_is_too_small_for_the_user_is_not_told() -> None:
    """Though it is certain."""
    assert changes.find(drawn((8, 1.0), (8, 1.04), noise=0.001), 0.05) == []


def test_a_small_slow_down_shows_in_the_levels_of_many_commits() -> None:
    """6 % at 5 % noise, of one run each: neighbours alone would not tell it."""
    found = changes.find(drawn((30, 1.0), (30, 1.06), repeat=1, noise=0.02), 0.05)

    assert [one.index for one in found] == [30]


@pytest.mark.parametrize("values", [[], [[1.0]], [[1.0], [1.0]]])
def test_few_commits_are_no_error(values: list[list[float]]) -> None:
    """They have no change."""
    assert changes.find(values, 0.05) == []


def test_two_commits_can_differ() -> None:
    """Where the repeats leave no doubt."""
    assert [one.index for one in changes.find([[1.0, 1.01, 1.02], [2.0, 2.01, 2.02]], 0.05)] == [1]


def test_runs_that_agree_by_chance_do_not_make_a_change_of_nothing() -> None:
    """The error of a median is taken to be 0.5 % of it at least."""
    assert changes.standard_error([[2.0, 2.0], [2.0, 2.0]]) == 0.01


def test_without_repeats_neighbours_tell_the_error() -> None:
    """The median of their differences, as of normal errors."""
    assert changes.standard_error([[1.0], [2.0], [1.0], [2.0]]) == pytest.approx(1.4826 / 2**0.5)


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence."""
    monkeypatch.setitem(sys.modules, "ruptures", None)

    with pytest.raises(UnavailableError, match="dlprof history needs ruptures") as error:
        changes.need_ruptures()
    assert error.value.hint == "pip install 'dlprof[history]'"


def test_levels_are_medians_of_the_medians_of_their_commits() -> None:
    """As those of a table are, of one commit."""
    (found,) = changes.find([[1.0, 1.0], [1.0, 1.0], [1.006, 1.006], [2.0, 2.0]], 0.05)

    assert (found.before, found.after) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ([3.03, 3.06, 5.32], [3.15, 4.47, 4.47], False),  # they overlap
        ([0.258, 0.257, 0.268], [1.84, 1.82, 1.92], True),
        ([1.84, 1.82, 1.92], [0.258, 0.257, 0.268], True),
        ([1.0, 2.0, 3.0], [3.1, 3.2, 3.3], False),  # apart by less than the runs of one side
        ([0.25, 0.26], [1.82, 1.84], True),
        ([3.0, 3.5], [4.0, 4.4], False),  # two runs would have to lie farther apart
        ([1.0], [2.0], False),  # how far runs of one level differ is not known
        ([1.0, 1.01, 1.02] * 5, [1.1, 1.11, 1.12, 1.1, 0.9] * 3, True),  # few of many overlap
        ([1.0, 1.0], [1.0, 1.0], False),
    ],
)
def test_runs_of_two_levels_lie_apart_or_not(before: list[float], after: list[float], told: bool) -> None:
    """By ranks and by medians."""
    assert changes.is_beyond_noise(before, after) is told
