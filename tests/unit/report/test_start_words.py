"""What the main thread waited for while the process started and ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.report import start_words
from tests.unit.runs import S, trained


@pytest.mark.parametrize(
    ("ran_s", "waited_s", "text"),
    [
        (0.5, 1.5, " Of 2.00 s of start, imports and end the main thread waited 1.50 s for a core that others had."),
        (
            0.0,
            1.0,
            (
                " Of 2.00 s of start, imports and end the main thread waited 1.00 s for a core that others had and stood "
                "still for 1.00 s (a disk, another process, a lock)."
            ),
        ),
        (1.5, 0.25, ""),
    ],
)
def test_waiting_for_a_tenth_of_the_wall_time_is_told(tmp_path: Path, ran_s: float, waited_s: float, text: str) -> None:
    """Of an import of 2 s in a run of 10 s."""
    at = {"run_ns": 0, "wait_ns": 0, "main_run_ns": int(ran_s * S), "main_wait_ns": int(waited_s * S)}
    rows = [{"time_ns": moment * S, "interval_ns": S, "rss_bytes": S, **at} for moment in (2, 7)]

    assert start_words.waited(trained(tmp_path / "r", process_samples=rows)) == text


def test_where_nothing_was_sampled_nothing_is_told(tmp_path: Path) -> None:
    """Not measured is no waiting."""
    assert start_words.waited(trained(tmp_path / "r")) == ""
