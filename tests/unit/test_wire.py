"""The in-process probe's stream: what long runs, threads and a full disk make of it."""

from __future__ import annotations

import threading
from pathlib import Path

from dlprof_probes.inproc import loops, recorder
from dlprof_probes.inproc.kernels.windows import NoWindows

from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import wire

PROCESS = ProcessId("host", 0, 7, 0)


def make(folder: Path) -> recorder.Recorder:
    """A recorder into `folder`."""
    (folder / "status").write_bytes(b" " * 1024)
    return recorder.Recorder(str(folder / "inproc.wire"), str(folder / "status"), lambda path: path == __file__)


def test_very_long_runs_put_several_steps_into_one_record(tmp_path: Path) -> None:
    """Sums are kept, the last record comes when the loop ends."""
    out = make(tmp_path)
    out.merge = 4
    running = loops.Loops(out, NoWindows())
    loop = running.open(out.begin("fit", "fit", time_ns=0), "fit")
    for batch in range(10):
        loop.begin, loop.step_index, loop.callbacks = 100 * batch + 1, batch, 5
        loop.finish((None, batch), 100 * batch + 50)
    running.close(loop)
    out.finish()

    rows = wire.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 2000, FileNames("/"))["steps"].to_pylist()
    assert [(row["step"], row["count"], row["callbacks_ns"]) for row in rows] == [(0, 4, 20), (4, 4, 20), (8, 2, 10)]


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


def test_a_full_disk_silences_the_recorder_and_leaves_the_reason(tmp_path: Path) -> None:
    """Nothing is raised; the status file tells."""
    out = make(tmp_path)
    import os

    os.close(out._fd)
    out._fd = os.open("/dev/full", os.O_WRONLY)

    out.note("slug", "message")
    out.flush()
    out.finish()

    assert out.failed is not None
    assert "No space left" in (tmp_path / "status").read_text()
