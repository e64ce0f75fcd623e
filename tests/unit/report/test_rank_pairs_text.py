"""Two runs of ranks on a terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dlprof.report import rank_pairs_text
from tests.unit.analysis.test_rank_pairs import compared


def test_steps_parts_and_ranks_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the straggler of each, and the rank of both that is worth a look."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)  # paths are told as they are shortest from here
    out = io.StringIO()
    rank_pairs_text.print_comparison(compared(tmp_path), file=out, top=1, plain=True)
    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    assert lines[:2] == ["A  a  2 ranks on h, 10.0 s", "B  b  2 ranks on h, 10.0 s"]
    assert lines[2].startswith("Step       A train step takes 20.0 ms in a and 13.0 ms in b")
    assert lines[3].startswith("In A       straggler rank 1: 7.00 ms a step more than the others")
    assert lines[4].startswith("In B       straggler none")
    assert "dlprof compare a/rank-001 b/rank-001" in out.getvalue()
    assert "the 1 that differ most of 2" in out.getvalue()
    assert lines[-1].split() == ["1", "20.0", "ms", "13.0", "ms", "+7.00", "ms", "19.0", "ms", "12.0", "ms", "+7.00",
                                 "ms", "0", "ns", "0", "ns"]  # fmt: skip
