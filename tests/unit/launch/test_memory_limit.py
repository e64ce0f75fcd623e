"""What `ulimit -v` leaves for storing a run."""

from __future__ import annotations

import pytest

from dlprof.launch import memory_limit


@pytest.mark.parametrize(
    ("allowed", "taken", "short"),
    [
        (None, 100_000_000, None),
        (4_000_000_000, 100_000_000, None),
        (
            614_400_000,
            100_000_000,
            "ulimit -v allows 614 MB, and storing a run takes 738 MB more than dlprof has",
        ),
        (800_000_000, 100_000_000, "ulimit -v allows 800 MB, and storing a run takes 738 MB more than dlprof has"),
    ],
)
def test_a_limit_that_leaves_too_little_is_known_before(
    monkeypatch: pytest.MonkeyPatch, allowed: int | None, taken: int, short: str | None
) -> None:
    """Libraries that do not get what they need end the process, some of them."""
    monkeypatch.setattr(memory_limit, "allowed", lambda: allowed)
    monkeypatch.setattr(memory_limit, "_taken", lambda: taken)

    assert memory_limit.short_for_storing() == short


@pytest.mark.parametrize(
    ("allowed", "clause"), [(None, "memory ran out"), (61_440_000, "memory ran out: ulimit -v allows 61 MB")]
)
def test_the_limit_is_named_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch, allowed: int | None, clause: str
) -> None:
    """Else it was the machine's memory."""
    monkeypatch.setattr(memory_limit, "allowed", lambda: allowed)

    assert memory_limit.as_clause() == clause
