"""A history as a page."""

from __future__ import annotations

import pytest
from msgspec import structs

from dlprof.history import page
from tests.unit.history.test_tables import COMMITS, FOUND
from tests.unit.report.html.pages import HOSTILE, Elements, embedded


def test_a_measure_is_drawn_over_all_commits() -> None:
    """From 0 to the most; a commit that was not measured leaves a gap; the change stands at its commit."""
    found = Elements(page.make(FOUND)).found

    assert [attributes["points"] for tag, attributes in found if tag == "polyline"] == ["10.0,53.3 710.0,10.0"]
    marks = [attributes for tag, attributes in found if tag == "line" and attributes.get("class") == "slower"]
    assert [one["x1"] for one in marks] == ["710.0"]


def test_a_change_is_told_with_its_part_and_cause() -> None:
    """And what to do."""
    text = Elements(page.make(FOUND)).text

    assert "1 change of 5 % or more in 3 commits, of which 2 were measured." in text
    assert "+50.0 %" in text
    assert "fit/callbacks: 1.00 s to 2.00 s, +1.00 s, 95 % 500 ms to 2.00 s" in text
    assert "It writes. train.py:7" in text
    assert "Write less." in text


def test_nothing_that_changed_and_what_failed_are_said() -> None:
    """With the reason."""
    failed = structs.replace(COMMITS[1], failed=("exit code 1: boom",))

    text = Elements(page.make(structs.replace(FOUND, changes=(), commits=(COMMITS[0], failed, COMMITS[2])))).text

    assert "Nothing changed by 5 % or more in 3 commits" in text
    assert "exit code 1: boom" in text


def test_the_page_carries_the_history_as_json() -> None:
    """All that `--format json` prints."""
    assert embedded(page.make(FOUND), "history.json")["changes"][0]["commit"] == "c" * 40


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_subject_of_a_commit_is_markup(name: str) -> None:
    """It is text wherever it stands."""
    plain = Elements(page.make(FOUND)).found
    commits = tuple(structs.replace(one, subject=name) for one in COMMITS)
    changes = tuple(structs.replace(one, subject=name, work=name) for one in FOUND.changes)
    series = tuple(structs.replace(one, work=name) for one in FOUND.series)

    found = Elements(page.make(structs.replace(FOUND, commits=commits, changes=changes, series=series))).found

    assert [tag for tag, _ in found] == [tag for tag, _ in plain]


def test_a_change_in_doubt_is_told_as_one() -> None:
    """With the reasons."""
    (change,) = FOUND.changes
    doubtful = structs.replace(change, doubts=("within noise", "no file of the benchmark changed: README.md"))

    text = Elements(page.make(structs.replace(FOUND, changes=(doubtful,)))).text

    assert "perhaps made train on torch slower" in text
    assert "In doubt: within noise; no file of the benchmark changed: README.md." in text
