"""All ways of attribution by name: those that come with dlprof, and plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from dlprof.ingest.attribution import by_autograd, by_launch, by_node, by_order, by_path, by_program, by_range, by_scope
from dlprof.ingest.attribution.base import Attribution

GROUP = "dlprof.attributions"
"""Entry-point group; each entry names an `Attribution`."""
_OWN = tuple(
    module.ATTRIBUTION
    for module in (by_path, by_program, by_launch, by_autograd, by_range, by_order, by_node, by_scope)
)


@cache
def all_attributions() -> Mapping[str, Attribution]:
    """Every attribution by name; a plug-in that cannot be loaded is passed over with a warning."""
    known = {attribution.name: attribution for attribution in _OWN}
    for entry in entry_points(group=GROUP):
        try:
            attribution = entry.load()
            known.setdefault(attribution.name, attribution)
        except Exception as error:  # noqa: BLE001  (a foreign plug-in may fail in any way)
            print(f"dlprof: warning: attribution plug-in {entry.name} cannot be loaded: {error}", file=sys.stderr)
    return MappingProxyType(known)


def named(name: str) -> Attribution:
    """The attribution of a name; that by launches, which needs nothing of the trace, where nobody knows it."""
    return all_attributions().get(name) or by_launch.ATTRIBUTION
