"""A status line at the bottom of the terminal while the script runs.

The script writes straight to the same terminal. So that neither touches the other's text, the last row
is taken out of the scrolling region, and each update saves the cursor, draws there, and puts the cursor
back, in one write. Without a terminal there is no status line.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from dlprof_probes import wire
from dlprof_probes.wire import Record

from dlprof.config import TraceConfig
from dlprof.rundir import RunDir

_EVERY_S = 0.25
_BLOCKS = "▁▂▃▄▅▆▇█"


@dataclass
class Progress:
    """What is known of the run so far."""

    label: str
    backend: str
    elapsed_s: float = 0.0
    doing: str = "starting"
    epoch: int | None = None
    epochs: int | None = None
    step: int | None = None
    steps: int | None = None
    step_ns: float | None = None
    cores_pct: tuple[float, ...] = ()
    rss_bytes: int | None = None


def render(progress: Progress, width: int) -> str:
    """The status line, at most `width` characters."""
    parts = [f"dlprof: {progress.label} on {progress.backend}", progress.doing]
    if progress.epoch is not None:
        parts.append(f"epoch {progress.epoch + 1}" + (f"/{progress.epochs}" if progress.epochs else ""))
    if progress.step is not None:
        parts.append(f"step {progress.step + 1}" + (f"/{progress.steps}" if progress.steps else ""))
    if progress.step_ns is not None:
        parts.append(f"{progress.step_ns / 1e6:.1f} ms/step")
    minutes, seconds = divmod(int(progress.elapsed_s), 60)
    parts.append(f"{minutes:02d}:{seconds:02d}")
    if progress.cores_pct:
        shown = progress.cores_pct[:32]
        parts.append("cores " + "".join(_BLOCKS[min(7, max(0, int(pct / 12.5)))] for pct in shown))
    if progress.rss_bytes is not None:
        parts.append(f"{progress.rss_bytes / 1e9:.1f} GB")
    return " · ".join(parts)[: max(0, width - 1)]


def for_terminal(config: TraceConfig, stream: TextIO, environ: Mapping[str, str] = os.environ) -> StatusLine:
    """A status line where there is a terminal to show it on, else one that stays silent."""
    shows = config.progress and stream.isatty() and environ.get("TERM", "dumb") != "dumb" and not environ.get("CI")
    return StatusLine(config.label, config.backend or "own Keras", stream.fileno() if shows else None)


class StatusLine:
    """Draws the status line; every failure ends it silently, never the run.

    Args:
        label: Name of the script.
        backend: Where it runs.
        descriptor: File descriptor of the terminal; None: draw nothing.
    """

    def __init__(self, label: str, backend: str, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._progress = Progress(label, backend)
        self._reader: Reader | None = None
        self._start = self._drawn = 0.0
        self._size = (0, 0)

    def tick(self, folder: RunDir, _pid: int) -> None:
        """Draw the line anew, if it is time."""
        now = time.monotonic()
        if self._descriptor is None or now - self._drawn < _EVERY_S:
            return
        self._drawn = now
        self._start = self._start or now
        try:
            if self._reader is None:
                self._reader = Reader(folder.raw, self._progress)
            self._reader.read()
            self._progress.elapsed_s = now - self._start
            self._draw()
        except Exception:  # noqa: BLE001  (a status line must never end a run)
            self.stop()

    def _draw(self) -> None:
        columns, rows = shutil.get_terminal_size()
        parts = []
        if (columns, rows) != self._size:
            # Scroll up by one line first, so that the script's last line is not under ours.
            parts.append(f"\n\x1b[A\x1b7\x1b[1;{rows - 1}r\x1b8" if rows > 2 else "")
            self._size = (columns, rows)
        text = render(self._progress, columns)
        parts.append(f"\x1b7\x1b[{rows};1H\x1b[2K\x1b[7m{text}\x1b[0m\x1b8")
        self._write("".join(parts))

    def stop(self) -> None:
        """Give the last row back."""
        if self._descriptor is None or not self._size[1]:
            self._descriptor = None
            return
        try:
            self._write(f"\x1b7\x1b[r\x1b[{self._size[1]};1H\x1b[2K\x1b8")
        except OSError:
            pass
        self._descriptor = None

    def _write(self, text: str) -> None:
        if self._descriptor is not None:
            os.write(self._descriptor, text.encode())


class Reader:
    """Follows the raw artifacts of a run that is going on.

    Args:
        raw: Folder of the raw artifacts.
        progress: What is known; kept up to date by `read`.
    """

    def __init__(self, raw: Path, progress: Progress) -> None:
        self._raw = raw
        self._progress = progress
        self._offset = 0
        self._strings: dict[int, str] = {}
        self._open: list[tuple[int, str, str]] = []
        self._cores_offset = 0
        self._before: list[list[int]] | None = None

    def read(self) -> None:
        """Take in what was written since the last call."""
        self._stream()
        self._cores()

    def _stream(self) -> None:
        try:
            with (self._raw / "inproc.wire").open("rb") as source:
                source.seek(self._offset or len(wire.MAGIC) + 1)
                data = source.read(1 << 20)
        except OSError:
            return
        self._offset = self._offset or len(wire.MAGIC) + 1
        at = 0
        while at + wire.HEAD.size <= len(data):
            kind, length = wire.HEAD.unpack_from(data, at)
            if at + wire.HEAD.size + length > len(data):
                break
            self._record(kind, data[at + wire.HEAD.size : at + wire.HEAD.size + length])
            at += wire.HEAD.size + length
        self._offset += at

    def _record(self, kind: int, payload: bytes) -> None:
        progress = self._progress
        if kind == Record.STRING:
            self._strings[wire.STRING_HEAD.unpack_from(payload)[0]] = payload[4:].decode("utf-8", "replace")
        elif kind == Record.BEGIN:
            span, of_kind, name, *_ = wire.BEGIN.unpack(payload)
            self._open.append((span, self._strings.get(of_kind, ""), self._strings.get(name, "")))
            self._doing()
        elif kind == Record.END:
            ended = wire.END.unpack(payload)[0]
            self._open = [entry for entry in self._open if entry[0] != ended]
            self._doing()
        elif kind == Record.DETAIL:
            self._detail(json.loads(payload[4:]))
        elif kind == Record.STEP:
            fields = wire.STEP.unpack(payload)
            progress.epoch = fields[2] if fields[2] >= 0 else None
            progress.step = fields[3] + fields[4] - 1
            took = (fields[6] - fields[5] + fields[7]) / fields[4]
            progress.step_ns = took if progress.step_ns is None else 0.9 * progress.step_ns + 0.1 * took

    def _doing(self) -> None:
        shown = [(kind, name) for _, kind, name in self._open if kind not in ("epoch", "callbacks", "dlprof")]
        if not shown:
            return
        kind, name = shown[-1]
        self._progress.doing = f"import {name}" if kind == "import" else kind.replace("_", " ")
        if kind not in ("fit", "evaluate", "predict"):
            self._progress.step = self._progress.step_ns = self._progress.epoch = None

    def _detail(self, facts: dict[str, Any]) -> None:
        self._progress.epochs = facts.get("epochs", self._progress.epochs)
        self._progress.steps = facts.get("batches") or facts.get("steps") or self._progress.steps
        if facts.get("samples") and facts.get("batch_size"):
            self._progress.steps = -(-facts["samples"] // facts["batch_size"])

    def _cores(self) -> None:
        try:
            with (self._raw / "cores.jsonl").open("rb") as source:
                size = source.seek(0, os.SEEK_END)
                source.seek(max(self._cores_offset, size - (1 << 16)))
                lines = source.read().split(b"\n")
        except OSError:
            return
        self._cores_offset = size - len(lines[-1])
        for line in lines[:-1]:
            if line.startswith(b'["c"'):
                self._core_row(json.loads(line))

    def _core_row(self, row: list[Any]) -> None:
        now, before = row[2], self._before
        self._before = now
        if before is not None:
            shares = []
            for old, new in zip(before, now, strict=True):
                delta = [b - a for a, b in zip(old, new, strict=True)]
                total = sum(delta)
                shares.append(100 * (delta[0] + delta[1] + delta[3]) / total if total else 0.0)
            self._progress.cores_pct = tuple(shares)
        self._progress.rss_bytes = sum(process[2] for process in row[4]) * os.sysconf("SC_PAGE_SIZE")
