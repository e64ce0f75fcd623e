"""The tables that are made of what the probe told."""

from __future__ import annotations

import struct
import threading
from pathlib import Path
from typing import Any

from dlprof_probes import wire as fmt
from dlprof_probes.inproc import loops

from dlprof.ingest.file_names import FileNames
from dlprof.ingest.own import stream_tables, wire
from tests.unit.ingest.own.test_wire import PROCESS, example, make


def test_a_step_keeps_its_parts(tmp_path: Path) -> None:
    """Times of the call and of the callbacks, and that it was the first of its function."""
    row = stream_tables.tables(wire.read(example(tmp_path)), PROCESS, 1000, FileNames("/"))["steps"].to_pylist()[0]

    assert (row["loop"], row["start_ns"], row["dur_ns"], row["callbacks_ns"]) == ("train", 200, 60, 7)
    assert (row["call_offset_ns"], row["call_ns"], row["first"], row["compiled"]) == (10, 40, True, True)


def test_a_step_of_a_stream_before_waits_were_told_is_read(tmp_path: Path) -> None:
    """Whether it waited is not known."""
    payload = struct.pack("<QIiiIqqqqqqB", 1, 1, 0, 0, 1, 200, 260, 0, 7, 10, 40, 1)
    path = tmp_path / "inproc.wire"
    path.write_bytes(fmt.MAGIC + b"\x01" + fmt.record(fmt.Record.STEP, payload))

    (row,) = stream_tables.tables(wire.read(path), PROCESS, 1000, FileNames("/"))["steps"].to_pylist()

    assert (row["start_ns"], row["callbacks_ns"], row["compiled"], row["wait_ns"]) == (200, 7, True, None)


def test_a_step_keeps_its_wait(tmp_path: Path) -> None:
    """Where waits are looked at."""
    out = make(tmp_path)
    loop = loops.Loop(out, [0], out.begin("fit", "fit", time_ns=100), waits=[True])
    loop.start_epoch(0)
    loop.previous_end = 0  # else it is this machine's time, which may be more than a day
    loop.begin, loop.device_wait = 200, 30
    loop.finish((None, 0), 260)
    out.finish()

    (row,) = stream_tables.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 1000, FileNames("/"))[
        "steps"
    ].to_pylist()

    assert row["wait_ns"] == 30


def test_parents_follow_from_the_nesting_of_times(tmp_path: Path) -> None:
    """The epoch is inside fit."""
    rows = stream_tables.tables(wire.read(example(tmp_path)), PROCESS, 1000, FileNames("/"))["spans"].to_pylist()

    assert [row["parent_id"] for row in rows] == [None, 1]


def test_a_span_that_never_ended_lasts_until_the_end_of_the_process(tmp_path: Path) -> None:
    """And is marked so."""
    out = make(tmp_path)
    out.begin("fit", "fit", time_ns=100)
    out.flush()

    row = stream_tables.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 900, FileNames("/"))["spans"].to_pylist()[
        0
    ]

    assert (row["dur_ns"], row["ended"]) == (800, False)


def test_the_last_batch_of_an_epoch_counts_its_own_samples(tmp_path: Path) -> None:
    """1,000 samples in batches of 300: the fourth step has 100."""
    out = make(tmp_path)
    fit = out.begin("fit", "fit", time_ns=0)
    out.detail(fit, {"batch_size": 300, "samples": 1000})
    loop = loops.Loop(out, [0], fit)
    loop.start_epoch(0)
    loop.previous_end = 0  # else it is this machine's time, which may be more than a day
    for batch in range(4):
        loop.begin, loop.step_index = 10 + batch, batch
        loop.finish((None, batch), 11 + batch)
    out.finish()

    table = stream_tables.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 100, FileNames("/"))["steps"]
    assert table["samples"].to_pylist() == [300, 300, 300, 100]


def test_facts_are_spelled_as_python_spells_them(tmp_path: Path) -> None:
    """Queries look for parts of the text."""
    out = make(tmp_path)
    out.detail(out.begin("fit", "fit", time_ns=0), {"how": "inferred", "steps": [1, 2]})
    out.finish()

    (row,) = stream_tables.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 100, FileNames("/"))[
        "spans"
    ].to_pylist()
    assert row["detail"] == '{"how": "inferred", "steps": [1, 2]}'


def test_threads_have_spans_of_their_own(tmp_path: Path) -> None:
    """A span on another thread is no child of one on this."""
    out = make(tmp_path)
    outer = out.begin("fit", "fit")
    thread = threading.Thread(target=lambda: out.end(out.begin("import", "json")), name="worker")
    thread.start()
    thread.join()
    out.end(outer)
    out.finish()

    rows = stream_tables.tables(wire.read(tmp_path / "inproc.wire"), PROCESS, 1 << 62, FileNames("/"))[
        "spans"
    ].to_pylist()
    assert [(row["thread"], row["parent_id"]) for row in rows] == [("MainThread", None), ("worker", None)]


def test_a_thread_is_called_what_it_was_when_its_span_began(tmp_path: Path) -> None:
    """Not what another one is called that has its number later."""
    names = [row["thread"] for row in _in_turn(tmp_path).to_pylist()]

    assert names == ["first", "second"]


def _in_turn(folder: Path) -> Any:
    """Spans of two threads that had one number in turn."""
    out = make(folder)
    for number, name in ((501, b"first"), (502, b"second")):
        span = out.begin("import", "json")
        out._add(fmt.Record.SYSTEM_THREAD, fmt.SYSTEM_THREAD.pack(threading.get_ident(), number, span) + name)
        out.end(span)
    out.finish()
    return stream_tables.tables(wire.read(folder / "inproc.wire"), PROCESS, 1 << 62, FileNames("/"))["spans"]
