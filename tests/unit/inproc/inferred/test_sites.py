"""The loops around a call are found in the byte code of the frames around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from dlprof_probes.inproc.inferred.sites import Sites, loops_of, names_in

Seen = list[tuple[tuple[int, ...], tuple[Any, ...], tuple[str, int]]]


@pytest.fixture
def sites() -> Sites:
    """This file alone is the user's."""
    return Sites(lambda path: path == __file__)


@pytest.fixture
def look(sites: Sites) -> Callable[[], Any]:
    """Path, turns and line of the place that calls it."""

    def here() -> Any:
        frame = sys._getframe(1)
        site = sites.look(frame)
        return site.path, site.turns(frame), site.where[1] - site.frames(frame)[-1].f_code.co_firstlineno

    return here


def test_loops_of_a_function_from_the_inside_out(look: Callable[[], Any]) -> None:
    """The line is that of the innermost `for`; turns are those of the loops around it."""

    def train() -> list[Any]:
        found = []
        for _epoch in range(2):
            for batch in range(2):
                if batch is not None:
                    found.append(look())
        return found

    found = train()

    assert [turns for _, turns, _ in found] == [(0,), (0,), (1,), (1,)]
    assert {len(path) for path, _, _ in found} == {2}
    assert len({path for path, _, _ in found}) == 1
    assert {line for _, _, line in found} == {3}


def test_a_helper_belongs_to_the_loop_that_calls_it(look: Callable[[], Any]) -> None:
    """It has no loop of its own."""

    def step() -> Any:
        return look()

    found: list[Any] = [None, None]
    for number in (0, 1):
        found[number] = step()

    assert len(found[0][0]) == 1
    assert found[0][0] == found[1][0]


def test_two_loops_of_a_function_are_two(look: Callable[[], Any]) -> None:
    """Each has its number."""
    found = []
    for _ in range(1):
        found.append(look()[0])
    for _ in range(1):
        found.append(look()[0])

    assert len(set(found)) == 2


def test_a_call_behind_a_loop_is_in_none(look: Callable[[], Any]) -> None:
    """Nor is what is asked for at its head."""
    for _ in range(1):
        pass

    assert look()[0] == ()


def test_while_tells_no_turns(look: Callable[[], Any]) -> None:
    """It sets no name."""
    found, left = [], 2
    while left:
        for _batch in range(1):
            found.append(look())
        left -= 1

    assert [turns for _, turns, _ in found] == [(None,), (None,)]
    assert {len(path) for path, _, _ in found} == {2}


def test_a_name_that_the_inner_loop_sets_too_tells_no_turns(look: Callable[[], Any]) -> None:
    """`for _ in …: for _ in …`."""
    found = []
    for _ in range(2):
        for _ in range(2):
            found.append(look()[1])

    assert found == [(None,)] * 4


def test_the_first_of_several_names_tells_turns(look: Callable[[], Any]) -> None:
    """As `enumerate` gives it."""
    found = []
    for _number, _item in enumerate("ab"):
        for _batch in range(1):
            found.append(look()[1])

    assert found == [(0,), (1,)]


def test_loops_of_generators_are_around_what_they_call(look: Callable[[], Any]) -> None:
    """And behind them those of who asks them."""

    def batches() -> Iterator[Any]:
        for _batch in range(2):
            yield look()

    found = []
    for one in batches():
        found.append(one)

    assert len(found[0][0]) == 2


def test_where_the_function_with_the_loop_was_called_from_tells_its_calls_apart(sites: Sites) -> None:
    """Not the line in its loop, nor who is called there."""

    def here() -> Any:
        return sites.look(sys._getframe(1)).called_from

    def train() -> list[Any]:
        found = []
        for _ in range(2):
            found.append(here())
            found.append(here())
        return found

    once, again = train(), train()

    assert len(set(once)) == len(set(again)) == 1
    assert once[0] is not None
    assert once[0] != again[0]


def test_where_a_generator_is_asked_from_tells_nothing(sites: Sites) -> None:
    """It goes on wherever somebody asks it to."""

    def batches() -> Iterator[Any]:
        for _batch in range(2):
            yield sites.look(sys._getframe(0)).called_from

    assert next(batches()) is None


def test_what_calls_the_outermost_function_of_the_user_is_no_loop(look: Callable[[], Any]) -> None:
    """A runner of tests has loops, and so has a notebook."""
    assert look()[0] == ()


def test_the_code_of_an_engine_is_passed_over(sites: Sites, look: Callable[[], Any]) -> None:
    """Its own loops are no loops of a training."""
    sites.skip(os.path.dirname(__file__) + os.sep)
    for _ in range(1):
        assert look()[0] == ()


