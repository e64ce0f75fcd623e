"""Nsight Systems and nvprof around the process, over stand-ins for the tools where there is no GPU."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.integration import runner
from tests.integration.test_gpu import library  # noqa: F401  (a fixture)

pytestmark = pytest.mark.integration

TOOL = """#!/bin/bash
# Runs what it is given, as the tool does, and leaves a file that was made beforehand.
for word; do case "$word" in --output=*) out="${word#--output=}.sqlite";; esac; done
while [[ "$1" == profile || "$1" == --* ]]; do shift; done
"$@"; code=$?
[ -n "$STAND_IN_FILE" ] && cp "$STAND_IN_FILE" "$out"
exit $code
"""
SCRIPT = "import os, sys, time\nprint(os.getpid() != os.getppid(), sys.argv[1:])\ntime.sleep(0.5)\nsys.exit(7)"


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """What Nsight Systems would have exported: two kernels on one stream, the first launched by a call."""
    path = tmp_path / "made.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(
            """
            CREATE TABLE StringIds (id INTEGER, value TEXT);
            INSERT INTO StringIds VALUES (1, 'sgemm'), (2, 'cudaLaunchKernel'), (3, 'relu');
            CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
            INSERT INTO TARGET_INFO_SESSION_START_TIME SELECT unixepoch() * 1000000000;
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, demangledName);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 5000, 0, 7, 1, 1), (9000, 10000, 0, 7, 2, 3);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 600, 9, 1, 2), (7000, 7400, 9, 2, 2);
            """
        )
    database.close()
    return path


@pytest.fixture
def tools(tmp_path: Path, library: Path, trace_file: Path) -> dict[str, str]:  # noqa: F811
    """An environment with a GPU (the stand-in of NVML) and a stand-in for nsys."""
    folder = tmp_path / "bin"
    folder.mkdir()
    runner.write(folder, "nsys", TOOL).chmod(0o755)
    import os

    return {
        "LD_LIBRARY_PATH": str(library),
        "PATH": f"{folder}:{os.environ['PATH']}",
        "STAND_IN_FILE": str(trace_file),
    }


def test_nsight_systems_is_put_around_the_script_where_it_is_installed(tmp_path: Path, tools: dict[str, str]) -> None:
    """The script runs as before, and the tool's kernels are those of the run, with launch delays and gaps."""
    runner.write(tmp_path, "script.py", SCRIPT)

    done = runner.trace("script.py", "--", "--x", "1", cwd=tmp_path, env=tools)

    assert (done.code, done.out) == (7, "True ['--x', '1']\n")
    rows = runner.sql(
        tmp_path, "SELECT name, device, dur_ns, delay_ns FROM kernels WHERE kind = 'kernel' ORDER BY start_ns"
    )
    assert rows == [
        {"name": "sgemm", "device": "gpu:0", "dur_ns": 4000, "delay_ns": 900},
        {"name": "relu", "device": "gpu:0", "dur_ns": 1000, "delay_ns": 2000},
    ]
    gap = runner.sql(tmp_path, "SELECT dur_ns, host_ns, launch_ns, wait_ns FROM gpu_gaps")
    assert gap == [{"dur_ns": 4000, "host_ns": 2000, "launch_ns": 2000, "wait_ns": 0}]


def test_stacks_are_those_of_the_script_not_of_the_tool(tmp_path: Path, tools: dict[str, str]) -> None:
    """py-spy looks at the process of the script, which is a child of the tool."""
    runner.write(tmp_path, "script.py", SCRIPT.replace("0.5", "4"))

    runner.trace("script.py", cwd=tmp_path, env=tools)

    assert runner.sql(tmp_path, "SELECT DISTINCT file FROM frames WHERE file = 'script.py'") == [{"file": "script.py"}]


def test_a_tool_that_leaves_nothing_costs_only_its_kernels(tmp_path: Path, tools: dict[str, str]) -> None:
    """The run is whole."""
    runner.write(tmp_path, "script.py", SCRIPT)

    done = runner.trace("script.py", cwd=tmp_path, env={**tools, "STAND_IN_FILE": ""})

    assert done.code == 7
    assert runner.report(tmp_path)["kernels"] is None


def test_a_tool_can_be_left_out(tmp_path: Path, tools: dict[str, str]) -> None:
    """With --gpu-tracer framework the script has no tool around it."""
    runner.write(tmp_path, "script.py", "import os, psutil\nprint(psutil.Process(os.getppid()).name() != 'bash')")

    done = runner.trace("script.py", "--gpu-tracer", "framework", cwd=tmp_path, env=tools)

    assert done.out == "True\n"
    assert not (tmp_path / "run" / "raw" / "gpu").exists()


def test_nvprof_is_refused_for_a_card_that_it_does_not_support(tmp_path: Path, tools: dict[str, str]) -> None:
    """Before the script starts, and with the way out."""
    runner.write(Path(tools["PATH"].split(":")[0]), "nvprof", TOOL).chmod(0o755)
    runner.write(tmp_path, "script.py", "print('ran')")

    done = runner.trace("script.py", "--gpu-tracer", "nvprof", cwd=tmp_path, env=tools)

    assert (done.code, done.out) == (69, "")
    assert "nvprof does not support compute capability" in done.err
    assert "--gpu-tracer nsys" in done.err


def test_a_tool_that_is_asked_for_without_a_gpu_is_refused(tmp_path: Path) -> None:
    """It would have nothing to trace."""
    runner.write(tmp_path, "script.py", "print('ran')")

    done = runner.trace("script.py", "--gpu-tracer", "nsys", cwd=tmp_path)

    assert (done.code, done.out) == (69, "")
    assert "nsys has no GPU to trace: no NVIDIA driver is installed" in done.err


def test_doctor_says_which_gpu_tracer_and_why(tmp_path: Path, tools: dict[str, str]) -> None:
    """With Nsight Systems there, and without any GPU."""
    with_tool = runner.run([*runner.DLPROF, "doctor"], cwd=tmp_path, env=tools)
    without = runner.run([*runner.DLPROF, "doctor"], cwd=tmp_path)

    assert "GPU tracer       Nsight Systems: Nsight Systems is installed" in with_tool.out
    assert "GPU tracer       none is needed without a GPU" in without.out
