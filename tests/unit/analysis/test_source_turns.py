"""Lines of a loop that run once with each update, by the source."""

from __future__ import annotations

import pytest

from dlprof.analysis import source_turns


def known(source: str) -> set[int]:
    """Of the loop at line 1."""
    return source_turns.of_each_update(source.splitlines(), 1)


def test_lines_of_the_body_run_once_each_turn() -> None:
    """Also the head of a condition; not what is below it, nor an inner loop."""
    source = """\
for x, y in loader:
    optimizer.zero_grad()
    loss = model(x, y)
    optimizer.step()
    if loss > 3:
        print(loss)
    for one in y:
        print(one)
    total += loss.item()
"""
    assert known(source) == {2, 3, 4, 5, 9}


def test_what_stands_in_a_with_belongs_to_the_turn() -> None:
    """Its head runs again on the way out."""
    assert known("for x in data:\n    with tape:\n        loss = model(x)\n    optimizer.step()\n") == {3, 4}


@pytest.mark.parametrize(
    "update",
    [
        pytest.param("    if n % 4 == 0:\n        optimizer.step()", id="gradients are added up"),
        pytest.param("    for group in x:\n        optimizer.step()", id="several updates a turn"),
        pytest.param("    try:\n        optimizer.step()\n    except ValueError:\n        pass", id="one may fail"),
        pytest.param("    print(x)", id="none is seen"),
    ],
)
def test_nothing_is_known_where_turns_need_not_be_updates(update: str) -> None:
    """Each of these has steps that are no turns."""
    assert known(f"for n, x in data:\n    loss = model(x)\n{update}\n") == set()


@pytest.mark.parametrize("leaves", ["continue", "break", "return", "raise ValueError"])
def test_only_lines_on_the_update_s_side_of_what_leaves_the_turn_are_known(leaves: str) -> None:
    """Those before it run in turns without an update, too."""
    source = (
        f"def f():\n  for x in data:\n    look(x)\n    if not x:\n        {leaves}\n    optimizer.step()\n    log(x)\n"
    )

    assert source_turns.of_each_update(source.splitlines(), 2) == {6, 7}


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("total(\n        x)", id="on two lines"),
        pytest.param("[look(one) for one in x]", id="with turns of its own"),
        pytest.param("'text'", id="no code"),
    ],
)
def test_lines_that_may_be_counted_otherwise_are_left_out(statement: str) -> None:
    """Python begins some more than once in a turn, others never."""
    assert known(f"for x in data:\n    {statement}\n    optimizer.step()\n") == {2 + statement.count(chr(10)) + 1}


def test_a_line_that_begins_no_loop_tells_nothing() -> None:
    """As where the file was changed, or is no Python."""
    assert known("x = 1\n") == set()
    assert known("for x in\n") == set()
