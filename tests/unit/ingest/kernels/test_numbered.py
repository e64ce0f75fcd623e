"""Values with numbers."""

from __future__ import annotations

from dlprof.ingest.kernels.numbered import Numbered
from dlprof.ingest.kernels.scopes import BytesMoved, NodePath, Scope


def test_equal_values_have_one_number() -> None:
    """In the order in which they came."""
    names: Numbered[str] = Numbered()

    assert [names.number(text) for text in ("a", "b", "a")] == [0, 1, 0]
    assert (len(names), names[1]) == (2, "b")


def test_scopes_of_different_types_are_different_values() -> None:
    """Though they hold equal things."""
    scopes: Numbered[Scope] = Numbered()

    assert [scopes.number(scope) for scope in (NodePath("1"), BytesMoved(1), BytesMoved(1))] == [0, 1, 1]
