"""Line charts of Mermaid (`xychart-beta`) as pictures in the page.

GitHub draws them by itself; the site has to work offline.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape
from typing import Any

_WIDTH, _HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 32, 44
_COLOURS = ("#2a78b5", "#d1632f", "#3d9455", "#9467bd", "#b08a1e", "#7f7f7f")
"""Of the lines, in their order; each is legible on white and on black."""


@dataclass(frozen=True)
class Chart:
    """What a chart says.

    Attributes:
        title: One line.
        x_name, x: What the points stand for, and their places.
        y_name, low, high: What the values are, and the range that is shown.
        lines: Values of each line.
    """

    title: str
    x_name: str
    x: list[float]
    y_name: str
    low: float
    high: float
    lines: list[list[float]]


def parse(text: str) -> Chart:
    """Read a chart.

    Raises:
        ValueError: It has no axis of numbers, or a line has another number of points.
    """
    x_axis = re.search(r'^\s*x-axis\s+"([^"]*)"\s+(\[.*\])', text, re.MULTILINE)
    y_axis = re.search(r'^\s*y-axis\s+"([^"]*)"\s+(\S+)\s+-->\s+(\S+)', text, re.MULTILINE)
    title = re.search(r'^\s*title\s+"([^"]*)"', text, re.MULTILINE)
    if not text.lstrip().startswith("xychart") or x_axis is None or y_axis is None:
        raise ValueError("only xychart-beta with an x-axis of numbers and a y-axis with a range can be drawn")
    x = json.loads(x_axis[2])
    lines = [json.loads(values) for values in re.findall(r"^\s*line\s+(\[.*\])", text, re.MULTILINE)]
    if any(len(line) != len(x) for line in lines):
        raise ValueError("each line needs a value for each point of the x-axis")
    return Chart(title[1] if title else "", x_axis[1], x, y_axis[1], float(y_axis[2]), float(y_axis[3]), lines)


def draw(chart: Chart) -> str:
    """The chart as SVG, in the colours of the page around it."""
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT

    def across(value: float) -> float:
        return _LEFT + (value - chart.x[0]) / (chart.x[-1] - chart.x[0]) * (right - _LEFT)

    def up(value: float) -> float:
        return bottom - (value - chart.low) / (chart.high - chart.low) * (bottom - _TOP)

    parts = [f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>']
    parts.extend(
        f'<text x="{across(value):.1f}" y="{bottom + 18}" text-anchor="middle">{value:g}</text>' for value in chart.x
    )
    for step in range(5):
        value = chart.low + (chart.high - chart.low) * step / 4
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{up(value):.1f}" x2="{right}" y2="{up(value):.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{up(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for number, line in enumerate(chart.lines):
        points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in zip(chart.x, line, strict=True))
        parts.append(f'<polyline stroke="{_COLOURS[number % len(_COLOURS)]}" points="{points}"/>')
    parts.append(f'<text x="{right}" y="{_HEIGHT - 8}" text-anchor="end">{escape(chart.x_name)}</text>')
    parts.append(f'<text x="4" y="14">{escape(chart.y_name)}</text>')
    svg = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(chart.title)}">{"".join(parts)}</svg>'
    return f'<figure class="chart">{svg}<figcaption>{escape(chart.title)}</figcaption></figure>'


def setup(app: Any) -> dict[str, bool]:
    """Take part in the build."""
    app.connect("doctree-read", _replace)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _replace(_app: Any, doctree: Any) -> None:
    from docutils import nodes  # noqa: PLC0415  (there only when the site is built)

    for block in list(doctree.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", draw(parse(block.astext())), format="html"))
