"""Where the program asks for values, on a terminal."""

from __future__ import annotations

from dlprof.analysis.syncs import SyncPlace
from dlprof.report.sections import syncs
from tests.unit.report.reports import printed, report, rows
from tests.unit.runs import S

PLACE = SyncPlace(what="item()", file="train.py", line=7, calls=1000, ns=2 * S, share=0.2, calls_per_step=1.0)


def test_a_place_is_a_row() -> None:
    """What is called, how often, how often a step, for how long, its share, its line."""
    bare = SyncPlace(what="float()", file="train.py", line=9, calls=1, ns=1000)

    lines = printed(syncs.places, report(syncs=(PLACE, bare)))

    assert lines[0].startswith("Values asked for  1,001 times, 2.00 s")
    assert rows(lines[-2:]) == [
        ["item()", "1,000", "1", "2.00 s", "20.0", "train.py:7"],
        ["float()", "1", "-", "1.00 us", "-", "train.py:9"],
    ]


def test_more_than_eight_are_counted() -> None:
    """The others are in the JSON."""
    lines = printed(syncs.places, report(syncs=(PLACE,) * 11))

    assert lines[-1].strip() == "and 3 more: --json"


def test_without_a_place_nothing_is_printed() -> None:
    """Also where they were not counted."""
    assert printed(syncs.places, report(syncs=())) == []
    assert printed(syncs.places, report(syncs=None)) == []
