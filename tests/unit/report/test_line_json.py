"""Lines of functions as JSON."""

from __future__ import annotations

from dlprof.analysis.lines import FunctionLines, Line
from dlprof.report import line_json
from dlprof.report.json_text import plain


def test_each_line_is_an_object() -> None:
    """With the function that it is in."""
    function = FunctionLines("train.py", "main", 3, 9, (Line(3, 0, 0, None), Line(4, 2, 9, "step()")))

    first, second = plain(line_json.as_json([function]))

    assert list(first.items()) == [
        ("file", "train.py"),
        ("function", "main"),
        ("first_line", 3),
        ("line", 3),
        ("hits", 0),
        ("time_ns", 0),
        ("source", None),
    ]
    assert (second["line"], second["hits"], second["time_ns"], second["source"]) == (4, 2, 9, "step()")
