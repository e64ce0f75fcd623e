"""`dlprof bench` on a real backend, killed and started again."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.integration import runner

MATRIX = """
repeat = 4
backends = ["mxnet"]
[trace]
probes = "phases"
[[work]]
script = "work.py"
[[work]]
name = "bad"
script = "work.py"
arguments = ["fail"]
"""
WORK = "import sys, time; time.sleep(0.5); sys.exit('it failed' if 'fail' in sys.argv else 0)"

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


def test_a_benchmark_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """Runs that were over are not made again, nothing of the killed one stays, and failures are in the table."""
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "m.toml").write_text(MATRIX)
    command = [*runner.DLPROF, "bench", "m.toml", "-o", "out"]
    cells = tmp_path / "out" / "cells"
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as first:
        end = time.monotonic() + 300
        while len(list(cells.glob("*.json"))) < 3:
            assert time.monotonic() < end
            time.sleep(0.05)
        tree = psutil.Process(first.pid).children(recursive=True)
        first.kill()
    _, left = psutil.wait_procs(tree, timeout=20)
    made = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}

    second = runner.run([*command, "--format", "json"], cwd=tmp_path)

    assert left == []
    assert second.code == 1
    assert f"{len(made)} of 8 runs were made before; {8 - len(made)} are left" in second.err
    assert {name: (cells / name).stat().st_mtime_ns for name in made} == made
    rows = {row["work"]: row for row in json.loads(second.out)["rows"]}
    assert (rows["work"]["runs"], rows["work"]["failed"]) == (4, [])
    assert (rows["bad"]["runs"], rows["bad"]["failed"]) == (0, ["exit code 1: it failed"])
    assert rows["work"]["median"]["wall_s"] > 0.5
