"""Calls that take longer each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, pick, quiet, slugs
from tests.unit.runs import MS, S


def fitting(*lengths_ms: int, steps: tuple[int, ...] = (4,)) -> Tables:
    """Fits at one line, one after another, that take so long (ms), of so many steps of 10 ms each in turn."""
    spans, rows, at = [], [], 2 * S
    for number, length in enumerate(lengths_ms):
        spans.append({**runs.fit_span(), "span_id": number + 1, "start_ns": at, "dur_ns": length * MS})
        count = steps[number % len(steps)]
        rows += [{**row, "loop_id": number + 1} for row in runs.steps(count, start_s=at / S, dur_ms=10)]
        at += length * MS
    return quiet(spans=spans, steps=rows)


def test_fits_of_equal_work_that_grow_are_named_with_their_line(tmp_path: Path) -> None:
    """200 to 800 ms; the first one, which builds, is left out."""
    tables = fitting(900, 200, 300, 400, 500, 600, 700, 800)
    finding = pick(diagnosed(tmp_path / "r", **tables), "steps-get-slower")

    assert finding.heading == "Calls for equal work took longer each time"
    assert finding.at_stake_ns == pytest.approx(2_100 * MS, rel=0.01)
    assert finding.line == 7


def test_fits_of_more_and_more_work_and_equal_ones_are_no_cause(tmp_path: Path) -> None:
    """Other numbers of steps; times that do not grow."""
    longer = fitting(900, 200, 300, 400, 500, 600, 700, 800, steps=(4, 5, 6))
    equal = fitting(900, 500, 490, 510, 500, 490, 510, 500)

    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "a", **longer))
    assert "steps-get-slower" not in slugs(diagnosed(tmp_path / "b", **equal))
