"""What is done before a script starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dlprof import config, rundir
from dlprof.pipeline import trace

LARGE = (
    "pyarrow",
    "numpy",
    "duckdb",
    "pandas",
    "rich",
    "jinja2",
    "dlprof.ingest",
    "dlprof.analysis",
    "dlprof.report.text",
)
"""What only the run's end needs."""
LOOK = """
import sys
from dlprof import cli
from dlprof.launch import traced_script

def go(self, view):
    print("started with", *sorted(name for name in {large!r} if name in sys.modules))
    raise SystemExit

traced_script.TracedScript.go = go
command, args = cli.parse(["trace", {script!r}, "-o", {run!r}])
command.run(args)
"""


def test_a_script_starts_before_what_its_report_needs_is_loaded(tmp_path: Path) -> None:
    """Nobody waits for pyarrow to see the first line of a script."""
    script = tmp_path / "train.py"
    script.write_text("")
    look = LOOK.format(large=LARGE, script=str(script), run=str(tmp_path / "run"))

    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert done.stdout == "started with\n"


@pytest.mark.parametrize(
    ("keep", "argv", "masked"), [(False, ("--token", "***"), True), (True, ("--token", "a1b2"), False)]
)
def test_a_secret_in_the_arguments_is_not_written_down(keep: bool, argv: tuple[str, ...], masked: bool) -> None:
    """Unless the user wants it so; then the command can be run again."""
    settings = config.load({"script": "t.py", "arguments": ("--token", "a1b2"), "keep_arguments": keep}, {}, Path())

    command = trace._command(settings)

    assert (command.argv, command.masked) == (argv, masked)


def test_without_proc_nobody_is_told_to_make_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """When this process began is not known, and numbers of processes are given out again."""

    def missing(_pid: int) -> float:
        raise FileNotFoundError

    monkeypatch.setattr(rundir, "process_start", missing)

    assert trace._conductor() is None
