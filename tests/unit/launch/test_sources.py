"""Copies of what was run."""

from __future__ import annotations

from pathlib import Path

from dlprof.launch import sources
from dlprof.rundir import RunDir


def test_a_copy_is_for_nobody_who_may_not_read_its_source(tmp_path: Path) -> None:
    """Nor can it be run."""
    script = tmp_path / "train.py"
    script.write_text("x = 1")
    script.chmod(0o700)
    run = RunDir(tmp_path / "run")
    run.path.mkdir()

    sources.keep_sources(run, {"train.py": str(script)})

    assert oct(run.source_path("train.py").stat().st_mode & 0o777) == "0o600"
