"""What a long run costs: `python -m tests.benchmarks.long_run [--steps N] [--hours H] [-o FOLDER]`.

Nothing is trained. The raw artifacts of a run are written as its probes write them (stream, samples of cores, sampled
stacks), then each command is run on them in a process of its own:

    raw      bytes of the raw artifacts, or of what the command made
    peak     largest resident memory of the process (VmHWM, by itself: `getrusage` has the parent's), with files it maps
    cpu      CPU time, user and system

The stream is as long as the recorder lets it become (it puts steps together above 64 MB); `--each` writes a record for
each step instead. Not part of the tests; `tests/unit/pipeline/test_long_runs.py` has the bounds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from dlprof_probes import wire
from dlprof_probes.inproc import stream

from dlprof.rundir import RunDir
from dlprof.schema.manifest import Anchor, Backend, Clock, Command, Keras, Machine, Manifest, Probe, Process

S = 1_000_000_000
MS = 1_000_000
ORIGIN = 5_000 * S
MAIN = 7
CORES = 2
_STRINGS = {1: "script", 2: "fit", 3: "epoch", 4: "callbacks", 5: "loss", 6: "train.py", 7: "dlprof", 8: "predict"}
_INGEST = """
from pathlib import Path
from dlprof.pipeline.ingest import ingest
from dlprof.rundir import RunDir
ingest(RunDir(Path(sys.argv[1])))
"""
_DLPROF = """
from dlprof.__main__ import main
if main():
    sys.exit(1)
"""
_PEAK = """
with open("/proc/self/status") as status, open(told, "w") as out:
    out.write(next(line for line in status if line.startswith("VmHWM")))
