"""`dlprof view`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.runs import dlprof, trained


def test_view_writes_into_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing else is said."""
    trained(tmp_path / "r")
    assert dlprof("view", tmp_path / "r", "--no-open") == 0
    assert capsys.readouterr().out == f"{tmp_path}/r/report.html\n"
