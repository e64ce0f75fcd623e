"""dlprof's own time by the lines whose time holds it."""

from __future__ import annotations

from types import CodeType

from dlprof_probes.inproc.own_lines import OwnTime

MS = 1_000_000


def _fit(found: OwnTime, ns: int) -> None:
    found.add(ns)


def _train(found: OwnTime, *times: int) -> None:
    for ns in times:
        _fit(found, ns)


def _descend(found: OwnTime, depth: int) -> None:
    if depth:
        _descend(found, depth - 1)
    else:
        found.add(5 * MS)


CODES = {function.__code__ for function in (_train, _descend)}


def _key(code: CodeType) -> tuple[str, int, str]:
    return "train.py", 1, code.co_name


def _made() -> OwnTime:
    return OwnTime(lambda code: code in CODES, _key)


def test_the_lines_that_are_counted_on_the_stack_have_it_added_up() -> None:
    """Three times from the call in the second line of `_train`; `_fit`, which is not counted, has none."""
    found = _made()
    _train(found, 2 * MS, 3 * MS)
    _train(found, MS)

    line = _train.__code__.co_firstlineno + 2
    assert found.of(("train.py", 1, "_train")) == [[line, 6 * MS]]
    assert found.of(("train.py", 1, "_fit")) == []


def test_what_is_too_short_to_look_for_is_left_where_it_is() -> None:
    """Walking the stack would cost as much."""
    found = _made()
    _train(found, 99_999)

    assert found.of(("train.py", 1, "_train")) == []


def test_a_function_that_calls_itself_has_it_once_in_each_line() -> None:
    """Its line was begun five times, and waited once."""
    found = _made()
    _descend(found, 4)

    first = _descend.__code__.co_firstlineno
    assert found.of(("train.py", 1, "_descend")) == [[first + 2, 5 * MS], [first + 4, 5 * MS]]
