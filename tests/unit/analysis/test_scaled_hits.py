"""Figures that are made of scaled hits."""

from __future__ import annotations

import pytest

from dlprof.analysis import scaled_hits


@pytest.mark.parametrize(
    ("value", "hits", "told"),
    [(133_132.0, 53_000_000, 130_000), (7.0006, 26_322, 7), (66.7, 20_000, 70), (66.7, 0, 70), (0.0, 300, 0)],
)
def test_what_is_made_of_an_estimate_has_no_more_digits(value: float, hits: int, told: int) -> None:
    """Two at most."""
    assert scaled_hits.estimate(value, hits) == told
