"""A page says what it holds that is not for everybody."""

from __future__ import annotations

from pathlib import Path

from dlprof.pipeline import redacting
from dlprof.redaction import Part
from dlprof.report.html import contents
from dlprof.rundir import RunDir
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.report.html.pages import page_of


def made(folder: Path) -> Run:
    """A run with lines, arguments and a machine."""
    lines = [{"file": "train.py", "function": "f", "line": 3, "hits": 1, "time_ns": 5, "source": "x = 1"}]
    told = runs.manifest(script_folder="/srv/x", command={"script": "train.py", "argv": ["--epochs", "3"]})
    run = runs.trained(folder, told, lines=lines)
    (folder / "raw" / "sources").mkdir()
    (folder / "raw" / "sources" / "train.py").write_text("x = 1")
    return run


def test_source_arguments_and_machine_are_named(tmp_path: Path) -> None:
    """At the foot of the page."""
    run = made(tmp_path / "r")

    assert contents.private([run]) == ("lines of 1 source file", "arguments of the script", "the machine's name (h)")
    assert "it holds lines of 1 source file, arguments of the script" in page_of(run)


def test_a_redacted_run_has_nothing_to_name(tmp_path: Path) -> None:
    """Its page says nothing of it."""
    redacting.redact(made(tmp_path / "r"), tmp_path / "copy", tuple(Part))
    copy = RunDir(tmp_path / "copy")

    assert contents.private([Run(copy, copy.read_manifest())]) == ()
