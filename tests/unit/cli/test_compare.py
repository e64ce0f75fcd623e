"""`dlprof compare`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.report.html.pages import Elements
from tests.unit.runs import S, dlprof, lasting, trained


def test_compare_writes_a_page_of_two_sides_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A third one has no place in it."""
    for name in "abc":
        trained(tmp_path / name)
    assert dlprof("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "p.html") == 0
    assert dlprof("compare", *(tmp_path / name for name in "abc"), "--html", tmp_path / "p.html") == 64
    assert "compares two sides" in capsys.readouterr().err


def test_a_comparison_of_runs_without_phases_says_what_it_can(tmp_path: Path) -> None:
    """Nothing can be diagnosed then."""
    for name, wall in (("a", 9), ("b", 3)):
        run = trained(tmp_path / name, phases=[], phase_intervals=[])
        run.folder.write_manifest(lasting(run, wall * S).manifest)
    assert dlprof("compare", tmp_path / "a", tmp_path / "b", "--html", tmp_path / "p.html") == 0
    assert "Not diagnosed, because" in Elements((tmp_path / "p.html").read_text()).text
