"""The writer of the raw stream: what it writes when, and what it does when that fails."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from threading import get_ident

import pytest
from dlprof_probes import wire as fmt
from dlprof_probes.inproc import recorder, stream

from dlprof.ingest.own import wire
from dlprof.ingest.own.wire_stream import Stream
from tests.unit.inproc.conftest import Clock, Recorded

MS = 1_000_000
STEP = fmt.STEP_RECORD.pack(fmt.Record.STEP, fmt.STEP.size, 1, 1, 0, 0, 1, 10, 20, 0, 0, 0, 0, 0, 0)


def written(folder: Path) -> Stream:
    """What is in the file, without anything that still waits."""
    return wire.read(folder / "inproc.wire")


def test_steps_wait_for_half_a_second(out: Recorded, now: Clock, tmp_path: Path) -> None:
    """Then all that waits is written at once."""
    out._last_flush = now.ns
    out.step(STEP, now.ns + 499 * MS)
    assert list(written(tmp_path).steps) == []

    out.step(STEP, now.ns + 501 * MS)
    assert len(written(tmp_path).steps) == 2


def test_under_the_live_view_steps_wait_for_a_quarter(tmp_path: Path, now: Clock) -> None:
    """Someone looks on."""
    out = Recorded(tmp_path, live=True)
    out.step(STEP, now.ns + 251 * MS)

    assert len(written(tmp_path).steps) == 1


def test_what_is_outermost_is_written_when_it_begins(out: Recorded, tmp_path: Path, now: Clock) -> None:
    """It may be what kills the process; what is inside waits."""
    out.begin("fit", "fit")
    out.begin("epoch", "0")

    assert [span.name for span in written(tmp_path).spans.values()] == ["fit"]


def call(out: Recorded, now: Clock, name: str, ns: int) -> int:
    """A call on the outside that takes so long; what is written when it begins."""
    span = out.begin("predict", name)
    written_by_then = len(out._queue)
    now.ns += ns
    out.end(span)
    return written_by_then


def test_calls_that_were_over_at_once_are_not_written_each_time(out: Recorded, now: Clock) -> None:
    """Else `predict` for each row would write a file for each row: at most 20 ms of it are lost."""
    assert call(out, now, "predict", 1 * MS) == 0
    assert call(out, now, "predict", 1 * MS) > 0
    now.ns += 19 * MS
    assert call(out, now, "predict", 1 * MS) == 0


def test_calls_that_take_long_are_written_each_time(out: Recorded, now: Clock) -> None:
    """And the first one of a name, which may take long."""
    assert [call(out, now, "fit", 6 * MS) for _ in range(3)] == [0, 0, 0]
    assert call(out, now, "evaluate", 1 * MS) == 0


def test_facts_that_many_spans_share_are_said_once(out: Recorded) -> None:
    """In JSON: the second time nobody asks for them."""
    asked: list[int] = []

    def facts() -> dict[str, int]:
        asked.append(1)
        return {"batch_size": 32}

    for name in ("one", "two"):
        out.known_detail(out.begin("predict", name), ("batch_size", 32), facts)

    assert [span.detail for span in out.stream().spans.values()] == [{"batch_size": 32}] * 2
    assert asked == [1]


def test_under_the_live_view_everything_is_written_when_it_begins(tmp_path: Path, now: Clock) -> None:
    """And the end of what is outermost."""
    out = Recorded(tmp_path, live=True)
    outer = out.begin("fit", "fit")
    out.end(out.begin("epoch", "0"))
    assert [(s.name, s.end) for s in written(tmp_path).spans.values()] == [("fit", None), ("0", None)]

    out.end(outer)
    assert [(s.name, s.end) for s in written(tmp_path).spans.values()] == [("fit", 1000), ("0", 1000)]


def test_a_span_ends_with_all_that_was_left_open_in_it(out: Recorded, now: Clock) -> None:
    """An exception passed through."""
    outer = out.begin("fit", "fit")
    out.begin("epoch", "0")
    now.ns += 5

    out.end(outer)

    assert out.spans() == [("fit", "fit", 1000, 1005), ("epoch", "0", 1000, 1005)]
    assert out.stack() == []


def test_a_span_that_does_not_nest_is_around_nothing(out: Recorded) -> None:
    """It can end while others are open."""
    span = out.begin("script", "script", nests=False)
    inner = out.begin("fit", "fit")
    assert out.stack() == [(inner, "fit")]

    out.end(span, 2000)
    assert out.stack() == [(inner, "fit")]


def test_a_span_that_is_over_is_recorded_whole(out: Recorded) -> None:
    """With the times that it is told."""
    out.complete("import", "json", 100, 250)

    assert out.spans() == [("import", "json", 100, 250)]


def test_what_dlprof_itself_took_is_told_at_once(out: Recorded) -> None:
    """To who knows the lines that the program stands in; spans of the program are none of it."""
    told: list[int] = []
    out.on_own = told.append
    out.complete("dlprof", "start kernel tracing", 10, 25)
    out.complete("graph_compile", "jit", 30, 50)

    assert told == [15]


def test_details_add_to_one_another(out: Recorded) -> None:
    """Later facts of a span come to the earlier ones."""
    span = out.begin("fit", "fit")
    out.detail(span, {"epochs": 2})
    out.detail(span, {"samples": 10})

    assert next(iter(out.stream().spans.values())).detail == {"epochs": 2, "samples": 10}


def test_every_thread_has_its_name_and_its_own_stack(out: Recorded) -> None:
    """A span of one is not inside one of another."""
    outer = out.begin("fit", "fit")
    stacks: list[list[tuple[int, str]]] = []

    def work() -> None:
        span = out.begin("import", "json")
        stacks.append(list(out.stack()))
        out.end(span)

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()

    assert sorted(out.stream().threads.values()) == ["MainThread", "worker"]
    assert [kind for _, kind in stacks[0]] == ["import"]
    assert out.stack() == [(outer, "fit")]


def test_the_kind_of_every_record_comes_through(out: Recorded, now: Clock) -> None:
    """Facts, notes, states, collections and metrics."""
    out.meta({"pid": 7})
    out.note("slug", "message", "info")
    out.probe("lines", "on", None, 5, "measured")
    out.collection(10, 20, 2, 30)
    out.metrics(1, 0, 3, [("loss", 0.5), ("accuracy", 0.25)])

    stream = out.stream()

    assert stream.meta == {"pid": 7}
    assert [(n.slug, n.severity, n.message) for n in stream.notes] == [("slug", "info", "message")]
    assert stream.probes == [{"name": "lines", "state": "on", "reason": None, "cost_ns": 5, "cost_source": "measured"}]
    assert stream.collections == [(10, 20, 2, 30)]
    assert stream.metrics == [(1, 0, 3, 1000, "loss", 0.5), (1, 0, 3, 1000, "accuracy", 0.25)]


def test_a_text_is_written_once(out: Recorded) -> None:
    """And has the same number from then on; an empty one has none."""
    assert [out.string("fit"), out.string("epoch"), out.string("fit"), out.string("")] == [1, 2, 1, 0]


def test_too_many_different_texts_are_dropped_and_counted(
    out: Recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A script that makes names without end does not fill the memory."""
    monkeypatch.setattr(stream, "STRINGS_AT_MOST", 2)
    assert [out.string(text) for text in "abcd"] == [1, 2, 0, 0]

    out.finish()
    assert [(n.slug, n.message) for n in written(tmp_path).notes] == [
        ("strings-dropped", "2 names were dropped: too many different ones")
    ]


