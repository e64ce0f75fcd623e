"""The screen of a running script: rows of styled text from a `LiveRun`, at a moment and a size."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from dlprof.config import PROBES
from dlprof.live.machine_panel import machine_panel
from dlprof.live.model import STARTING, WAITING, LiveRun
from dlprof.live.rows import BOLD, DIM, HEAD, PLAIN, WARN, Row, Signs
from dlprof.live.steps_panel import steps_panel
from dlprof.schema.vocabulary import FIT_PHASES, TOP_PHASES, Phase, ProbeState
from dlprof.units import duration, safe

_ORDER = [leaf for phase in TOP_PHASES for leaf in (FIT_PHASES if phase is Phase.FIT else (phase,))]
_TWO_COLUMNS = 76
"""From this width on phases and cores stand side by side."""
_STYLES = {ProbeState.ON: PLAIN, ProbeState.OFF: DIM, STARTING.state: DIM, WAITING.state: DIM}


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
        self._signs = Signs(ascii_only)

    def rows(self, live: LiveRun, now_ns: int, output: Sequence[str]) -> list[Row]:
        """The whole screen: exactly as many rows, each exactly as wide, as it has.

        Args:
            live: What is known.
            now_ns: The moment, on the run's clock.
            output: The last lines of what the script printed.
        """
        head = [self._head(live, now_ns), _now(live, now_ns)]
        steps = steps_panel(live, now_ns, self._signs, self._width)
        foot = _probes(live)
        room = self._height - len(head) - len(steps) - 2
        upper = self._upper(live, now_ns, max(4, room - min(8, room * 2 // 5)))
        printed = self._printed(output, room - len(upper))
        rows = [*head, *upper, *steps, self._signs.title("output of the script", self._width), *printed]
        rows = [*rows[: max(0, self._height - 1)], foot][: self._height]
        return [Segment.adjust_line_length(row, self._width) for row in rows]

    def _head(self, live: LiveRun, now_ns: int) -> Row:
        parts = [
            f" dlprof  {safe(live.title)}",
            _condition(live),
            _clock(now_ns - live.origin_ns),
            f"process {live.pid}" if live.pid is not None else "",
        ]
        return [Segment(self._signs.dot.join(part for part in parts if part).ljust(self._width), HEAD)]

    def _upper(self, live: LiveRun, now_ns: int, rows: int) -> list[Row]:
        """Phases, and cores, memory and GPUs: side by side where there is room."""
        if self._width < _TWO_COLUMNS:
            machine = machine_panel(live, self._signs, self._width, max(2, rows // 3))
            return [*self._phases(live, now_ns, self._width, max(2, rows - len(machine))), *machine]
        left = self._width // 2
        right = self._width - left - 1
        return _side_by_side(
            self._phases(live, now_ns, left, rows), machine_panel(live, self._signs, right, rows), left
        )

    def _phases(self, live: LiveRun, now_ns: int, width: int, rows: int) -> list[Row]:
        totals = live.phases.totals(now_ns) if live.streaming else {}
        whole_ns = sum(totals.values())
        made = [self._signs.title("time in phases", width)]
        for name, ns in _shown_phases(totals, live.phases.current, max(1, rows - 1)):
            share = ns / whole_ns
            style = BOLD if name == live.phases.current else PLAIN
            text = f" {name:<18}{duration(ns):>13}{100 * share:6.1f} % "
            made.append([Segment(text, style), self._signs.bar(share, width - len(text) - 1)])
        return made

    @staticmethod
    def _printed(output: Sequence[str], rows: int) -> list[Row]:
        """The last lines of the output, with blank rows below."""
        shown: list[Row] = [[Segment(safe(line), PLAIN)] for line in (output[-rows:] if rows > 0 else ())]
        blank: list[Row] = [[]] * max(0, rows - len(shown))
        return [*shown, *blank]


def _shown_phases(totals: dict[Phase, int], current: Phase, room: int) -> list[tuple[str, int]]:
    """The phases that get a row, in the order of reports; what finds none is summed as `others`."""
    kept = sorted(totals, key=lambda name: (name != current, -totals[name]))
    if len(kept) > room:
        kept = kept[: max(1, room - 1)]
    shown: list[tuple[str, int]] = [(name, totals[name]) for name in _ORDER if name in kept]
    if len(shown) < min(room, len(totals)):
        shown.append(("others", sum(totals.values()) - sum(ns for _, ns in shown)))
    return shown


def _side_by_side(left: list[Row], right: list[Row], width: int) -> list[Row]:
    """Two panels beside each other, the left one as wide as that."""
    height = max(len(left), len(right))
    blank: Row = []
    pairs = zip(left + [blank] * (height - len(left)), right + [blank] * (height - len(right)), strict=True)
    return [[*Segment.adjust_line_length(row, width), Segment(" "), *other] for row, other in pairs]


def _now(live: LiveRun, now_ns: int) -> Row:
    """The current phase, and where its loop is."""
    if not live.streaming:
        return [Segment(" no phases are known: the process tells none, or not yet", DIM)]
    clock = live.phases
    row = [
        Segment(f" {clock.current}", BOLD),
        Segment(f" for {duration(max(0, now_ns - clock.since_ns))}", PLAIN),
    ]
    doing = live.doing()
    if doing != clock.current:
        row.append(Segment(f"   {safe(doing)}", DIM))
    elif live.loop is not None and live.in_loop():
        row.extend(Segment(f"   {text}", BOLD) for text in live.loop.position())
    return row


def _probes(live: LiveRun) -> Row:
    """The probes by their state; those that work, and those that failed, first."""
    row: Row = [Segment(" probes", DIM)]
    statuses = {name: live.probe(name) for name in PROBES}
    order = (ProbeState.ON, ProbeState.FAILED, *(status.state for status in statuses.values()))
    for state in dict.fromkeys(order):
        names = [
            name + (f" ({safe(status.reason)})" if status.reason and state == ProbeState.FAILED else "")
            for name, status in statuses.items()
            if status.state == state
        ]
        if names:
            row.append(Segment(f"  {state}: {', '.join(names)}", _STYLES.get(state, WARN)))
    return row


def _condition(live: LiveRun) -> str:
    if live.phases.current is Phase.TEARDOWN:
        return "ending"
    return "interrupted, Ctrl-C again ends it" if live.interrupted else "running"


def _clock(ns: int) -> str:
    minutes, seconds = divmod(max(0, ns) // 1_000_000_000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes:02d}:{seconds:02d}"
