"""The raw stream as it is read, also when it is cut or damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from dlprof_probes import wire as fmt
from dlprof_probes.inproc import loops, recorder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dlprof.ingest.artifact import ArtifactError, ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import stream_tables, wire

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
    loop.previous_end = 190  # else it is this machine's time, which may be more than a day
    loop.begin, loop.callbacks = 200, 7
    loop.called(210, 250, True)
    loop.finish((None, 0), 260)
    out.metrics(fit, 0, 0, [("loss", 0.5)])
    out.end(epoch, 300)
    out.end(fit, 400)
    out.collection(500, 10, 2, 42)
    out.stretch(70, 510, 530, 12)
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
    assert stream.stretches == [(70, 510, 530, 12)]
    assert [note.slug for note in stream.notes] == ["slug"]
    assert stream.complete


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
        stream_tables.tables(wire.read(path), PROCESS, 1000, FileNames("/"))
    except ArtifactError:
        pass


@pytest.mark.parametrize("times", [(30, 20, 0), (10, 20, 11), (10, 20, -1)])
def test_a_stretch_that_cannot_be_is_damage(times: tuple[int, int, int], tmp_path: Path) -> None:
    """It ends before it begins, or holds more time than there is in it."""
    out = make(tmp_path)
    out.stretch(70, *times)
    out.finish()

    stream = wire.read(tmp_path / "inproc.wire")

    assert stream.damage is not None
    assert len(stream.stretches) == 0


def test_of_a_place_that_asks_for_values_the_last_sums_count(tmp_path: Path) -> None:
    """They are sums so far."""
    out = make(tmp_path)
    place = ("item()", "/s/train.py", 7)
    out.sync(1, place, [2, 20, 100, 150])
    out.sync(1, place, [5, 60, 100, 300])
    out.finish()

    stream = wire.read(tmp_path / "inproc.wire")

    assert list(stream.syncs.values()) == [("item()", "/s/train.py", 7, 5, 60, 100, 300)]


@pytest.mark.parametrize("sums", [[0, 0, 100, 150], [1, -1, 100, 150], [1, 10, 150, 100]])
def test_sums_of_a_place_that_cannot_be_are_damage(sums: list[int], tmp_path: Path) -> None:
    """No call, less than no time, or an end before the beginning."""
    out = make(tmp_path)
    out.sync(1, ("item()", "/s/train.py", 7), sums)
    out.finish()

    assert wire.read(tmp_path / "inproc.wire").damage is not None