def test_odd_texts_do_not_stop_the_stream(out: Recorded) -> None:
    """Names of files need not be Unicode, facts need not be JSON."""
    out.begin("import", "\udcff")
    out.meta({"object": object})

    stream = out.stream()
    assert [span.name for span in stream.spans.values()] == ["?"]
    assert stream.meta == {"object": "<class 'object'>"}


@pytest.mark.parametrize(("size", "merge"), [(200, 1), (201, 2), (401, 4), (3201, 32)])
def test_a_stream_that_grows_puts_more_steps_into_a_record(
    out: Recorded, monkeypatch: pytest.MonkeyPatch, size: int, merge: int
) -> None:
    """Twice as many each time that its size has doubled."""
    monkeypatch.setattr(stream, "STREAM_BYTES_AT_MOST", 200)
    out._queue.append(b" " * (size - out._file.size))
    out.flush()

    assert (out._file.size, out.merge) == (size, merge)


def test_metrics_of_steps_are_the_first_to_go_in_a_very_long_run(out: Recorded) -> None:
    """Those of epochs stay."""
    out.merge = 2
    out.metrics(1, 0, 3, [("loss", 0.5)])
    out.metrics(1, 0, fmt.NONE, [("loss", 0.25)])

    assert [row[5] for row in out.stream().metrics] == [0.25]


