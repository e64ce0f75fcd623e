"""Lines of functions as JSON."""

from __future__ import annotations

from dlprof.analysis.lines import FunctionLines, Line
from dlprof.report import line_json
from dlprof.report.json_text import plain
from dlprof.schema.vocabulary import LineSource


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
        ("how", "exact"),
        ("samples", None),
        ("error_ns", None),
        ("process", None),
    ]
    assert (second["line"], second["hits"], second["time_ns"], second["source"]) == (4, 2, 9, "step()")


def test_a_sampled_line_has_no_hits_but_samples_and_an_error() -> None:
    """One standard error: 900 ns in 9 samples are known to 300 ns."""
    function = FunctionLines("d.py", "get", None, 900, (Line(4, None, 900, "x", 9),), LineSource.SAMPLED)

    (row,) = plain(line_json.as_json([function]))

    assert (row["first_line"], row["hits"], row["how"], row["samples"], row["error_ns"]) == (
        None,
        None,
        "sampled",
        9,
        300,
    )
