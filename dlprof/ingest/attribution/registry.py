"""All ways of attribution by name: those that come with dlprof, and plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from dlprof import plugins
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
    for _, attribution in plugins.loaded(GROUP, "attribution", Attribution):
        known.setdefault(attribution.name, attribution)
    return MappingProxyType(known)


def named(name: str) -> Attribution:
    """The attribution of a name; that by launches, which needs nothing of the trace, where nobody knows it."""
    return all_attributions().get(name) or by_launch.ATTRIBUTION
