"""What the engines' specs say together, for stacks and traces in which code of several engines may stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType

from dlprof.engines.base import EngineSpec, Switch
from dlprof.engines.registry import all_specs


@cache
def python_operators() -> frozenset[str]:
    """Operators of any engine that call a function of Python."""
    return _all(lambda spec: spec.python_operators)


@cache
def waiting_functions() -> frozenset[str]:
    """Functions of any engine that wait for a value and bring it to the host."""
    return _all(lambda spec: spec.waiting_functions)


@cache
def input_files() -> frozenset[str]:
    """Parts of the names of files through which any engine calls for a batch."""
    return _all(lambda spec: spec.input_files)


@cache
def operator_files() -> frozenset[str]:
    """Beginnings of the names of files through which an operator of any engine calls Python."""
    return _all(lambda spec: spec.operator_files)


@cache
def callback_files() -> frozenset[str]:
    """Beginnings of the names of files through which a compiled function of any engine calls Python."""
    return _all(lambda spec: spec.callback_files)


@cache
def generated_files() -> frozenset[str]:
    """Parts of the names of files of Python that any engine writes itself."""
    return _all(lambda spec: spec.generated_files)


@cache
def packages() -> frozenset[str]:
    """Top-level packages of any engine."""
    return _all(lambda spec: spec.packages)


@cache
def folders() -> tuple[str, ...]:
    """Beginnings of the names of files of any engine."""
    return tuple(f"{package}/" for package in packages())


@cache
def folders_with_keras() -> tuple[str, ...]:
    """The same, and of Keras."""
    return ("keras/", *folders())


@cache
def switches() -> Mapping[str, Switch]:
    """The switches of any engine by name: a script may have loaded several."""
    return MappingProxyType({switch.name: switch for spec in all_specs().values() for switch in spec.switches})


def _all(part: Callable[[EngineSpec], Iterable[str]]) -> frozenset[str]:
    return frozenset(word for spec in all_specs().values() for word in part(spec))
