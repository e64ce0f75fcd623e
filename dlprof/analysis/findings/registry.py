"""All rules in the order in which they claim time: those that come with dlprof, and plug-ins."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType

from dlprof.analysis.findings.rule import Rule
from dlprof.analysis.findings.rules import RULES

GROUP = "dlprof.rules"
"""Entry-point group. An entry's name is the slug; it gives a module, or any object, with a function `look`, and with
`AFTER`, the slug of the rule that it comes after, if it is not to come last."""


def all_rules() -> Mapping[str, Rule]:
    """Slug to rule; a plug-in that cannot be loaded, or takes a name that is taken, is passed over with a warning."""
    rules = list(RULES.values())
    for rule in plugged_in():
        rules.insert(_position(rules, rule.after), rule)
    return MappingProxyType({rule.slug: rule for rule in rules})


def _position(rules: list[Rule], after: str | None) -> int:
    """Behind the rule of that name; at the end where there is none."""
    return next((number for number, rule in enumerate(rules, 1) if rule.slug == after), len(rules))


@cache  # one warning, however often the rules are asked for
def plugged_in() -> tuple[Rule, ...]:
    """The rules of plug-ins."""
    found: dict[str, Rule] = {}
    for entry in entry_points(group=GROUP):
        try:
            home = entry.load()
        except Exception as error:  # noqa: BLE001  (a foreign plug-in may fail in any way)
            _warn(entry.name, f"cannot be loaded: {error}")
            continue
        if not callable(getattr(home, "look", None)):
            _warn(entry.name, "has no function look")
        elif entry.name in RULES or entry.name in found:
            _warn(entry.name, "has the name of another rule")
        else:
            found[entry.name] = Rule(entry.name, home.look, _after(entry.name, home))
    return tuple(found.values())


def _after(name: str, home: object) -> str | None:
    after = getattr(home, "AFTER", None)
    if after is not None and after not in RULES:
        _warn(name, f"wants to come after {after}, which is no rule of dlprof; it comes last")
        return None
    return after


def _warn(name: str, reason: str) -> None:
    print(f"dlprof: warning: rule plug-in {name} {reason}", file=sys.stderr)
