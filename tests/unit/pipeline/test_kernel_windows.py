"""Why a run has no kernel window where its process did not come to say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.ingest.artifact import Health
from dlprof.ingest.own.wire_stream import Stream
from dlprof.pipeline import kernel_windows
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest, Probe, Unrecorded
from dlprof.schema.vocabulary import ProbeState


@pytest.fixture
def run(tmp_path: Path) -> Workspace:
    """A run that was to have kernels."""
    made = Workspace(RunDir(tmp_path), Manifest(), fresh=True)
    (made.folder.raw / "kernels").mkdir(parents=True)
    made.stream = Stream(complete=True)
    made.probes.put(Probe(name="kernels"))
    return made


def judged(run: Workspace) -> tuple[str, str | None]:
    """State and reason of the probe."""
    kernel_windows.add(run)
    probe = run.probes.get("kernels")
    assert probe is not None
    return probe.state, probe.reason


def test_without_a_window_the_process_ended_before_one(run: Workspace) -> None:
    """It was killed."""
    assert judged(run) == (ProbeState.UNAVAILABLE, "the process ended before a kernel window was complete")


def test_a_failure_that_the_process_noted_is_the_reason(run: Workspace) -> None:
    """Its last words were lost, the note was not."""
    run.tables.health.append(Health("kernels-failed", "warning", "Kernels are missing: the tracer wrote no file."))

    assert judged(run) == (ProbeState.FAILED, "the tracer wrote no file")


def test_a_stream_that_could_not_be_written_is_the_reason(run: Workspace) -> None:
    """The process went on."""
    run.note(unrecorded=Unrecorded(since_ns=1, dur_ns=1, cause="disk-full", reason="the disk was full"))

    assert judged(run) == (ProbeState.UNAVAILABLE, "nothing was written any more, because the disk was full")


def test_a_window_that_cannot_be_read_was_complete(run: Workspace) -> None:
    """Its trace is not there."""
    (run.folder.raw / "kernels" / "window-000.json").write_text("{}")

    assert judged(run)[1] == "what the tracer wrote of its window is not there, or cannot be read"
