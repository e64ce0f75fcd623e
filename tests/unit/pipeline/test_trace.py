"""What is done before a script starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
