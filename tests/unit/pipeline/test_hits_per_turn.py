"""How often lines run in each turn of a loop."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.pipeline import hits_per_turn

SOURCE = """\
def clean(rows):
    for row in rows:
        row -= row.mean()
    return rows

def both(x):
    return x

for x in data:
    x = both(clean(x))
    if x is None:
        print(x)
    optimizer.step()
both(data)
""".splitlines()
FUNCTIONS = {1: ("clean", 1), 6: ("both", 6), 9: ("<module>", 1)}
LOOP = ("train.py", 9)


def row(line: int, hits: int | None = None, how: str = "scaled") -> dict[str, Any]:
    """A row of `lines` of train.py."""
    function, first = FUNCTIONS[max(begin for begin in FUNCTIONS if begin <= line)]
    return {
        "file": "train.py", "function": function, "first_line": first, "line": line, "hits": hits,
        "source": SOURCE[line - 1], "how": how,
    }  # fmt: skip


def told(rows: list[dict[str, Any]], counted: dict[int, int], *, few: bool = True) -> dict[int, int]:
    """Hits by line, where the loop at line 9 turned 400 times, and line 13 runs once in each turn."""
    by_line = {("train.py", line): hits for line, hits in counted.items()}
    loops = {LOOP: (400, [("train.py", 13)])}
    found = hits_per_turn.told(rows, by_line, loops, lambda _: SOURCE, few_windows=few)
    return {line: hits for (_, line), hits in found.items()}


ROWS = [row(line) for line in range(1, 15) if SOURCE[line - 1]]
COUNTED = {2: 11223, 3: 11136, 4: 87, 7: 88, 10: 87, 12: 3, 13: 87, 14: 1}


def test_a_line_runs_as_often_in_each_turn_as_it_was_counted_in_the_first_ones() -> None:
    """128 times in each of 87; one that ran three times does not tell how often, `both` is called elsewhere, too."""
    assert told(ROWS, COUNTED) == {2: 52000, 3: 51000, 4: 400, 10: 400}


def test_a_loop_that_hardly_turned_while_lines_were_counted_tells_nothing() -> None:
    """Nine turns."""
    assert told(ROWS, {3: 1152, 13: 9}) == {}


def test_hits_that_were_not_scaled_stay() -> None:
    """They are exact."""
    assert told([row(3, 51200, "exact"), row(10), row(13)], COUNTED) == {10: 400}


@pytest.mark.parametrize(("scaled", "hits"), [(30_000, 51000), (None, 51000), (900_000, None)])
def test_many_windows_may_say_that_a_line_runs_more_often_later(scaled: int | None, hits: int | None) -> None:
    """They may be four times off, not eighteen; few of them say nothing."""
    rows = [row(3, scaled), *(one for one in ROWS if one["line"] != 3)]

    assert told(rows, COUNTED, few=False).get(3) == hits
    assert told(rows, COUNTED)[3] == 51000
