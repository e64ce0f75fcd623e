"""The loops of a file, by its source."""

from __future__ import annotations

from dlprof.analysis import source_loops


def test_a_line_belongs_to_the_innermost_loop_around_it() -> None:
    """The line that begins a loop belongs to the one around that."""
    text = ["for a in x:", "    first()", "    while b:", "        second()", "    third()", "last()"]

    assert source_loops.around(text) == {2: 1, 3: 3, 4: 3, 5: 1}


def test_a_function_in_a_loop_has_loops_of_its_own_only() -> None:
    """Its body runs where it is called."""
    text = ["for a in x:", "    def f():", "        first()", "        for b in y:", "            second()"]

    assert source_loops.around(text) == {2: 1, 5: 4}


def test_what_is_no_python_has_none() -> None:
    """A cell with magics."""
    assert source_loops.around(["%time x = 1"]) == {}
