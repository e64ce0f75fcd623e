"""The screen of a running script: rows of styled text from a `State`, at a moment and a size.

Rows are made by hand out of rich's segments, without rich's layouts and tables: those take tens of milliseconds for a
screen, and this is drawn four times a second beside a run that is being measured.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style

from dlprof.config import PROBES
from dlprof.live.model import Loop, State
from dlprof.schema.vocabulary import FIT_PHASES, TOP_PHASES, Phase
from dlprof.units import bar, duration, safe, size

Row: TypeAlias = list[Segment]

_PLAIN = Style()
_DIM = Style(dim=True)
_BOLD = Style(bold=True)
_HEAD = Style(bold=True, reverse=True)
_TITLE = Style(color="cyan")
_BAR = Style(color="green")
_WARN = Style(color="yellow")
_BAD = Style(color="red", bold=True)

_ORDER: list[str] = [name for phase in TOP_PHASES for name in (FIT_PHASES if phase is Phase.FIT else (phase,))]
_TWO_COLUMNS = 76
"""From this width on phases and cores stand side by side."""
_OUTLIER = 2.0
"""A step that took more than this many medians is marked."""
_STALL = 5.0
"""No step for this many medians, and a second: worth a word."""
_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = "_.:-=+*#"
_COLOURS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}
_STATES = {"on": _PLAIN, "off": _DIM, "starting": _DIM, "waiting": _DIM}


class Screen:
    """Makes rows of a fixed size.

    Args:
        width: Columns.
        height: Rows.
        ascii_only: No block characters.
    """

    def __init__(self, width: int, height: int, *, ascii_only: bool = False) -> None:
        self._width = width
        self._height = height
        self._ascii = ascii_only

    def rows(self, state: State, now_ns: int, output: Sequence[str]) -> list[Row]:
        """The whole screen: exactly as many rows, each exactly as wide, as it has.

        Args:
            state: What is known.
            now_ns: The moment, on the run's clock.
            output: The last lines of what the script printed.
        """
        head = [self._head(state, now_ns), self._now(state, now_ns)]
        steps = self._steps(state, now_ns)
        foot = [_probes(state)]
        room = self._height - len(head) - len(steps) - len(foot) - 1
        upper = self._upper(state, now_ns, max(4, room - min(8, room * 2 // 5)))
        lower = self._height - len(head) - len(steps) - len(upper) - len(foot) - 1
        printed = [[Segment(safe(line), _PLAIN)] for line in (output[-lower:] if lower > 0 else ())]
        blank: list[Row] = [[]] * max(0, lower - len(printed))
        made = [*head, *upper, *steps, self._title("output of the script", self._width), *printed, *blank]
        made = [*made[: max(0, self._height - len(foot))], *foot][: self._height]
        return [Segment.adjust_line_length(row, self._width) for row in made]

    # -- parts -----------------------------------------------------------------------------------------

    def _head(self, state: State, now_ns: int) -> Row:
        parts = [
            f" dlprof  {safe(state.title)}",
            _condition(state),
            _clock(now_ns - state.origin_ns),
            f"process {state.pid}" if state.pid is not None else "",
        ]
        return [Segment(self._dot().join(part for part in parts if part).ljust(self._width), _HEAD)]

    def _dot(self) -> str:
        return " - " if self._ascii else " · "

    def _now(self, state: State, now_ns: int) -> Row:
        """The current phase, and where its loop is."""
        if not state.streaming:
            return [Segment(" no phases are known: the process tells none, or not yet", _DIM)]
        clock = state.phases
        row = [
            Segment(f" {clock.current}", _BOLD),
            Segment(f" for {duration(max(0, now_ns - clock.since_ns))}", _PLAIN),
        ]
        loop = state.loop
        doing = state.doing()
        if doing != clock.current:
            row.append(Segment(f"   {safe(doing)}", _DIM))
        elif loop is not None and state.in_loop():
            row.extend(Segment(f"   {text}", _BOLD) for text in loop.place())
        return row

    def _title(self, text: str, width: int) -> Row:
        line = "-" if self._ascii else "─"
        text = f"{line} {text} "
        return [Segment(text + line * max(0, width - cell_len(text)), _TITLE)]

    def _upper(self, state: State, now_ns: int, rows: int) -> list[Row]:
        """Phases, and cores, memory and GPUs."""
        if self._width < _TWO_COLUMNS:
            machine = self._machine(state, self._width, max(2, rows // 3))
            return [*self._phases(state, now_ns, self._width, max(2, rows - len(machine))), *machine]
        left = self._width // 2
        right = self._width - left - 1
        pair = (self._phases(state, now_ns, left, rows), self._machine(state, right, rows))
        blank: Row = []
        joined = []
        for index in range(max(map(len, pair))):
            one, other = (side[index] if index < len(side) else blank for side in pair)
            joined.append([*Segment.adjust_line_length(one, left), Segment(" "), *other])
        return joined

    def _phases(self, state: State, now_ns: int, width: int, rows: int) -> list[Row]:
        totals = state.phases.totals(now_ns) if state.streaming else {}
        whole = sum(totals.values())
        kept = sorted(totals, key=lambda name: (name != state.phases.current, -totals[name]))
        room = max(1, rows - 1)
        if len(kept) > room:
            kept = kept[: max(1, room - 1)]
        shown = [(name, totals[name]) for name in _ORDER if name in kept]
        if len(shown) < min(room, len(totals)):
            shown.append(("others", whole - sum(ns for _, ns in shown)))
        made = [self._title("time in phases", width)]
        for name, ns in shown:
            share = ns / whole
            style = _BOLD if name == state.phases.current else _PLAIN
            text = f" {name:<18}{duration(ns):>13}{100 * share:6.1f} % "
            made.append([Segment(text, style), self._bar(share, width - len(text) - 1)])
        return made

    def _bar(self, share: float, width: int, style: Style = _BAR) -> Segment:
        return Segment(bar(share, max(0, width), ascii_only=self._ascii).ljust(max(0, width)), style)

    def _machine(self, state: State, width: int, rows: int) -> list[Row]:
        made = [self._title("cores, memory, GPU", width)]
        below = [self._memory(state), *self._gpus(state)]
        below = below[: max(1, rows - 2)]
        made.extend(self._cores(state, width, rows - len(made) - len(below)))
        return [*made, *below]

    def _cores(self, state: State, width: int, rows: int) -> list[Row]:
        busy = state.cores.busy_pct
        if busy is None:
            return [[Segment(f" cores: {self._why(state, 'cores')}", _DIM)]]
        if len(busy) <= rows:
            return [
                [Segment(f" core {number:<3}{pct:4.0f} % "), self._bar(pct / 100, width - 15)]
                for number, pct in enumerate(busy)
            ]
        blocks = _ASCII_BLOCKS if self._ascii else _BLOCKS
        signs = "".join(blocks[min(7, max(0, int(pct / 12.5)))] for pct in busy)
        per_row = max(1, width - 2)
        strips = [signs[start : start + per_row] for start in range(0, len(signs), per_row)]
        mean = f" {len(busy)} cores, mean {statistics.fmean(busy):.0f} %"
        return [[Segment(mean)], *([Segment(f" {strip}", _BAR)] for strip in strips)][: max(1, rows)]

    @staticmethod
    def _why(state: State, probe: str) -> str:
        """Why a probe has given nothing (yet)."""
        told, reason = state.probes.get(probe, ("starting", None))
        return safe(reason or ("no sample yet" if told == "on" else told))

    @staticmethod
    def _memory(state: State) -> Row:
        cores = state.cores
        if cores.rss_bytes is None:
            return [Segment(" memory: no sample yet", _DIM)]
        text = f" CPU {cores.cpu_pct:.0f} %  " if cores.cpu_pct is not None else ""
        text += f" memory {size(cores.rss_bytes)} (peak {size(cores.peak_rss_bytes)})"
        if cores.available_bytes is not None:
            text += f", free {size(cores.available_bytes)}"
        return [Segment(text)]

    def _gpus(self, state: State) -> list[Row]:
        if not state.gpus:
            told = state.probes.get("gpu", ("starting", None))[0]
            what = "no GPU" if told == "unavailable" else "GPU"
            return [[Segment(f" {what}: {self._why(state, 'gpu')}", _DIM)]]
        return [[Segment(_gpu(state, number))] for number in sorted(state.gpus)]

    def _steps(self, state: State, now_ns: int) -> list[Row]:
        """The last steps: a strip, figures, and what Keras computed."""
        loop = state.loop
        if loop is None:
            return [self._title("steps", self._width), [Segment(" no step yet", _DIM)], [], self._metrics(state)]
        parts = [f"{loop.name} steps", *loop.place()]
        if loop.per_s is not None:
            parts.append(f"{loop.per_s:.{1 if loop.per_s < 100 else 0}f} per second")
        title = self._title(self._dot().join(parts), self._width)
        return [title, self._strip(loop), _figures(state, loop, now_ns), self._metrics(state)]

    def _strip(self, loop: Loop) -> Row:
        """Times of the recent steps, the slowest of each column; outliers stand out."""
        median = loop.median_ns
        if not median:
            return [Segment(" the first step is not shown: it compiles", _DIM)]
        blocks = _ASCII_BLOCKS if self._ascii else _BLOCKS
        row = [Segment(" ")]
        for time_ns in columns(list(loop.recent_ns), loop.seen, self._width - 2):
            ratio = time_ns / median
            # The median stands at a third; twice, four and eight times as long reach the top.
            level = 2 * ratio if ratio <= _OUTLIER else 4 + min(3, ratio / _OUTLIER)
            style = _BAR if ratio <= _OUTLIER else _BAD if ratio > 2 * _OUTLIER else _WARN
            row.append(Segment(blocks[min(7, int(level))], style))
        return list(Segment.simplify(row))

    @staticmethod
    def _metrics(state: State) -> Row:
        if not state.metrics:
            return [Segment(" Keras has given no metrics yet", _DIM)]
        row: Row = []
        for name, metric in state.metrics.items():
            of_epoch = metric.step is None and metric.epoch is not None
            where = f" (epoch {metric.epoch + 1})" if of_epoch and metric.epoch is not None else ""
            row.extend((Segment(f" {safe(name)} "), Segment(f"{metric.value:.4g}", _BOLD), Segment(where + "  ", _DIM)))
        return row


def columns(times_ns: Sequence[float], seen: int, width: int) -> list[float]:
    """The slowest of each few neighbouring steps, so that at most `width` columns hold all.

    Args:
        times_ns: Times of the recent steps.
        seen: How many there have been in all: columns stay the same as long as their steps are shown.
        width: Columns.
    """
    per_column = max(1, -(-len(times_ns) // max(1, width)))
    found: dict[int, float] = {}
    for number, time_ns in enumerate(times_ns, seen - len(times_ns)):
        column = number // per_column
        found[column] = max(found.get(column, 0.0), time_ns)
    return list(found.values())[-max(1, width) :]


def _figures(state: State, loop: Loop, now_ns: int) -> Row:
    median = loop.median_ns
    if not median:
        return []
    slowest = max(loop.recent_ns)
    text = f" median {duration(median)}   last {duration(loop.recent_ns[-1])}   "
    text += f"slowest of {len(loop.recent_ns)}: {duration(slowest)} ({slowest / median:.1f} x)"
    row = [Segment(text)]
    waited = now_ns - loop.last_end_ns
    if state.in_loop() and waited > max(1e9, _STALL * median):
        row.append(Segment(f"   no step for {duration(waited)}", _WARN))
    return row


def _gpu(state: State, number: int) -> str:
    known = state.gpus[number]
    name = state.gpu_names[number] if number < len(state.gpu_names) else None
    parts = [f" GPU {number}" + (f" {safe(name)}" if name else "")]
    for column, pattern in (("utilisation_pct", "%.0f %%"), ("power_w", "%.0f W"), ("temperature_c", "%.0f C")):
        value = known.get(column)
        if value is not None:
            parts.append(pattern % value)
    if known.get("memory_used_bytes") is not None:
        parts.insert(2, f"{size(known['memory_used_bytes'])} of {size(known.get('memory_total_bytes'))}")
    return "  ".join(parts)


def _probes(state: State) -> Row:
    """The probes by their state; those that work, and those that failed, first."""
    row: Row = [Segment(" probes", _DIM)]
    known = {name: state.probes.get(name, ("starting", None)) for name in PROBES}
    for told in dict.fromkeys(("on", "failed", *(told for told, _ in known.values()))):
        names = [
            name + (f" ({safe(reason)})" if reason and told == "failed" else "")
            for name, (its, reason) in known.items()
            if its == told
        ]
        if names:
            row.append(Segment(f"  {told}: {', '.join(names)}", _STATES.get(told, _WARN)))
    return row


def _condition(state: State) -> str:
    if state.phases.current == "teardown":
        return "ending"
    return "interrupted, Ctrl-C again ends it" if state.interrupted else "running"


def _clock(ns: int) -> str:
    minutes, seconds = divmod(max(0, ns) // 1_000_000_000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"


def text(rows: Iterable[Row]) -> list[str]:
    """The rows without their styles."""
    return ["".join(segment.text for segment in row) for row in rows]


class Painter:
    """Turns rows into what a terminal is sent: only rows that changed.

    Args:
        colours: rich's name of what the terminal can do: `truecolor`, `256`, `standard`; None: no colours.
    """

    def __init__(self, colours: str | None) -> None:
        self._colours = _COLOURS.get(colours or "")
        self._before: list[Row] = []

    def forget(self) -> None:
        """The terminal was cleared."""
        self._before = []

    def frame(self, rows: list[Row]) -> str:
        """What turns the frame before into this one."""
        parts = []
        for number, row in enumerate(rows):
            if number >= len(self._before) or row != self._before[number]:
                parts.append(f"\x1b[{number + 1};1H" + "".join(map(self._segment, row)))
        self._before = rows
        return "".join(parts)

    def _segment(self, segment: Segment) -> str:
        style = segment.style or _PLAIN
        return style.render(segment.text, color_system=self._colours)
