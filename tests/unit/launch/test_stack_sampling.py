"""When py-spy begins, and what became of it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from dlprof.config import TraceConfig
from dlprof.launch import stack_sampling
from dlprof.launch.stack_sampling import PythonSearch, StackSampling
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe

COST = "measured: CPU time of py-spy beside the process"


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """An empty run folder."""
    (tmp_path / "raw").mkdir()
    return RunDir(tmp_path)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        (False, "the process ended before py-spy could look at it"),
        (True, "no Python process was seen in what the program started"),
    ],
)
def test_without_a_python_to_look_at_there_are_no_stacks(run: RunDir, tree: bool, reason: str) -> None:
    """It is said which of the two it was."""
    sampling = StackSampling(run, TraceConfig(stacks_hz=20), lambda: None, tree=tree)
    sampling.tick()
    sampling.stop(1)

    assert (sampling.pid, sampling.state_now()) == (None, None)
    assert sampling.outcome() == Probe(name="stacks", state="unavailable", reason=reason)


@pytest.mark.parametrize(
    ("files", "failed", "state"),
    [((), False, "unavailable"), ((), True, "failed"), (("stacks-000.json",), False, "failed")],
)
def test_stacks_that_end_early_have_failed(run: RunDir, files: tuple[str, ...], failed: bool, state: str) -> None:
    """Without any, and where py-spy had not begun, they were not to be had."""
    for name in files:
        (run.raw / name).touch()

    assert stack_sampling.outcome(run, "py-spy was killed", 5, failed=failed) == Probe(
        name="stacks", state=state, reason="py-spy was killed", cost_ns=5, cost_source=COST
    )


def test_stacks_that_went_well_say_what_they_cost(run: RunDir) -> None:
    """CPU time of py-spy."""
    assert stack_sampling.outcome(run, None, 9, failed=False) == Probe(
        name="stacks", state="on", cost_ns=9, cost_source=COST
    )


def test_a_script_has_begun_when_its_stream_has_more_than_a_header(run: RunDir) -> None:
    """Before that there is no Python of the user's to look at."""
    now = time.perf_counter_ns()
    seen = [stack_sampling.has_begun(run, now)]
    for size in (100, 101):
        (run.raw / "inproc.wire").write_bytes(b"x" * size)
        seen.append(stack_sampling.has_begun(run, now))

    assert seen == [False, False, True]


def test_a_script_of_which_nothing_comes_is_taken_to_have_begun(run: RunDir) -> None:
    """After five seconds."""
    assert stack_sampling.has_begun(run, time.perf_counter_ns() - 6_000_000_000)


def test_a_python_is_found_among_what_a_program_has_started() -> None:
    """The tests' own process is one."""
    assert PythonSearch(os.getpid())() == os.getpid()


def test_a_program_without_a_python_has_none() -> None:
    """And it is not looked for again at once."""
    with subprocess.Popen(["sleep", "60"]) as process:
        search = PythonSearch(process.pid)
        try:
            found = search(), search()
        finally:
            process.kill()

    assert found == (None, None)


def test_a_file_without_samples_is_told(run: RunDir) -> None:
    """py-spy says that all went well when the disk was full."""
    (run.raw / "stacks-000.json").touch()

    assert stack_sampling.outcome(run, None, 9, failed=False).reason == "py-spy could not write its samples"
