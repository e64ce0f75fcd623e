"""A run for TensorBoard."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from dlprof.export import tensorboard
from dlprof.store.run import Run
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.runs import dlprof, make, trained


def events_of(run: Run, folder: Path) -> list[Any]:
    """The events of its file, read with TensorBoard's own messages."""
    event_messages = pytest.importorskip("tensorboard.compat.proto.event_pb2")
    folder.mkdir(exist_ok=True)
    tensorboard.write(run, folder)
    (file,) = folder.glob("events.out.tfevents.*")
    data, found, at = file.read_bytes(), [], 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 8], "little")
        event = event_messages.Event()
        event.ParseFromString(data[at + 12 : at + 12 + length])
        found.append(event)
        at += 16 + length
    return found


def scalars(run: Run, folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Step and value of each scalar, by tag."""
    found: dict[str, list[tuple[int, float]]] = {}
    for event in events_of(run, folder):
        for value in event.summary.value:
            if value.WhichOneof("value") == "simple_value":
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_metrics_of_epochs_go_by_a_running_number(tmp_path: Path) -> None:
    """And so does the time of each epoch, in seconds."""
    told = scalars(whole(tmp_path / "run"), tmp_path / "logs")

    assert told["epoch/loss"] == [(0, 1.0), (1, 0.5)]
    assert told["epoch/time (s)"] == [(0, 3.0), (1, 3.0)]


def test_steps_have_their_time_and_wait_in_milliseconds(tmp_path: Path) -> None:
    """By their running number; a metric by that of the step in which it was told."""
    told = scalars(whole(tmp_path / "run"), tmp_path / "logs")

    assert told["train step/time (ms)"] == [(0, 21.0), (1, 21.0), (2, 21.0)]
    assert told["train step/input (ms)"] == [(0, 1.0), (1, 1.0), (2, 1.0)]
    assert told[f"train step/{HOSTILE}"] == [(1, 0.25)]


def test_curves_of_the_machine_go_by_milliseconds(tmp_path: Path) -> None:
    """What was not measured is not there."""
    told = scalars(whole(tmp_path / "run"), tmp_path / "logs")

    assert told["GPU 0/power (W)"] == [(1000, 70.5)]


def test_phases_and_findings_are_texts(tmp_path: Path) -> None:
    """At the end of the run, by the wall clock."""
    read = events_of(whole(tmp_path / "run"), tmp_path / "logs")
    texts = {
        value.tag: value.tensor.string_val[0].decode()
        for event in read
        for value in event.summary.value
        if value.tensor.string_val
    }

    assert set(texts) == {"dlprof/phases", "dlprof/findings"}
    assert "fit" in texts["dlprof/phases"]
    assert read[-1].wall_time == 1_800_000_010


def test_a_run_without_a_clock_begins_when_its_folder_was_made(tmp_path: Path) -> None:
    """As that of foreign traces."""
    run = make(tmp_path / "run")

    first, *_ = events_of(run, tmp_path / "logs")

    assert first.wall_time == datetime.fromisoformat("2026-11-21T10:00:00+00:00").timestamp()


def test_a_run_that_cannot_be_diagnosed_says_why(tmp_path: Path) -> None:
    """In place of its findings."""
    last = events_of(make(tmp_path / "run"), tmp_path / "logs")[-1]

    assert "cannot be diagnosed" in last.summary.value[0].tensor.string_val[0].decode()


def test_an_event_file_of_an_export_before_is_replaced(tmp_path: Path) -> None:
    """TensorBoard would show both."""
    run = whole(tmp_path / "run")
    events_of(run, tmp_path / "logs")
    (tmp_path / "logs" / "events.out.tfevents.1.dlprof").write_text("old")

    assert len(events_of(run, tmp_path / "logs")) > 1


def test_runs_share_a_log_folder_of_tensorboard(tmp_path: Path) -> None:
    """Each has a folder in it, with its own event file."""
    for name in ("one", "two"):
        trained(tmp_path / name)
        assert dlprof("export", tmp_path / name, "--to", "tensorboard", "-o", tmp_path / "logs") == 0

    assert sorted(path.parent.name for path in (tmp_path / "logs").rglob("events.out.tfevents.*")) == ["one", "two"]


def test_traces_of_the_engine_are_copied_for_the_profile_plugin(tmp_path: Path) -> None:
    """Each window is a profile of its own."""
    run = trained(tmp_path / "run")
    file = run.folder.raw / "kernels" / "window-000" / "plugins" / "profile" / "2026" / "vm.xplane.pb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"trace")

    assert dlprof("export", run.folder.path, "--to", "tensorboard", "-o", tmp_path / "logs") == 0

    copied = tmp_path / "logs" / "run" / "plugins" / "profile" / "window-000" / "vm.xplane.pb"
    assert copied.read_bytes() == b"trace"
