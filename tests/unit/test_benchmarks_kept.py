"""The page of benchmarks that are kept."""

from __future__ import annotations

from tests.benchmarks import kept

ROW = {
    "date": "2026-11-23",
    "commit": "abc",
    "machine": "2 cores of X",
    "python": "3.11.7",
    "load": 0.1,
    "figures": {"record_us": [1.5, 1.7, 1.6]},
}


def test_the_page_is_that_of_the_measurements() -> None:
    """`python -m tests.benchmarks.kept --page` writes it again."""
    assert kept.PAGE.read_text(encoding="utf-8") == kept.page(kept.kept())


def test_a_figure_is_a_median_with_its_spread_and_one_that_is_missing_is_said() -> None:
    """Beside the one before."""
    text = kept.page([{**ROW, "figures": {}}, ROW])

    assert "| hooks and record of one training step | <= 2 µs | 1.6 µs (1.5 to 1.7, 3 runs) | not measured |" in text


def test_without_a_measurement_all_is_said_to_be_missing() -> None:
    """And no row is made up."""
    text = kept.page([])

    assert text.count("| not measured | not measured |") == len(kept.FIGURES)
    assert "2026-" not in text


def test_three_measurements_are_drawn() -> None:
    """Each figure that they have, from 0 to the goal at least."""
    text = kept.page([{**ROW, "figures": {name: [value] for name in kept.FIGURES}} for value in (0.5, 0.25, 3.0)])

    assert text.count("xychart-beta") == len(kept.FIGURES)
    assert "    line [0.5, 0.25, 3.0]" in text
    assert '    y-axis "µs" 0 --> 3\n' in text
