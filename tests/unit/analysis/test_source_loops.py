"""The loops of a file, by its source."""

from __future__ import annotations

import pytest

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


def test_turns_that_need_nothing_of_each_other_are_side_by_side() -> None:
    """Those of brackets, over all of their lines, and of a loop that collects; not those of one that goes on."""
    brackets = ["y = cat([", "    head(x)", "    for head in heads", "])"]
    collects = ["for i in range(9):", "    found.append(one(x[i]))"]
    goes_on = ["for one in blocks:", "    x = one(x)"]

    assert source_loops.side_by_side([*brackets, *collects, *goes_on]) == {1: 1, 2: 1, 3: 1, 4: 1, 6: 5}


def test_lines_of_a_loop_whose_turns_need_the_one_before_are_recurrent() -> None:
    """Not those of one that collects; nor of a text that is no Python."""
    goes_on = ["for one in steps:", "    h = cell(one, h)", "    outs.append(h)"]
    collects = ["for i in range(9):", "    found.append(one(x[i]))"]

    assert source_loops.recurrent([*goes_on, *collects]) == {2: 1, 3: 1}
    assert source_loops.recurrent(["%time x = 1"]) == {}


def test_of_what_is_no_python_nothing_is_side_by_side() -> None:
    """A cell with magics."""
    assert source_loops.side_by_side(["%time x = [f(a) for a in b]"]) == {}


@pytest.mark.parametrize(
    "body",
    [
        ["h = cell(x[t], h)"],
        ["z = cell(x[t], h)", "h = tanh(z)"],
        ["h, c = cell(x[t], (h, c))"],
        ["self.h = self.act(self.rec(self.h) + x[t])"],
        ["if masked:", "    h = h.step(x[t])"],
        ["h = tanh(torch.cat([h, x[t]]))"],
        ["both = torch.cat((x[t], h), 1)", "h = tanh(cell(both))"],
        ["h += cell(h)"],
    ],
)
def test_what_is_computed_out_of_the_time_before_is_a_recurrence(body: list[str]) -> None:
    """A cell, in any spelling."""
    assert source_loops.is_recurrence(["for t in range(n):", *[f"    {line}" for line in body]], 1)


@pytest.mark.parametrize(
    "body",
    [
        ["rows.append(cell(x[t]))"],
        ["total += loss(x[t])"],
        ["rows.append(cell(x[i]))", "i += 1"],
        ["total = total + loss(x[t])"],
        ["out = torch.cat([out, cell(x[t])])"],
        ["both = torch.cat((x[t], y[t]), 1)", "h = cell(both)"],
        ["seen = torch.cat((seen, x[t]))", "rows.append(cell(seen))"],
        ["place = i * size", "rows.append(cell(x[place]))", "i = i + 1"],
        ["h = cell(x[t])", "g = tanh(h)"],
        ["def f(h):", "    h = cell(h)"],
        ["rows.append(sum(abs(h - x[t]) for h in y))"],
        ["    h = (no Python"],
    ],
)
def test_rows_sums_and_lists_are_no_recurrence(body: list[str]) -> None:
    """Each could be computed without the others."""
    assert not source_loops.is_recurrence(["for t in range(n):", *[f"    {line}" for line in body]], 1)


def test_where_no_loop_begins_there_is_no_recurrence() -> None:
    """A line in one."""
    assert not source_loops.is_recurrence(["for t in x:", "    h = cell(h)"], 2)


def test_what_is_nested_too_deep_is_no_python_for_us() -> None:
    """A file of a stranger's run: the parser gives up, and no rule trips over it."""
    assert source_loops.parsed(["x = " + "(" * 5000 + "1" + ")" * 5000]) is None


def test_loops_that_end_by_what_happens_in_them() -> None:
    """`while`, and what breaks; not where a loop inside breaks, nor where a function does."""
    texts = [
        "for epoch in epochs:",
        "    while not done:",
        "        step()",
        "    for t in range(9):",
        "        if done:",
        "            break",
        "    for x in rows:",
        "        for y in x:",
        "            break",
        "for z in rows:",
        "    break",
    ]

    assert source_loops.open_ended(texts, 1) == [(2, 3), (4, 5), (8, 9)]
    assert source_loops.open_ended(texts, 3) == []


def test_statements_of_a_file_outside_of_loops_and_functions_run_once() -> None:
    """Also below a condition and over several lines; not what brackets do again and again."""
    text = "x = (1 +\n     2)\nif x:\n    main()\nfor y in x:\n    main()\ndef f():\n    main()\nz = [f() for y in x]\n"

    assert source_loops.run_once(text.splitlines()) == {1, 2, 4}
    assert source_loops.run_once(["x ="]) == set()
