"""The part of the screen that shows the recent steps: a strip of their times, figures, and what Keras computed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from dlprof.live.loop import LoopProgress
from dlprof.live.model import LiveRun
from dlprof.live.rows import BAD, BAR, BOLD, DIM, WARN, Row, Signs
from dlprof.units import duration, safe

_OUTLIER = 2.0
"""A step that took more than this many medians is marked."""
_STALL_MEDIANS = 5.0
_STALL_NS = 1e9
"""No step for so many medians, and for so long: worth a word."""


def steps_panel(live: LiveRun, now_ns: int, signs: Signs, width: int) -> list[Row]:
    """Four rows: the heading, the strip, figures, metrics."""
    loop = live.loop
    if loop is None:
        return [signs.title("steps", width), [Segment(" no step yet", DIM)], [], _metrics(live)]
    parts = [f"{loop.name} steps", *loop.position()]
    if loop.per_s is not None:
        parts.append(f"{loop.per_s:.{1 if loop.per_s < 100 else 0}f} per second")
    title = signs.title(signs.dot.join(parts), width)
    return [title, _strip(loop, signs, width), _figures(live, loop, now_ns), _metrics(live)]


def _strip(loop: LoopProgress, signs: Signs, width: int) -> Row:
    """Times of the recent steps, the slowest of each column; outliers stand out."""
    median_ns = loop.median_ns
    if not median_ns:
        return [Segment(" the first step is not shown: it compiles", DIM)]
    slowest = columns(list(loop.recent_ns), loop.seen, width - 2)
    return list(Segment.simplify([Segment(" "), *(_block(time_ns / median_ns, signs) for time_ns in slowest)]))


def _block(ratio: float, signs: Signs) -> Segment:
    """A step that took `ratio` medians. One stands at a third of the height; two, four and eight reach the top."""
    level = 2 * ratio if ratio <= _OUTLIER else 4 + min(3, ratio / _OUTLIER)
    style = BAR if ratio <= _OUTLIER else BAD if ratio > 2 * _OUTLIER else WARN
    return Segment(signs.blocks[min(7, int(level))], style)


def columns(times_ns: Sequence[float], seen: int, width: int) -> list[float]:
    """The slowest of each few neighbouring steps, so that at most `width` columns hold all.

    Args:
        times_ns: Times of the recent steps.
        seen: How many there have been in all: columns stay the same as long as their steps are shown.
        width: Columns.
    """
    per_column = max(1, -(-len(times_ns) // max(1, width)))
    slowest: dict[int, float] = {}
    for number, time_ns in enumerate(times_ns, seen - len(times_ns)):
        column = number // per_column
        slowest[column] = max(slowest.get(column, 0.0), time_ns)
    return list(slowest.values())[-max(1, width) :]


def _figures(live: LiveRun, loop: LoopProgress, now_ns: int) -> Row:
    median_ns = loop.median_ns
    if not median_ns:
        return []
    slowest_ns = max(loop.recent_ns)
    text = f" {loop.average} {duration(median_ns)}   last {duration(loop.recent_ns[-1])}   "
    text += f"slowest of {len(loop.recent_ns)}: {duration(slowest_ns)} ({slowest_ns / median_ns:.1f} x)"
    row = [Segment(text)]
    waited_ns = now_ns - loop.last_end_ns
    if live.in_loop() and waited_ns > max(_STALL_NS, _STALL_MEDIANS * median_ns):
        row.append(Segment(f"   no step for {duration(waited_ns)}", WARN))
    return row


def _metrics(live: LiveRun) -> Row:
    if not live.metrics:
        return [Segment(" Keras has given no metrics yet", DIM)]
    row: Row = []
    for name, metric in live.metrics.items():
        of_epoch = f" (epoch {metric.epoch + 1})" if metric.step is None and metric.epoch is not None else ""
        row += [Segment(f" {safe(name)} "), Segment(f"{metric.value:.4g}", BOLD), Segment(of_epoch + "  ", DIM)]
    return row
