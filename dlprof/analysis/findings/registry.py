"""All rules in the order in which they claim time: those that come with dlprof, and plug-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from dlprof import plugins
from dlprof.analysis.findings.rule import Rule
from dlprof.analysis.findings.rules import RULES
from dlprof.analysis.findings.title import Title

GROUP = "dlprof.rules"
"""Entry-point group. An entry's name is the slug; it gives a module, or any object, with a function `look`, and with
`AFTER`, the slug of the rule that it comes after, if it is not to come last. `TITLE` is what its findings are called, a
text or a `Title`; without it they are called by the words of the slug."""


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
    for name, home in plugins.loaded(GROUP, "rule"):
        if not callable(getattr(home, "look", None)):
            plugins.warn("rule", name, "has no function look")
        elif name in RULES or name in found:
            plugins.warn("rule", name, "has the name of another rule")
        else:
            found[name] = Rule(name, home.look, _after(name, home), _title(home))
    return tuple(found.values())


def _title(home: object) -> Title | None:
    given = getattr(home, "TITLE", None)
    if isinstance(given, Title):
        return given
    return Title(given) if isinstance(given, str) and given else None


def _after(name: str, home: object) -> str | None:
    after = getattr(home, "AFTER", None)
    if after is not None and after not in RULES:
        plugins.warn("rule", name, f"wants to come after {after}, which is no rule of dlprof; it comes last")
        return None
    return after