def test_a_full_disk_silences_the_recorder_and_leaves_the_reason(out: Recorded, tmp_path: Path) -> None:
    """Nothing is raised; the status file tells."""
    os.close(out._file._fd)
    out._file._fd = os.open("/dev/full", os.O_WRONLY)
    full = os.fstat(out._file._fd)
    out._file._identity, out._file.size = (full.st_dev, full.st_ino), 0

    out.note("slug", "message")
    out.flush()
    out.finish()

    assert out.failed is not None
    assert "No space left" in (tmp_path / "status").read_text()


def test_the_first_failure_is_the_reason(out: Recorded, tmp_path: Path) -> None:
    """What fails after it is its consequence."""
    out.fail("first")
    out.fail("second")

    assert out.failed == "first"
    assert (tmp_path / "status").read_text().strip() == '{"failed":"first"}'


def test_a_status_file_that_is_gone_is_no_failure_of_the_program(out: Recorded, tmp_path: Path) -> None:
    """The run folder may have been removed meanwhile."""
    (tmp_path / "status").unlink()

    out.fail("the stream cannot be written")

    assert out.failed == "the stream cannot be written"


def test_a_forked_child_writes_nothing(out: Recorded, tmp_path: Path) -> None:
    """The stream is its parent's; what waits there is the parent's, too."""
    size = (tmp_path / "inproc.wire").stat().st_size
    out.pid = os.getpid() + 1

    out.note("slug", "of a child")
    out.flush()

    assert (tmp_path / "inproc.wire").stat().st_size == size
    assert not out._queue


def test_the_end_closes_what_is_open(out: Recorded, now: Clock, tmp_path: Path) -> None:
    """And says that the stream is whole."""
    out.begin("fit", "fit")
    out.begin("epoch", "0")
    now.ns += 7

    out.finish()

    stream = written(tmp_path)
    assert [span.end for span in stream.spans.values()] == [1007, 1007]
    assert (stream.complete, stream.last_ns) == (True, 1007)


def test_what_comes_after_the_file_was_closed_is_dropped(out: Recorded) -> None:
    """In a process that goes on."""
    out.finish()
    out.close()
    out.note("slug", "late")
    out.flush()

    assert out.failed == "closed"


def test_a_stream_is_never_written_over(out: Recorded, tmp_path: Path) -> None:
    """Of another process, say."""
    with pytest.raises(FileExistsError):
        Recorded(tmp_path)


def test_the_user_s_line_is_looked_for_outwards(out: Recorded) -> None:
    """The innermost frame of a file of the user's own."""
    import sys

    frames: list[object] = []
    exec(compile("frames.append(sys._getframe())", "/library.py", "exec"), {"frames": frames, "sys": sys})

    assert out.user_line(frames[0])[0] == __file__
    assert out.user_line(None) == ("", 0)


def test_the_trailer_has_the_checksum_of_all_before_it(tmp_path: Path) -> None:
    """So that a byte that is another is seen, wherever it is."""
    out = Recorded(tmp_path)
    out.end(out.begin("fit", "fit"))
    out.finish()
    content = (tmp_path / "inproc.wire").read_bytes()
    assert not wire.read(tmp_path / "inproc.wire").changed

    (tmp_path / "inproc.wire").write_bytes(content.replace(b"fit", b"fat"))

    stream = wire.read(tmp_path / "inproc.wire")
    assert (stream.complete, stream.changed) == (True, True)


def test_a_thread_that_has_the_number_of_one_before_has_its_own_name(
    out: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python gives the numbers of threads that have ended again: the system's number tells."""
    spans = []
    for number, name in ((501, "first"), (501, "first"), (502, "second")):
        monkeypatch.setattr(recorder, "_system_number", lambda number=number: number)
        monkeypatch.setattr(recorder, "_thread_name", lambda _ident, name=name: name)
        spans.append(out.begin("import", "json"))
        out.end(spans[-1])

    told = out.stream().in_turn.all
    assert [(one.number, one.span, one.name) for one in told] == [(501, spans[0], "first"), (502, spans[2], "second")]


def test_what_a_thread_leaves_open_ends_with_it(out: Recorded, now: Clock) -> None:
    """One with the same number is not inside of it, and has done nothing yet."""
    out.end(out.begin("compile", "compile"))
    out.begin("fit", "fit")
    now.ns = 1500
    out.thread_ended(get_ident())
    now.ns = 2000

    assert (out.stack(), out.idle_since) == ([], {})
    assert out.spans()[-1] == ("fit", "fit", 1000, 1500)
