"""Models that take longer to set up each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import Tables, diagnosed, parts, pick, quiet, slugs
from tests.unit.runs import MS


def searching(*lengths_ms: int) -> Tables:
    """Models that are made and compiled at one line, each in so long (ms), and trained for ten steps of 10 ms."""
    pieces, spans, rows, at = [("import", 0.0, 2.0)], [runs.fit_span()], [], 2.0
    for number, length in enumerate(lengths_ms):
        end = at + length / 1000
        pieces += [("compile", at, end), ("fit.steps", end, end + 0.1)]
        spans += [
            runs.span("construct", at, at + 0.01, span_id=100 + 2 * number, line=13),
            runs.span("compile", at, end, span_id=101 + 2 * number, line=21),
        ]
        rows += runs.steps(10, start_s=end, dur_ms=10)
        at = end + 0.1
    return quiet(
        phases=parts(compile=sum(lengths_ms) / 1000, fit_steps=8 - 2 - sum(lengths_ms) / 1000, teardown=2),
        spans=spans, steps=rows,
        phase_intervals=runs.intervals(*pieces, ("fit.steps", at, 8), ("teardown", 8, 10)),
    )  # fmt: skip


def test_models_that_take_longer_to_set_up_each_time_are_named(tmp_path: Path) -> None:
    """200 to 700 ms: what they take beyond the first one, and what clears what is left behind."""
    finding = pick(diagnosed(tmp_path / "r", **searching(200, 300, 400, 500, 600, 700)), "retracing")

    assert finding.heading == "Each new model took longer to set up"
    assert finding.at_stake_ns == pytest.approx(1_500 * MS, rel=0.01)
    assert (finding.line, finding.file) == (21, "train.py")
    assert "clear_session()" in str(finding.fix)


def test_models_that_take_equally_long_are_a_search(tmp_path: Path) -> None:
    """Each of six models is compiled once, and must be."""
    assert "retracing" not in slugs(diagnosed(tmp_path / "r", **searching(450, 440, 460, 450, 440, 460)))
