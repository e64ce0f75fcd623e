"""All backends by name: those that come with dlprof, and plug-ins."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.metadata import entry_points

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from dlprof.backends import cntk, jax, mxnet, native, openvino, tensorflow, tensorflow1, theano, torch
from dlprof.backends.base import LOCKS, BackendSpec
from dlprof.errors import UsageError

__all__ = ["GROUP", "LOCKS", "Traits", "all_specs", "get", "traits"]

GROUP = "dlprof.backends"
"""Entry-point group; each entry names a `BackendSpec`."""


_OWN = (
    tensorflow.SPEC, jax.SPEC, torch.SPEC, openvino.SPEC, mxnet.SPEC, theano.SPEC, cntk.SPEC, tensorflow1.SPEC,
    *native.SPECS,
)  # fmt: skip


@dataclass(frozen=True)
class Traits:
    """What a reader of step times must know of a backend of Keras, managed or not.

    Attributes:
        asynchronous_dispatch: The step function returns before the device has finished the step.
        input_inside_step: The next batch is fetched inside the step function.
    """

    asynchronous_dispatch: bool
    input_inside_step: bool


def traits(keras_backend: str | None, keras_version: str | None = None) -> Traits:
    """The traits of the backend that Keras calls `keras_backend`; without a spec, what is known of it.

    Args:
        keras_backend: The name that Keras has for it.
        keras_version: Of Keras; None: not known yet.
    """
    for spec in all_specs().values():
        if keras_backend and spec.keras_backend == keras_backend and _speaks_of(spec, keras_version):
            return traits_of(spec)
    return Traits(asynchronous_dispatch=keras_backend == "jax", input_inside_step=False)


def traits_of(spec: BackendSpec) -> Traits:
    """The traits that a spec states."""
    return Traits(spec.asynchronous_dispatch, spec.input_inside_step)


def _speaks_of(spec: BackendSpec, keras_version: str | None) -> bool:
    try:
        return keras_version is None or SpecifierSet(spec.keras_series).contains(Version(keras_version))
    except (InvalidVersion, InvalidSpecifier):
        return True


def all_specs() -> dict[str, BackendSpec]:
    """Every backend by name; a plug-in that cannot be loaded is passed over with a warning."""
    specs = {spec.name: spec for spec in _OWN}
    for spec in _plugged_in():
        specs.setdefault(spec.name, spec)
    return specs


@cache  # one warning, however often the backends are asked for
def _plugged_in() -> tuple[BackendSpec, ...]:
    found = []
    for entry in entry_points(group=GROUP):
        try:
            spec = entry.load()
        except Exception as error:  # noqa: BLE001  (a foreign plug-in may fail in any way)
            _warn(entry.name, f"cannot be loaded: {error}")
            continue
        if isinstance(spec, BackendSpec):
            found.append(spec)
        else:
            _warn(entry.name, "gives no BackendSpec")
    return tuple(found)


def _warn(name: str, reason: str) -> None:
    print(f"dlprof: warning: backend plug-in {name} {reason}", file=sys.stderr)


def get(name: str) -> BackendSpec:
    """The backend called `name`.

    Raises:
        UsageError: There is none; the nearest name is suggested.
    """
    specs = all_specs()
    if name in specs:
        return specs[name]
    near = get_close_matches(name, specs, 1)
    known = f"known backends: {', '.join(sorted(specs))}"
    raise UsageError(f"There is no backend {name}.", hint=f"{near[0]} ({known})" if near else known)
