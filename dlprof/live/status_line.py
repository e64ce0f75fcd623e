"""A status line at the bottom of the terminal while the script runs.

The script writes straight to the same terminal. So that neither touches the other's text, the last row
is taken out of the scrolling region, and each update saves the cursor, draws there, and puts the cursor
back, in one write. Without a terminal there is no status line.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, TextIO

from dlprof.config import TraceConfig
from dlprof.launch.view import Progress, Streams
from dlprof.rundir import RunDir
from dlprof.units import safe, strip

if TYPE_CHECKING:  # read when the script runs: its start does not wait for them
    from dlprof.live.model import LiveRun
    from dlprof.live.tail import Tail

_EVERY_S = 0.25
_CORES_AT_MOST = 32


def render(live: LiveRun, now_ns: int, width: int) -> str:
    """The status line, at most `width` characters."""
    parts = [
        f"dlprof: {live.title}",
        live.doing() if live.streaming else "running",
    ]
    loop = live.loop if live.in_loop() else None
    if loop is not None:
        parts.extend(loop.position())
    if loop is not None and loop.median_ns is not None:
        parts.append(f"{loop.median_ns / 1e6:.1f} ms/step")
    minutes, seconds = divmod((now_ns - live.origin_ns) // 1_000_000_000, 60)
    parts.append(f"{minutes:02d}:{seconds:02d}")
    if live.machine.busy_pct is not None:
        parts.append("cores " + strip(live.machine.busy_pct[:_CORES_AT_MOST]))
    if live.machine.rss_bytes is not None:
        parts.append(f"{live.machine.rss_bytes / 1e9:.1f} GB")
    return safe(" · ".join(parts))[: max(0, width - 1)]


def for_terminal(config: TraceConfig, stream: TextIO, environ: Mapping[str, str] = os.environ) -> StatusLine:
    """A status line where there is a terminal to show it on, else one that stays silent."""
    shows = config.progress and stream.isatty() and environ.get("TERM", "dumb") != "dumb" and not environ.get("CI")
    return StatusLine(config.label, config.backend or "", stream.fileno() if shows else None)


class StatusLine:
    """Draws the status line; every failure ends it silently, never the run.

    Args:
        label: Name of the script.
        backend: Where it runs.
        descriptor: File descriptor of the terminal; None: draw nothing.
    """

    def __init__(self, label: str, backend: str, descriptor: int | None) -> None:
        self._label = label
        self._backend = backend
        self._descriptor = descriptor
        self._live: LiveRun | None = None
        self._tail: Tail | None = None
        self._drawn = 0.0
        self._size = (0, 0)

    def open(self, folder: RunDir) -> Streams:  # noqa: ARG002  (a view)
        """The script writes to the same terminal."""
        return Streams()

    def helpers(self) -> tuple[int, ...]:
        """There are none."""
        return ()

    def tick(self, folder: RunDir, progress: Progress) -> None:
        """Draw the line anew, if it is time."""
        now = time.monotonic()
        if self._descriptor is None or now - self._drawn < _EVERY_S:
            return
        self._drawn = now
        try:
            if self._live is None or self._tail is None:
                from dlprof.live.model import LiveRun  # noqa: PLC0415
                from dlprof.live.tail import Tail  # noqa: PLC0415

                self._live = LiveRun(self._label, self._backend, progress.origin_ns)
                self._tail = Tail(folder.raw, self._live)
            self._tail.look()
            self._draw(self._live)
        except Exception:  # noqa: BLE001  (a status line must never end a run)
            self.close()

    def _draw(self, live: LiveRun) -> None:
        columns, rows = shutil.get_terminal_size()
        parts = []
        if (columns, rows) != self._size:
            # Scroll up by one line first, so that the script's last line is not under ours.
            parts.append(f"\n\x1b[A\x1b7\x1b[1;{rows - 1}r\x1b8" if rows > 2 else "")
            self._size = (columns, rows)
        text = safe(render(live, time.perf_counter_ns(), columns))
        parts.append(f"\x1b7\x1b[{rows};1H\x1b[2K\x1b[7m{text}\x1b[0m\x1b8")
        self._write("".join(parts))

    def close(self) -> None:
        """Give the last row back; a status line has no line of the ledger."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None or not self._size[1]:
            return
        try:
            os.write(descriptor, f"\x1b7\x1b[r\x1b[{self._size[1]};1H\x1b[2K\x1b8".encode())
        except OSError:
            pass

    def _write(self, text: str) -> None:
        if self._descriptor is not None:
            os.write(self._descriptor, text.encode())
