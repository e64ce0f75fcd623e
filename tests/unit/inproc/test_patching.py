"""What is replaced looks as before, and can be put back."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from dlprof_probes.inproc.patching import Patches


class Base:
    """A class as of Keras."""

    def method(self, value: int, *, scale: int = 2) -> Any:
        """Multiply."""
        return value * scale

    @staticmethod
    def static(value: int) -> Any:
        """Give back."""
        return value

    @classmethod
    def of_class(cls, value: int) -> Any:
        """Give back, with the class."""
        return cls, value


def doubled(original: Callable[..., Any]) -> Callable[..., Any]:
    """A replacement whose results are seen to be its own."""
    return lambda *args, **kwargs: ("replaced", original(*args, **kwargs))


@pytest.fixture
def owner() -> type[Base]:
    """A class that nobody else has."""
    return type("Owner", (Base,), {name: vars(Base)[name] for name in ("method", "static", "of_class")})


def test_a_method_is_replaced(owner: type[Base]) -> None:
    """Its result comes from the replacement."""
    assert Patches().replace(owner, "method", doubled) is True
    assert owner().method(3) == ("replaced", 6)


def test_what_is_inherited_is_left_alone() -> None:
    """A subclass does not get what its base has."""
    heir = type("Heir", (Base,), {})

    assert Patches().replace(heir, "method", doubled) is False
    assert "method" not in vars(heir)


def test_static_and_class_methods_stay_what_they_are(owner: type[Base]) -> None:
    """They are called on the class as before."""
    patches = Patches()
    patches.replace(owner, "static", doubled)
    patches.replace(owner, "of_class", doubled)

    assert owner.static(1) == ("replaced", 1)
    assert owner.of_class(1) == ("replaced", (owner, 1))
    assert isinstance(vars(owner)["static"], staticmethod)


def test_a_replacement_has_name_documentation_and_signature(owner: type[Base]) -> None:
    """Also for those who ask without following wrappers."""
    Patches().replace(owner, "method", doubled)

    assert (owner.method.__name__, owner.method.__doc__) == ("method", "Multiply.")
    assert (
        str(inspect.signature(owner.method, follow_wrapped=False))
        == "(self, value: 'int', *, scale: 'int' = 2) -> 'Any'"
    )
    assert inspect.getfullargspec(owner.method).kwonlyargs == ["scale"]


def test_nothing_is_replaced_twice(owner: type[Base]) -> None:
    """Unless it is asked for."""
    patches = Patches()
    patches.replace(owner, "method", doubled)

    assert patches.replace(owner, "method", doubled) is False
    assert patches.replace(owner, "method", doubled, again=True) is True
    assert owner().method(1) == ("replaced", ("replaced", 2))


def test_undo_puts_the_originals_back(owner: type[Base]) -> None:
    """The very objects, last one first."""
    before = dict(vars(owner))
    patches = Patches()
    for name in ("method", "static", "of_class"):
        patches.replace(owner, name, doubled)
    patches.replace(owner, "method", doubled, again=True)

    patches.undo()

    assert {name: vars(owner)[name] for name in before} == before


def test_one_undo_that_fails_keeps_no_other_from_its_turn() -> None:
    """Its error comes when all have had theirs."""
    patches, undone = Patches(), []
    patches.on_undo(lambda: undone.append("first"))
    patches.on_undo(lambda: 1 // 0)
    patches.on_undo(lambda: undone.append("last"))

    with pytest.raises(ZeroDivisionError):
        patches.undo()

    assert undone == ["last", "first"]


def test_a_callable_without_a_signature_is_replaced_too() -> None:
    """Some of C have none."""
    owner = type("Owner", (), {"made": dict})

    assert Patches().replace(owner, "made", doubled) is True
    assert owner.made(a=1) == ("replaced", {"a": 1})  # type: ignore[attr-defined]
