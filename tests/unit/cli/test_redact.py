"""`dlprof redact` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs


def test_the_copy_is_named_and_what_it_lacks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder on standard output, the rest beside it."""
    monkeypatch.chdir(tmp_path)
    runs.trained(tmp_path / "r")

    assert runs.dlprof("redact", "r", "--keep", "source,arguments") == 0

    said = capsys.readouterr()
    assert said.out == "r-redacted\n"
    assert "taken out: paths, host, user\n" in said.err
    assert (tmp_path / "r-redacted" / "manifest.json").is_file()


def test_a_misspelt_part_is_answered_with_the_nearest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is written."""
    runs.trained(tmp_path / "r")

    assert runs.dlprof("redact", tmp_path / "r", "-o", tmp_path / "copy", "--keep", "sorce") == 64
    assert "source" in capsys.readouterr().err
    assert not (tmp_path / "copy").exists()
