"""`dlprof trace --live`: the screen of a run, drawn about four times a second beside it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from msgspec.structs import replace
from rich.console import Console

from dlprof import color
from dlprof.config import TraceConfig
from dlprof.launch.view import Progress, Streams
from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.output import Output
from dlprof.live.painter import Painter
from dlprof.live.screen import Screen
from dlprof.live.tail import Tail
from dlprof.live.terminal import Terminal
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe
from dlprof.schema.vocabulary import ProbeState
from dlprof.units import SPELLED

_EVERY_S = 0.2


class LiveView:
    """The view of `--live`; a failure of its own ends the view, never the run.

    Args:
        config: What is traced.
        say: Takes a line for the user, when the screen is gone.
    """

    def __init__(self, config: TraceConfig, say: Callable[[str], None]) -> None:
        self._label = config.label
        self._backend = config.backend or ""
        self._say = say
        self._terminal: Terminal | None = None
        self._picture: _Picture | None = None
        self._failure: str | None = None
        self._drawn_s = 0.0
        self._cost_ns = 0

    def open(self, folder: RunDir) -> Streams:
        """Make the script's terminal."""
        try:
            self._terminal = Terminal(folder.raw)
        except Exception as error:  # noqa: BLE001  (the run goes on without a screen)
            self._failure = f"{type(error).__name__}: {error}"
            return Streams()
        return self._terminal.streams

    def helpers(self) -> tuple[int, ...]:
        """The process that keeps the script's output."""
        return (self._terminal.keeper_pid,) if self._terminal is not None else ()

    def tick(self, folder: RunDir, progress: Progress) -> None:
        """Draw, if it is time."""
        terminal = self._terminal
        if terminal is None:
            return
        before = time.thread_time_ns()
        try:
            trouble = self._keep_on(terminal, folder, progress)
        except Exception as error:  # noqa: BLE001  (the run goes on without a screen)
            trouble = f"{type(error).__name__}: {error}"
        if trouble is not None:
            self._failure = self._failure or trouble
            terminal.release()
        self._cost_ns += time.thread_time_ns() - before

    def _keep_on(self, terminal: Terminal, folder: RunDir, progress: Progress) -> str | None:
        """Look after the script's terminal, and draw if it is time; returns what is wrong."""
        terminal.started()
        terminal.resized(progress.pid)
        trouble = terminal.trouble()
        now = time.monotonic()
        if trouble is None and self._failure is None and now - self._drawn_s >= _EVERY_S:
            self._drawn_s = now
            self._draw(terminal, folder, progress)
        return trouble

    def _draw(self, terminal: Terminal, folder: RunDir, progress: Progress) -> None:
        if self._picture is None:
            self._picture = _Picture(LiveRun(self._label, self._backend, progress.origin_ns), folder, terminal.spool)
        self._picture.look(progress)
        if terminal.show():
            self._picture.forget()
        if terminal.ready():
            terminal.draw(self._picture.frame(*terminal.size()))

    def close(self) -> Probe | None:
        """Give the terminal back, with all that the script printed."""
        terminal, self._terminal = self._terminal, None
        probe = Probe(name="live")
        try:
            if terminal is not None:
                probe = self._cost(terminal.close())
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (the run has ended: its tables are to be made)
            self._failure = f"{type(error).__name__}: {error}"
        if self._failure is not None:
            self._say(f"the live view ended early: {self._failure}")
            probe = replace(probe, state=ProbeState.FAILED, reason=self._failure)
        return probe

    def _cost(self, keeper_ns: int | None) -> Probe:
        source = "measured: CPU time of drawing" + (" and of keeping the output" if keeper_ns is not None else "")
        return Probe(name="live", cost_ns=self._cost_ns + (keeper_ns or 0), cost_source=source)


class _Picture:
    """All that a frame is made of."""

    def __init__(self, live: LiveRun, folder: RunDir, spool: int) -> None:
        self._live = live
        self._tail = Tail(folder.raw, live)
        self._output = Output(spool)
        console = Console(file=sys.stderr, force_terminal=True)
        self._painter = Painter(console.color_system if color.wanted(sys.stderr) else None)
        self._encoding = getattr(sys.stderr, "encoding", None) or "ascii"
        self._ascii = not _can_encode("█─", self._encoding)
        self._size = (0, 0)

    def look(self, progress: Progress) -> None:
        """Take in what is new."""
        self._live.pid = progress.pid
        self._live.interrupted = progress.interrupts > 0
        for name, told in progress.probes.items():
            self._live.probe_said(name, ProbeStatus(told.state, told.reason))
        self._tail.look()
        self._output.look()

    def forget(self) -> None:
        """The terminal was cleared."""
        self._painter.forget()

    def frame(self, columns: int, rows: int) -> bytes:
        """What the terminal is to be sent now."""
        clear = ""
        if (columns, rows) != self._size:
            self._size = columns, rows
            self._painter.forget()
            clear = "\x1b[2J"
        screen = Screen(columns, rows, ascii_only=self._ascii)
        rows_shown = screen.rows(self._live, time.perf_counter_ns(), self._output.lines.last(rows))
        return (clear + self._painter.frame(rows_shown)).encode(self._encoding, SPELLED)


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
