"""Run folders with raw artifacts and no tables, written by the recorder of the probe itself."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any
from unittest import mock

from dlprof_probes import wire
from dlprof_probes.inproc import recorder as recorders
from dlprof_probes.inproc.recorder import Recorder

from dlprof.rundir import RunDir
from dlprof.schema.manifest import Anchor, Backend, Clock, Command, Machine, Manifest, Probe, Process

MS = 1_000_000
S = 1_000 * MS
ORIGIN = 5_000 * S
"""Zero of the runs on the clock of their process (ns)."""
MAIN = 7


def manifest(**changes: Any) -> Manifest:
    """That of train.py, whose process lasted 10 s; its tables were not made yet."""
    told: dict[str, Any] = {
        "command": Command(script="train.py"),
        "backend": Backend(name="torch", source="managed"),
        "machine": Machine(host="h", cores=2),
        "clock": Clock(origin_perf_ns=ORIGIN, anchor_start=Anchor(perf_ns=ORIGIN, wall_ns=ORIGIN)),
        "script_folder": "/nowhere",
        "created": "2026-11-21T10:00:00+00:00",
        "process": Process(pid=42, exit_code=0, wall_ns=10 * S),
        "probes": tuple(Probe(name=name) for name in ("phases", "cores")),
    }
    return Manifest(**{**told, **changes})


def make(path: Path, told: Manifest | None = None) -> RunDir:
    """A folder with the whole stream of a training and the samples of cores."""
    folder = RunDir(path)
    folder.raw.mkdir(parents=True)
    folder.write_manifest(told or manifest())
    write_stream(folder.raw / "inproc.wire")
    write_cores(folder.raw / "cores.jsonl")
    return folder


def write_stream(path: Path, *, end: bool = True) -> None:
    """An import of 1 s, then a `fit` from 2 s to 8 s with a step each 100 ms in two epochs; end of the script at 9 s."""
    with mock.patch.object(recorders, "get_ident", lambda: MAIN):
        _write_stream(Recorder(str(path), str(path.with_suffix(".status")), lambda _file: False))
    if end:
        path.write_bytes(ended(path.read_bytes(), ORIGIN + 9 * S))


def _write_stream(recorder: Recorder) -> None:
    recorder.meta({"pid": 42, "main_thread": MAIN, "boot_ns": ORIGIN + 100 * MS, "engine": "torch"})
    script = _begin(recorder, wire.SpanKind.SCRIPT, 0.2)
    _whole(recorder, wire.SpanKind.IMPORT, 0.2, 1.2)
    fit = _begin(recorder, wire.SpanKind.FIT, 2)
    recorder.detail(fit, {"batch_size": 32})
    _whole(recorder, wire.SpanKind.BUILD, 2, 2.5)
    for epoch, (start, stop) in enumerate(((2.5, 5), (5, 8))):
        span = _begin(recorder, wire.SpanKind.EPOCH, start, str(epoch))
        _steps(recorder, fit, epoch, round(start * 10), round(stop * 10))
        recorder.end(span, ORIGIN + round(stop * S))
        recorder.metrics(fit, epoch, wire.NONE, [("loss", 1.0 / (1 + epoch))])
    recorder.end(fit, ORIGIN + 8 * S)
    recorder.collection(ORIGIN + 8 * S, 1 * MS, 2, 5)
    recorder.end(script, ORIGIN + 9 * S)
    recorder.flush()


def ended(content: bytes, time_ns: int) -> bytes:
    """A stream with its end, as the probe writes it."""
    trailer = {"time_ns": time_ns, "crc32": zlib.crc32(content)}
    return content + bytes(wire.record(wire.Record.TRAILER, wire.json_payload(trailer)))


def _begin(recorder: Recorder, kind: str, at_s: float, name: str = "x") -> int:
    number: int = recorder.begin(kind, name, time_ns=ORIGIN + round(at_s * S))
    return number


def _whole(recorder: Recorder, kind: str, start_s: float, end_s: float) -> None:
    recorder.complete(kind, "x", ORIGIN + round(start_s * S), ORIGIN + round(end_s * S))


def _steps(recorder: Recorder, loop: int, epoch: int, start: int, stop: int) -> None:
    """Steps of 90 ms, one in each 100 ms, with 5 ms of callbacks and 10 ms of input before them."""
    for number, tenth in enumerate(range(start, stop)):
        begin = ORIGIN + tenth * 100 * MS + 10 * MS
        flags = wire.STEP_HAS_INPUT | wire.STEP_HAS_CALL | (0 if number or epoch else wire.STEP_FIRST)
        fields = (MAIN, loop, epoch, number, 1, begin, begin + 90 * MS, 10 * MS, 5 * MS, 3 * MS, 70 * MS, 0, flags)
        recorder.step(wire.record(wire.Record.STEP, wire.STEP.pack(*fields)), begin)


def write_cores(path: Path, *, end: bool = True) -> None:
    """Samples of one core each second, of which the process takes half."""
    header = {"format": "dlprof.cores/1", "ticks_per_s": 100, "page_bytes": 4096, "pid": 42}
    rows: list[Any] = [header, ["p", ORIGIN, 42, 1, "python train.py", 0]]
    for second in range(10):
        ticks = [50 * second, 0, 0, 0, 50 * second]
        process = [42, 50 * second, 1000, 4, 0, 0, 0]
        rows.append(["c", ORIGIN + second * S + 1, [ticks], 0, [process]])
        rows.append(["m", ORIGIN + second * S + 1, 8 << 30, 0, None, None, [[42]]])
    if end:
        rows.append({"end": True, "rows": 20, "cost_cpu_ns": 5 * MS, "missed": 0})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
