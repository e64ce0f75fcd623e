"""Following artifacts while they are written: cut records, growing files, damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dlprof_probes import wire
from dlprof_probes.inproc import loops, recorder

from dlprof.live import tail
from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.records import GpuFigures, Metric, Span
from dlprof.live.tail import GrowingFile, JsonLines, Stream, Tail


def stream(folder: Path, *, live: bool = False) -> recorder.Recorder:
    """A stream as the probe writes it."""
    (folder / "status").write_bytes(b" " * 1024)
    return recorder.Recorder(str(folder / "inproc.wire"), str(folder / "status"), lambda _path: False, live)


def test_the_stream_is_followed_as_it_grows(tmp_path: Path) -> None:
    """Spans, steps and metrics of a writer that is still at work."""
    out = stream(tmp_path)
    live = LiveRun("mlp", "mxnet", 0)
    following = Tail(tmp_path, live)
    out.meta({"main_thread": 7, "boot_ns": 5})
    fit = out.begin("fit", "fit", time_ns=10)
    out.detail(fit, {"epochs": 3, "samples": 1000, "batch_size": 300})
    loop = loops.Loop(out, [0], fit)
    loop.start_epoch(1)
    loop.begin, loop.step_index = 1_000_000, 2
    loop.finish((None, 2), 5_000_000)
    out.metrics(fit, 1, 2, [("loss", 0.5)])
    out.flush()

    following.look()

    assert live.streaming
    assert live.loop is not None
    assert live.loop.position() == ["epoch 2/3", "step 3/4"]
    assert live.metrics == {"loss": Metric(0.5, 1, 2)}
    out.end(fit)
    out.probe("lines", "unavailable", "no line_profiler")
    out.flush()
    following.look()
    assert not live.in_loop()
    assert live.probe("lines") == ProbeStatus("unavailable", "no line_profiler")


def test_a_record_that_is_cut_anywhere_is_taken_when_it_is_whole(tmp_path: Path) -> None:
    """The stream comes byte by byte; nothing is lost or taken twice."""
    out = stream(tmp_path)
    out.meta({"main_thread": 7, "boot_ns": 5})
    for number in range(3):
        out.end(out.begin("import", f"module {number}", time_ns=100 * number + 10), 100 * number + 60)
    out.flush()
    whole = (tmp_path / "inproc.wire").read_bytes()
    live = LiveRun("mlp", "mxnet", 0)
    target = tmp_path / "growing.wire"
    following = GrowingFile(target, Stream(live))
    begun: list[str] = []

    def begin(span: Span, time_ns: int) -> None:
        begun.append(span.name)

    live.begin = begin  # type: ignore[method-assign]

    for size in range(len(whole) + 1):
        target.write_bytes(whole[:size])
        following.look()

    assert begun == ["module 0", "module 1", "module 2"]
    assert following.failed is None


def test_while_someone_looks_on_what_begins_is_written_at_once(tmp_path: Path) -> None:
    """It may last for minutes; and so is the end of what was outermost."""
    out = stream(tmp_path, live=True)
    live = LiveRun("mlp", "mxnet", 0)
    following = Tail(tmp_path, live)

    fit = out.begin("fit", "fit")
    out.begin("graph_compile", "train_step")
    following.look()
    assert live.in_loop() is False  # spans of a thread that is not known to be the main one
    assert [span.kind for span in live._open.values()] == ["fit", "graph_compile"]

    out.end(fit)
    following.look()
    assert live._open == {}


def test_without_an_onlooker_inner_spans_wait_in_memory(tmp_path: Path) -> None:
    """One write less for each."""
    out = stream(tmp_path)
    live = LiveRun("mlp", "mxnet", 0)

    out.begin("fit", "fit")
    out.begin("graph_compile", "train_step")
    Tail(tmp_path, live).look()

    assert [span.kind for span in live._open.values()] == ["fit"]


@pytest.mark.parametrize(
    "data",
    [
        b"something else altogether",
        wire.MAGIC + bytes([wire.VERSION + 1]),
        wire.MAGIC + b"\x01" + wire.HEAD.pack(wire.Record.BEGIN, 3) + b"abc",
        wire.MAGIC + b"\x01" + wire.HEAD.pack(wire.Record.META, 1 << 30),
    ],
)
def test_a_foreign_or_damaged_stream_ends_only_its_own_following(data: bytes, tmp_path: Path) -> None:
    """No exception comes out, and the file is not read again."""
    (tmp_path / "inproc.wire").write_bytes(data)
    following = GrowingFile(tmp_path / "inproc.wire", Stream(LiveRun("a", "b", 0)))

    following.look()
    following.look()

    assert following.failed is not None


def test_lines_of_json_are_taken_when_they_are_whole(tmp_path: Path) -> None:
    """Half a line waits for its end."""
    rows: list[object] = []
    following = GrowingFile(tmp_path / "rows.jsonl", JsonLines(rows.append))
    following.look()
    with (tmp_path / "rows.jsonl").open("ab", buffering=0) as target:
        for piece in (b'{"format": "x"}\n["c", 1', b"0, [", b"]]\n[2]\n[3"):
            target.write(piece)
            following.look()

    assert rows == [{"format": "x"}, ["c", 10, []], [2]]
    assert following.failed is None


def test_more_than_one_look_takes_is_taken_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look is bounded."""
    monkeypatch.setattr(tail, "READ_BYTES", 64)
    rows: list[object] = []
    (tmp_path / "rows.jsonl").write_text("".join(f"[{n}]\n" for n in range(100)))
    following = GrowingFile(tmp_path / "rows.jsonl", JsonLines(rows.append))

    following.look()
    assert len(rows) < 20
    for _ in range(10):
        following.look()
    assert rows == [[n] for n in range(100)]


def test_rows_of_cores_and_gpus_and_states_of_the_sampler(tmp_path: Path) -> None:
    """As `dlprof_probes.sidecar` writes them."""
    (tmp_path / "cores.jsonl").write_text(
        json.dumps({"format": "dlprof.cores/1", "page_bytes": 4096, "ticks_per_s": 100}) + "\n"
        '["m", 1, 5000, 0, null, null, [], []]\n'
        '["p", 1, 10, 1, "python", false]\n'
        '["c", 1000000000, [[0,0,0,0,0]], 0, [[10, 0, 3, 1, 0, 0]]]\n'
        '["c", 2000000000, [[25,25,0,0,50]], 0, [[10, 50, 3, 1, 0, 0]]]\n'
        '{"end": true, "rows": 4}\n'
    )
    (tmp_path / "gpu.jsonl").write_text(
        '{"format": "dlprof.gpu/1", "columns": ["utilisation_pct", "power_w"], "gpus": [{"name": "H200"}]}\n'
        "[5, 0, 87, null]\n"
    )
    (tmp_path / "sampler.json").write_text('{"gpu": {"state": "unavailable", "reason": "no driver"}}')
    live = LiveRun("a", "b", 0)

    Tail(tmp_path, live).look()

    assert live.machine.busy_pct == (50.0,)
    assert live.machine.cpu_pct == 50.0
    assert live.machine.available_bytes == 5000
    assert live.machine.gpus == {0: GpuFigures(utilisation_pct=87)}
    assert live.machine.gpu_names == ("H200",)
    assert live.probe("gpu") == ProbeStatus("unavailable", "no driver")


def test_files_that_are_not_there_yet_are_empty(tmp_path: Path) -> None:
    """The sampler and the probe start after the view."""
    (tmp_path / "sampler.json").write_text('{"cores": {"sta')

    Tail(tmp_path, LiveRun("a", "b", 0)).look()
