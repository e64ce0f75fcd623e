"""Queues with and without a limit."""

from __future__ import annotations

import ast

import pytest

from dlprof.analysis import source_queues


@pytest.mark.parametrize(
    ("text", "is_endless", "is_limited"),
    [
        ("q = queue.Queue()", True, False),
        ("q = queue.Queue(0)", True, False),
        ("q = queue.Queue(maxsize=-1)", True, False),
        ("q: Queue = SimpleQueue()", True, False),
        ("q = queue.Queue(4)", False, True),
        ("q = queue.Queue(maxsize=size)", False, True),
        ("q = deque(maxlen=100)", False, True),
        ("q = deque([], 100)", False, True),
        ("q = deque()", False, False),
        ("q = deque(maxlen=None)", False, False),
        ("q = []", False, False),
        ("q = Queue()\nself.q = Queue(3)", False, False),
    ],
)
def test_a_queue_has_a_limit_or_none(text: str, is_endless: bool, is_limited: bool) -> None:
    """By how it is made; a name for both is of neither kind."""
    found = source_queues.of_files([ast.parse(text)])

    assert (found.is_endless("self.q"), found.is_limited("self.q")) == (is_endless, is_limited)
