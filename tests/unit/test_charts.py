"""Charts of the studies are drawn for the site."""

from __future__ import annotations

import re
from pathlib import Path

import charts
import pytest

STUDIES = Path(__file__).parents[2] / "docs" / "studies"
CHART = """\
xychart-beta
    title "Seconds <of> two"
    x-axis "epochs" [0, 50, 100]
    y-axis "seconds" 0 --> 4
    line [0, 2, 4]
    line [1, 1, 1]
"""


def test_a_chart_is_read() -> None:
    """Axes, range and lines."""
    assert charts.parse(CHART) == charts.Chart(
        "Seconds <of> two", "epochs", [0, 50, 100], "seconds", 0, 4, [[0, 2, 4], [1, 1, 1]]
    )


def test_a_line_goes_from_corner_to_corner() -> None:
    """The lowest value lies on the axis, the highest at the top; names are text."""
    drawn = charts.draw(charts.parse(CHART))

    assert re.findall(r'points="([^"]*)"', drawn)[0] == "52.0,276.0 380.0,154.0 708.0,32.0"
    assert "<figcaption>Seconds &lt;of&gt; two</figcaption>" in drawn


@pytest.mark.parametrize("text", ["flowchart LR", CHART.replace("[1, 1, 1]", "[1]"), CHART.replace("x-axis", "z-axis")])
def test_what_cannot_be_drawn_is_refused(text: str) -> None:
    """So that the build of the site fails."""
    with pytest.raises(ValueError, match=r"can be drawn|needs a value"):
        charts.parse(text)


def test_every_chart_of_the_studies_can_be_drawn() -> None:
    """All Mermaid in the pages is of the kind that is known here."""
    text = "".join(path.read_text(encoding="utf-8") for path in STUDIES.glob("*.md"))

    found = [charts.draw(charts.parse(one)) for one in re.findall(r"```mermaid\n(.*?)```", text, re.DOTALL)]

    assert len(found) == 2
