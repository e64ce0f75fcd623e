"""All backends by name: those that come with dlprof, and plug-ins."""

from __future__ import annotations

from functools import cache

from dlprof import plugins
from dlprof.backends import cntk, jax, mxnet, native, openvino, tensorflow, tensorflow1, theano, torch
from dlprof.backends.base import LOCKS, BackendSpec
from dlprof.engines import registry as engines
from dlprof.engines.base import Dispatch, EngineSpec
from dlprof.errors import UsageError, nearest

__all__ = ["GROUP", "LOCKS", "all_specs", "dispatch_of", "engine_of", "get"]

GROUP = "dlprof.backends"
"""Entry-point group; each entry names a `BackendSpec`."""


_OWN = (
    tensorflow.SPEC,
    jax.SPEC,
    torch.SPEC,
    openvino.SPEC,
    mxnet.SPEC,
    theano.SPEC,
    cntk.SPEC,
    tensorflow1.SPEC,
    *native.SPECS,
)


def engine_of(spec: BackendSpec) -> EngineSpec | None:
    """The engine that a backend names; None: it names none, or one that is not known."""
    return engines.all_specs().get(spec.engine)


def dispatch_of(spec: BackendSpec) -> Dispatch:
    """How steps return on a backend, with Keras or without; the plain way where its engine is not known."""
    engine = engine_of(spec)
    if engine is None:
        return Dispatch()
    return engine.under_keras if spec.keras_backend else engine.alone


def all_specs() -> dict[str, BackendSpec]:
    """Every backend by name; a plug-in that cannot be loaded is passed over with a warning."""
    specs = {spec.name: spec for spec in _OWN}
    for spec in _plugged_in():
        specs.setdefault(spec.name, spec)
    return specs


@cache  # one warning, however often the backends are asked for
def _plugged_in() -> tuple[BackendSpec, ...]:
    return tuple(spec for _, spec in plugins.loaded(GROUP, "backend", BackendSpec))


def get(name: str) -> BackendSpec:
    """The backend called `name`.

    Raises:
        UsageError: There is none; the nearest name is suggested.
    """
    specs = all_specs()
    if name in specs:
        return specs[name]
    known = f"known backends: {', '.join(sorted(specs))}"
    raise UsageError(f"There is no backend {name}.", hint=known, near=nearest(name, specs))
