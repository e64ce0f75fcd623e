"""All backends by name: those that come with dlprof, and plug-ins."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from importlib.metadata import entry_points

from dlprof.backends import mxnet, tensorflow
from dlprof.backends.base import LOCKS, BackendSpec
from dlprof.errors import UsageError

__all__ = ["GROUP", "LOCKS", "all_specs", "get"]

GROUP = "dlprof.backends"
"""Entry-point group; each entry names a `BackendSpec`."""


def all_specs() -> dict[str, BackendSpec]:
    """Every backend by name; a plug-in that cannot be loaded is passed over with a warning."""
    specs = {spec.name: spec for spec in (tensorflow.SPEC, mxnet.SPEC)}
    for entry in entry_points(group=GROUP):
        try:
            spec = entry.load()
            specs.setdefault(spec.name, spec)
        except Exception as error:  # noqa: BLE001  (a foreign plug-in may fail in any way)
            print(f"dlprof: warning: backend plug-in {entry.name} cannot be loaded: {error}", file=sys.stderr)
    return specs


def get(name: str) -> BackendSpec:
    """The backend called `name`.

    Raises:
        UsageError: There is none; the nearest name is suggested.
    """
    specs = all_specs()
    if name in specs:
        return specs[name]
    near = get_close_matches(name, specs, 1)
    hint = f"did you mean --backend {near[0]}?" if near else f"known backends: {', '.join(sorted(specs))}"
    raise UsageError(f"There is no backend {name}.", hint=hint)