"""
_STEP = np.dtype(
    [("type", "u1"), ("size", "<u4"), ("thread", "<u8"), ("loop", "<u4"), ("epoch", "<i4"), ("step", "<i4"),
     ("count", "<u4"), ("begin", "<i8"), ("end", "<i8"), ("input", "<i8"), ("callbacks", "<i8"), ("offset", "<i8"),
     ("call", "<i8"), ("wait", "<i8"), ("flags", "u1")]
)  # fmt: skip
"""`wire.STEP_RECORD`, to write many of them at once."""


def make(path: Path, steps: int, hours: float, *, epoch: int = 1000, each: bool = False, hz: float = 10.0,
         stacks_hz: float = 20.0, calls: int = 0) -> RunDir:  # fmt: skip
    """A run folder without tables.

    Args:
        path: Folder, which is made.
        steps: Steps of `fit`.
        hours: How long the run took.
        epoch: Steps of an epoch.
        each: A record for each step, however many they are.
        hz: Samples of cores per second; 0: none.
        stacks_hz: Sampled stacks per second; 0: none.
        calls: Calls of `predict` by the script itself, each a span.
    """
    folder = RunDir(path)
    folder.raw.mkdir(parents=True)
    wall = round(hours * 3600 * S)
    folder.write_manifest(_manifest(wall))
    with (folder.raw / "inproc.wire").open("wb") as out:
        for piece in _stream(steps, wall, epoch, calls, each=each):
            out.write(piece)
    if hz:
        with (folder.raw / "cores.jsonl").open("w", encoding="utf-8") as text:
            text.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in _cores(wall, hz))
    if stacks_hz:
        _stacks(folder.raw, wall, stacks_hz)
    return folder


def marks(path: Path, steps: int, hours: float) -> RunDir:
    """A run folder of a program that is no Python script, and marks each of its steps."""
    folder = RunDir(path)
    folder.raw.mkdir(parents=True)
    wall = round(hours * 3600 * S)
    folder.write_manifest(_manifest(wall))
    with (folder.raw / "marks.jsonl").open("w", encoding="utf-8") as out:
        out.write(f'[{ORIGIN + S}, "begin fit batch_size=32"]\n')
        each = (wall - 2 * S) // steps
        out.writelines(f'[{ORIGIN + S + (n + 1) * each}, "step"]\n' for n in range(steps))
        out.write(f'[{ORIGIN + wall - S // 2}, "end fit"]\n')
    return folder


def _manifest(wall: int) -> Manifest:
    return Manifest(
        command=Command(script="train.py"),
        backend=Backend(name="torch", source="managed"),
        keras=Keras(module="keras", version="3.15.0", backend="torch"),
        machine=Machine(host="h", cores=CORES),
        clock=Clock(origin_perf_ns=ORIGIN, anchor_start=Anchor(perf_ns=ORIGIN, wall_ns=ORIGIN)),
        script_folder="/nowhere",
        created="2026-11-21T10:00:00+00:00",
        state="finished",
        process=Process(pid=42, exit_code=0, wall_ns=wall),
        probes=tuple(Probe(name=name) for name in ("phases", "cores", "stacks")),
    )


def _stream(steps: int, wall: int, of_epoch: int, calls: int, *, each: bool) -> Iterator[bytes]:
    """An import, a `fit` with epochs of steps, a callback and a loss for each epoch; then calls of predict."""
    meta = {"pid": 42, "main_thread": MAIN, "boot_ns": ORIGIN + 100 * MS}
    yield wire.MAGIC + bytes([wire.VERSION]) + wire.record(wire.Record.META, wire.json_payload(meta))
    yield wire.record(wire.Record.THREAD, wire.THREAD_HEAD.pack(MAIN) + b"MainThread")
    for number, text in _STRINGS.items():
        yield wire.record(wire.Record.STRING, wire.STRING_HEAD.pack(number) + text.encode())
    first, last = ORIGIN + 2 * S, ORIGIN + wall - 2 * S
    fit_ends = last if not calls else first + (last - first) // 2
    yield _begin(1, 1, ORIGIN + S) + _begin(2, 2, first)
    yield wire.record(wire.Record.DETAIL, wire.STRING_HEAD.pack(2) + wire.json_payload({"batch_size": 32}))
    yield from _epochs(steps, first, fit_ends, of_epoch, each=each)
    yield _end(2, fit_ends)
    yield from _calls(calls, fit_ends, last)
    yield _end(1, last + S)
    yield wire.record(wire.Record.TRAILER, wire.json_payload({"time_ns": last + S + MS}))


def _epochs(steps: int, first: int, last: int, of_epoch: int, *, each: bool) -> Iterator[bytes]:
    random = np.random.default_rng(0)
    took, span, written, merge = (last - first) // steps, 3, 0, 1
    for epoch, done in enumerate(range(0, steps, of_epoch)):
        count = min(of_epoch, steps - done)
        begin = first + done * took
        rows = _steps(random, epoch, count, begin, took, merge)
        end = begin + count * took
        metrics = wire.METRICS.pack(2, epoch, wire.NONE, end - MS) + wire.METRIC.pack(5, 1.0 / (1 + epoch))
        piece = b"".join(
            (_begin(span, 3, begin, str(epoch)), rows, _begin(span + 1, 4, end - took // 20), _end(span + 1, end),
             _end(span, end), wire.record(wire.Record.METRICS, metrics))
        )  # fmt: skip
        span, written = span + 2, written + len(piece)
        while not each and written > stream.STREAM_BYTES_AT_MOST * merge:
            merge *= 2
        yield piece


def _steps(random: np.random.Generator, epoch: int, count: int, begin: int, took: int, merge: int) -> bytes:
    """The steps of an epoch, as many in each record as are put together."""
    firsts = np.arange(0, count, merge)
    rows = np.zeros(len(firsts), _STEP)
    rows["type"], rows["size"], rows["thread"], rows["loop"] = wire.Record.STEP, wire.STEP.size, MAIN, 2
    rows["epoch"], rows["step"], rows["count"] = epoch, firsts, np.minimum(merge, count - firsts)
    jitter = random.integers(0, took // 10, len(firsts))
    rows["begin"] = begin + firsts * took + took // 20
    rows["end"] = rows["begin"] + took * rows["count"] - took // 8 - jitter
    rows["input"], rows["callbacks"] = took // 20, took // 50
    rows["offset"], rows["call"] = took // 100, took // 2
    first = wire.STEP_FIRST | wire.STEP_COMPILED
    rows["flags"] = wire.STEP_HAS_INPUT | wire.STEP_HAS_CALL
    rows["flags"][0] |= first if epoch == 0 else 0
    return rows.tobytes()


def _calls(calls: int, first: int, last: int) -> Iterator[bytes]:
    took = (last - first) // max(1, calls)
    for number in range(calls):
        span, begin = 1_000_000 + number, first + number * took
        yield _begin(span, 8, begin) + _end(span, begin + took // 2)


def _begin(span: int, kind: int, time_ns: int, name: str = "") -> bytes:
    number, told = kind, b""
    if name:  # a name of its own, as those of epochs are
        number = 1000 + int(name)
        told = wire.record(wire.Record.STRING, wire.STRING_HEAD.pack(number) + name.encode())
    return bytes(told + wire.record(wire.Record.BEGIN, wire.BEGIN.pack(span, kind, number, MAIN, time_ns, 6, 10)))


def _end(span: int, time_ns: int) -> bytes:
    return bytes(wire.record(wire.Record.END, wire.END.pack(span, time_ns)))


def _cores(wall: int, hz: float) -> Iterator[list[object] | dict[str, object]]:
    """Samples of cores and processes, and each second of the machine."""
    yield {"format": "dlprof.cores/1", "ticks_per_s": 100, "page_bytes": 4096, "pid": 42}
    yield ["p", ORIGIN, 42, 1, "python train.py", 0]
    samples = int(wall / S * hz)
    every = max(1, round(hz))
    for n in range(samples):
        at, ticks = ORIGIN + round(n * S / hz) + 1, int(n * 100 / hz)
        cores = [[ticks // 2, ticks // 10, 0, 0, ticks - ticks // 2 - ticks // 10] for _ in range(CORES)]
        if n % every == 0:
            slow = [42, n, n, n * 1000, 0, n * MS, 0, n * MS, 0, n]
            yield ["m", at, 8 << 30, 0, 50.0, [2000.0] * CORES, [slow], [0, 0, 0, 0]]
        yield ["c", at, cores, n // 100, [[42, ticks, 100_000, 20, n, 0, 0]]]
    yield {"end": True, "rows": samples, "cost_cpu_ns": 5 * MS, "missed": 0}


def _stacks(raw: Path, wall: int, hz: float) -> None:
    """Segments of 5 minutes in which the innermost of eight functions changes with each sample."""
    for number, begin in enumerate(range(0, wall, 300 * S)):
        samples = int(min(300 * S, wall - begin) / S * hz)
        anchor = {"before_ns": ORIGIN + begin, "after_ns": ORIGIN + begin + MS, "rate_hz": hz, "samples": samples}
        name = raw / f"stacks-{number:03d}"
        name.with_suffix(".anchor.json").write_text(json.dumps(anchor), encoding="utf-8")
        name.with_suffix(".json").write_text(json.dumps(list(_events(samples, hz))), encoding="utf-8")


def _events(samples: int, hz: float) -> Iterator[dict[str, object]]:
    head: dict[str, object] = {"cat": "py-spy", "pid": 42, "tid": 42}
    around = [("<module>", "train.py", 3), ("fit", "/lib/keras/src/trainer.py", 300)]
    for name, file, line in around:
        args = {"filename": file, "line": line}
        yield {**head, "name": name, "ph": "B", "ts": 0, "args": args}
    for n in range(samples):
        args = {"filename": f"/lib/torch/ops_{n % 8}.py", "line": n % 97}
        yield {**head, "name": f"op_{n % 8}", "ph": "B", "ts": round(n * 1e6 / hz), "args": args}
        yield {**head, "name": f"op_{n % 8}", "ph": "E", "ts": round((n + 1) * 1e6 / hz), "args": args}
    for name, file, line in reversed(around):
        args = {"filename": file, "line": line}
        yield {**head, "name": name, "ph": "E", "ts": round(samples * 1e6 / hz), "args": args}


class Used(msgspec.Struct, frozen=True):
    """What a process took.

    Attributes:
        rc: Its exit status.
        peak_mb: Largest resident memory (10^6 bytes).
        cpu_s: CPU time (s).
        wall_s: Wall time (s).
    """

    rc: int
    peak_mb: float
    cpu_s: float
    wall_s: float


def used(code: str, words: Sequence[str], out: Path | None = None) -> Used:
    """Run code, with `sys` imported, in a process of its own, and see what it takes; its output goes to a file."""
    with tempfile.NamedTemporaryFile() as told:
        whole = f"import sys\ntold = {told.name!r}\n{code}\n{_PEAK}"
        start = time.perf_counter()
        to = os.open(out or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        command = [sys.executable, "-c", whole, *words]
        pid = os.posix_spawn(sys.executable, command, dict(os.environ), file_actions=[(os.POSIX_SPAWN_DUP2, to, 1)])
        os.close(to)
        _, status, usage = os.wait4(pid, 0)
        wall_s, peak = time.perf_counter() - start, Path(told.name).read_text(encoding="ascii").split()
    peak_mb = int(peak[1]) * 1024 / 1e6 if peak else float("nan")
    return Used(os.waitstatus_to_exitcode(status), peak_mb, usage.ru_utime + usage.ru_stime, wall_s)


def commands(run: Path, page: Path) -> dict[str, tuple[str, list[str]]]:
    """What is measured, by name: code and its arguments."""
    name = str(run)
    return {
        "ingest": (_INGEST, [name]),
        "report": (_DLPROF, ["report", name]),
        "report --json": (_DLPROF, ["report", name, "--json"]),
        "kernels": (_DLPROF, ["kernels", name, "--json"]),
        "page": (_DLPROF, ["report", name, "--html", str(page)]),
    }


def main(words: Sequence[str] | None = None) -> None:
    """Make the run, measure, and print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--epoch", type=int, default=1000, help="steps of an epoch")
    parser.add_argument("--calls", type=int, default=0, help="calls of predict, each a span")
    parser.add_argument("--each", action="store_true", help="a record for each step")
    parser.add_argument("--marks", action="store_true", help="a program that marks its steps, instead of Keras")
    parser.add_argument("--hz", type=float, default=10.0)
    parser.add_argument("--stacks-hz", type=float, default=20.0)
    parser.add_argument("--only", action="append", help="of the commands")
    parser.add_argument("-o", dest="folder", type=Path, help="keep the run here; one that is there is used again")
    args = parser.parse_args(words)
    folder = args.folder or Path(tempfile.mkdtemp())
    try:
        _measure(args, folder)
    finally:
        if args.folder is None:
            shutil.rmtree(folder)


def _measure(args: argparse.Namespace, folder: Path) -> None:
    run = folder / "run"
    if not run.is_dir():
        if args.marks:
            marks(run, args.steps, args.hours)
        else:
            make(run, args.steps, args.hours, epoch=args.epoch, each=args.each, hz=args.hz,
                 stacks_hz=args.stacks_hz, calls=args.calls)  # fmt: skip
    raw = sum(path.stat().st_size for path in (run / "raw").rglob("*") if path.is_file())
    print(f"{args.steps:,} steps, {args.hours:g} h, raw {raw / 1e6:.0f} MB", flush=True)
    for name, command in commands(run, folder / "page.html").items():
        if not args.only or name in args.only:
            took = used(*command, folder / "out.txt")
            size = (folder / ("page.html" if name == "page" else "out.txt")).stat().st_size
            line = f"{name:<14} peak {took.peak_mb:7.0f} MB  cpu {took.cpu_s:7.1f} s  wall {took.wall_s:7.1f} s"
            print(f"{line}  out {size / 1e6:6.2f} MB  rc {took.rc}", flush=True)


if __name__ == "__main__":
    main()
