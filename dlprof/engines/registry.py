"""All engines by name: those that come with dlprof, and plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from dlprof import plugins
from dlprof.engines import caffe2, chainer, cntk, jax, mxnet, openvino, tensorflow, tensorflow1, theano, torch
from dlprof.engines.base import Dispatch, EngineSpec

GROUP = "dlprof.engines"
"""Entry-point group; each entry names an `EngineSpec`."""
_OWN = tuple(
    module.SPEC
    for module in (tensorflow, tensorflow1, jax, torch, mxnet, theano, cntk, openvino, chainer, caffe2)
)  # fmt: skip


def all_specs() -> Mapping[str, EngineSpec]:
    """Every engine by name; a plug-in that cannot be loaded is passed over with a warning."""
    specs = {spec.name: spec for spec in _OWN}
    for spec in plugged_in():
        specs.setdefault(spec.name, spec)
    return MappingProxyType(specs)


@cache  # one warning, however often the engines are asked for
def plugged_in() -> tuple[EngineSpec, ...]:
    """The engines of plug-ins."""
    return tuple(spec for _, spec in plugins.loaded(GROUP, "engine", EngineSpec))


def find(name: str | None, version: str | None = None) -> EngineSpec | None:
    """The engine of a name, or of a module, in that version; None: it is not known.

    Args:
        name: `tensorflow1`, or `tensorflow` with the version 1.15.
        version: Of the engine; None: not known, so that the first spec of the module answers.
    """
    specs = all_specs()
    for spec in specs.values():
        if spec.module == name and _speaks_of(spec.series, version):
            return spec
    return specs.get(name or "")


def under_keras(keras_backend: str | None, keras_version: str | None = None) -> EngineSpec | None:
    """The engine that Keras of that version calls `keras_backend`; None: it is not known."""
    for spec in all_specs().values():
        if spec.module == keras_backend and _speaks_of(spec.keras_series, keras_version):
            return spec
    return find(keras_backend)


def dispatch_under_keras(keras_backend: str | None, keras_version: str | None = None) -> Dispatch:
    """How steps return on the backend that Keras calls so; the plain way where it is not known."""
    spec = under_keras(keras_backend, keras_version)
    return spec.under_keras if spec is not None else Dispatch()


def _speaks_of(specifier: str, version: str | None) -> bool:
    if not version:
        return True
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415  (not before a script starts)
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    try:
        return SpecifierSet(specifier, prereleases=True).contains(Version(version))
    except (InvalidVersion, InvalidSpecifier):
        return True