def test_a_module_tells_turns_by_its_globals(sites: Sites) -> None:
    """Its names are no copies."""
    found: list[Any] = []

    def turns_at(frame: FrameType) -> Any:
        return sites.look(frame).turns(frame)

    code = "for epoch in (5, 6):\n    for batch in (1,):\n        look()\n"
    scope = {"look": lambda: found.append(turns_at(sys._getframe(1)))}
    exec(compile(code, __file__, "exec"), scope)

    assert found == [(5,), (6,)]


class _Kept:
    alive = 0

    def __init__(self) -> None:
        type(self).alive += 1

    def __del__(self) -> None:
        type(self).alive -= 1


def _names(frame: FrameType) -> list[str]:
    return sorted(names_in(frame))


def test_asking_a_frame_for_its_names_keeps_nothing_alive() -> None:
    """What the function drops afterwards is gone."""

    def function() -> tuple[list[str], int]:
        kept = _Kept()
        names = _names(sys._getframe())
        del kept
        return names, _Kept.alive

    assert function() == (["kept"], 0)


def test_locals_that_the_program_holds_stay_as_they_are() -> None:
    """A function that has called `locals()`."""

    def function() -> dict[str, Any]:
        one = 1
        held = locals()
        _names(sys._getframe())
        return {"one": held.get("one"), "still": one}

    assert function() == {"one": 1, "still": 1}


def test_a_comprehension_is_a_loop() -> None:
    """Of a code object of its own, or of the function's."""
    code = compile("[x for x in y]\n", "f", "exec")
    inner = [one for one in code.co_consts if hasattr(one, "co_code")]

    assert sum(len(loops_of(one)) for one in (code, *inner)) == 1


def test_a_long_loop_tells_its_turns() -> None:
    """The argument of its `for` is too large for one instruction."""
    body = "\n".join(f"        x{n} = [n for n in (1, 2, 3)]" for n in range(300))
    code = compile(f"def f():\n    for epoch in range(3):\n{body}\n", "long.py", "exec")
    function = next(one for one in code.co_consts if hasattr(one, "co_code"))

    assert "epoch" in {loop.target for loop in loops_of(function)}


def test_the_innermost_loop_tells_its_count(sites: Sites) -> None:
    """The number that it sets."""

    def train() -> list[Any]:
        return [count for _ in range(1) for count in _counts()]

    def _counts() -> Iterator[Any]:
        while True:
            for _number in range(2):
                yield sites.look(sys._getframe(0)).count(sys._getframe(0))
            return

    assert train() == [0, 1]


def test_a_turn_is_told_by_what_all_loops_set(sites: Sites) -> None:
    """The innermost one first; a loop that sets nothing tells no turn of its own."""

    def turn() -> Any:
        return sites.look(sys._getframe(1)).turn(sys._getframe(1))

    def train(found: list[Any]) -> list[Any]:
        for _epoch in range(2):
            for _batch in range(2):
                found.append(turn())
            while len(found) % 3:
                found.append(turn())
        return found

    assert train([]) == [(0, 0), (1, 0), None, (0, 1), (1, 1), None]


def test_codes_at_one_offset_are_told_apart(look: Callable[[], Any]) -> None:
    """Two functions of the same byte code, called from the same line."""

    def one() -> Any:
        for _batch in range(1):
            found = look()[0]
        return found

    def other() -> Any:
        for _batch in range(1):
            found = look()[0]
        return found

    paths = [step() for _ in range(2) for step in (one, other)]

    assert paths[:2] == paths[2:]
    assert paths[0][0] != paths[1][0]


def test_a_site_is_found_again_where_many_others_were_seen(sites: Sites, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was learnt is forgotten then, and learnt again: the loops keep their numbers."""
    monkeypatch.setattr("dlprof_probes.inproc.inferred.sites._BRANCHES_AT_MOST", 1)
    found = []
    for _ in range(2):
        found.append(sites.look(sys._getframe()).path)

    assert found[0] == found[1] != ()


def test_files_of_an_engine_that_are_named_count_all_the_same(sites: Sites, look: Callable[[], Any]) -> None:
    """Its own training loop is one; what is beside it is not."""
    sites.skip(os.path.dirname(__file__) + os.sep, [__file__])
    paths = [len(look()[0]) for _ in range(1)]
    sites.skip(os.path.dirname(__file__) + os.sep)
    sites._counted.clear()

    assert paths == [1]
    assert [len(look()[0]) for _ in range(1)] == [0]
