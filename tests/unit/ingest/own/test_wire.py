"""The raw stream as it is read, also when it is cut or damaged."""

from __future__ import annotations

import struct
import threading
from pathlib import Path

import pytest
from dlprof_probes import wire as fmt
from dlprof_probes.inproc import loops, recorder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import wire

PROCESS = ProcessId("host", 0, 7, 0)


def make(folder: Path) -> recorder.Recorder:
    """A recorder into `folder`."""
    (folder / "status").write_bytes(b" " * 1024)
    return recorder.Recorder(str(folder / "inproc.wire"), str(folder / "status"), lambda path: path == __file__)


def example(folder: Path) -> Path:
    """A stream with one of everything."""
    out = make(folder)
    out.meta({"pid": 7, "boot_ns": 0})
    fit = out.begin("fit", "fit", time_ns=100)
    epoch = out.begin("epoch", "0", time_ns=110)
    loop = loops.Loop(out, [0], fit)
    loop.start_epoch(0)
    loop.begin, loop.callbacks = 200, 7
    loop.called(210, 250, True)
    loop.finish((None, 0), 260)
    out.metrics(fit, 0, 0, [("loss", 0.5)])
    out.end(epoch, 300)
    out.end(fit, 400)
    out.collection(500, 10, 2, 42)
    out.note("slug", "message")
    out.finish()
    return folder / "inproc.wire"


def test_what_was_recorded_is_read(tmp_path: Path) -> None:
    """Spans with their ends, the step with its parts, metrics, collections, notes."""
    stream = wire.read(example(tmp_path))

    assert [(s.kind, s.name, s.start, s.end) for s in stream.spans.values()] == [
        ("fit", "fit", 100, 400),
        ("epoch", "0", 110, 300),
    ]
    assert stream.metrics[0][4:] == ("loss", 0.5)
    assert stream.collections == [(500, 10, 2, 42)]
    assert [note.slug for note in stream.notes] == ["slug"]
    assert stream.complete


def test_a_step_keeps_its_parts(tmp_path: Path) -> None:
    """Times of the call and of the callbacks, and that it was the first of its function."""
    row = wire.tables(wire.read(example(tmp_path)), PROCESS, 1000, FileNames("/"))["steps"].to_pylist()[0]

    assert (row["loop"], row["start_ns"], row["dur_ns"], row["callbacks_ns"]) == ("train", 200, 60, 7)
    assert (row["call_offset_ns"], row["call_ns"], row["first"], row["compiled"]) == (10, 40, True, True)


def test_a_step_of_a_stream_before_waits_were_told_is_read(tmp_path: Path) -> None:
    """Whether it waited is not known."""
    payload = struct.pack("<QIiiIqqqqqqB", 1, 1, 0, 0, 1, 200, 260, 0, 7, 10, 40, 1)
    path = tmp_path / "inproc.wire"
    path.write_bytes(fmt.MAGIC + b"\x01" + fmt.record(fmt.Record.STEP, payload))

    (row,) = wire.tables(wire.read(path), PROCESS, 1000, FileNames("/"))["steps"].to_pylist()

    assert (row["start_ns"], row["callbacks_ns"], row["compiled"], row["wait_ns"]) == (200, 7, True, None)


def test_a_step_keeps_its_wait(tmp_path: Path) -> None:
    """Where waits are looked at."""
    out = make(tmp_path)
    loop = loops.Loop(out, [0], out.begin("fit", "fit", time_ns=100), waits=[True])
    loop.start_epoch(0)
    loop.begin, loop.device_wait = 200, 30
    loop.finish((None, 0), 260)
    out.finish()

    (row,) = wire.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 1000, FileNames("/"))["steps"].to_pylist()

    assert row["wait_ns"] == 30


def test_parents_follow_from_the_nesting_of_times(tmp_path: Path) -> None:
    """The epoch is inside fit."""
    rows = wire.tables(wire.read(example(tmp_path)), PROCESS, 1000, FileNames("/"))["spans"].to_pylist()

    assert [row["parent_id"] for row in rows] == [None, 1]


def test_a_span_that_never_ended_lasts_until_the_end_of_the_process(tmp_path: Path) -> None:
    """And is marked so."""
    out = make(tmp_path)
    out.begin("fit", "fit", time_ns=100)
    out.flush()

    row = wire.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 900, FileNames("/"))["spans"].to_pylist()[0]

    assert (row["dur_ns"], row["ended"]) == (800, False)


def test_the_last_batch_of_an_epoch_counts_its_own_samples(tmp_path: Path) -> None:
    """1,000 samples in batches of 300: the fourth step has 100."""
    out = make(tmp_path)
    fit = out.begin("fit", "fit", time_ns=0)
    out.detail(fit, {"batch_size": 300, "samples": 1000})
    loop = loops.Loop(out, [0], fit)
    loop.start_epoch(0)
    for batch in range(4):
        loop.begin, loop.step_index = 10 + batch, batch
        loop.finish((None, batch), 11 + batch)
    out.finish()

    table = wire.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 100, FileNames("/"))["steps"]
    assert table["samples"].to_pylist() == [300, 300, 300, 100]


def test_threads_have_spans_of_their_own(tmp_path: Path) -> None:
    """A span on another thread is no child of one on this."""
    out = make(tmp_path)
    outer = out.begin("fit", "fit")
    thread = threading.Thread(target=lambda: out.end(out.begin("import", "json")), name="worker")
    thread.start()
    thread.join()
    out.end(outer)
    out.finish()

    rows = wire.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 1 << 62, FileNames("/"))["spans"].to_pylist()
    assert [(row["thread"], row["parent_id"]) for row in rows] == [("MainThread", None), ("worker", None)]


@pytest.mark.parametrize("cut", [1, 12, 40, 100, 200])
def test_a_cut_stream_is_read_up_to_the_cut(cut: int, tmp_path: Path) -> None:
    """Whole records are kept, and the stream says that it is not complete."""
    path = example(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])

    stream = wire.read(path)

    assert not stream.complete


@pytest.mark.parametrize("content", [b"", b"PAR1", b"DLPROFWIRE\n", b"DLPROFWIRE\n\xff"])
def test_a_foreign_or_newer_file_is_refused(content: bytes, tmp_path: Path) -> None:
    """With the file and the place."""
    path = tmp_path / "inproc.wire"
    path.write_bytes(content)
    if content == b"DLPROFWIRE\n":
        content += bytes([fmt.VERSION])

    with pytest.raises(ArtifactError, match=r"inproc\.wire"):
        wire.read(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(position=st.integers(12, 400), value=st.integers(0, 255), length=st.integers(12, 600))
def test_a_damaged_stream_gives_an_artifact_error_or_what_is_whole(
    position: int, value: int, length: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Flipped and cut bytes: no other exception comes out."""
    folder = tmp_path_factory.mktemp("damaged")
    path = example(folder)
    content = bytearray(path.read_bytes()[:length])
    if position < len(content):
        content[position] = value
    path.write_bytes(bytes(content))

    try:
        wire.tables(wire.read(path), PROCESS, 1000, FileNames("/"))
    except ArtifactError:
        pass
