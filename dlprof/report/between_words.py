"""What the host of a foreign trace without a device did while no operator ran, in a sentence."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from dlprof.report.imported_parts import Facts
from dlprof.report.model import Report
from dlprof.units import cut, duration

_WORTH = 0.05
"""A smaller share of the trace is not worth a word."""
_TOP = 3
_NAME_AT_MOST = 60


def of(report: Report, facts: Facts, whole_ns: int) -> str:
    """The ranges and functions of the user's that took most of the time in which no operator ran; empty: little.

    Args:
        report: The run.
        facts: What is known of it besides.
        whole_ns: Time that was traced (ns).
    """
    if facts.between is None:
        return ""
    least = _WORTH * whole_ns
    ranges = [(name, ns) for name, ns in facts.between.ranges.items() if ns >= least][:_TOP]
    functions = [] if facts.processes else [one for one in _functions(report) if one[2] >= least][:1]
    parts = []
    if ranges:
        named = ", ".join(f"{cut(name, _NAME_AT_MOST)} {duration(ns)}" for name, ns in ranges)
        parts.append(f"it was in {named}")
    for place, inner, ns, inner_ns in functions:
        call = f", {duration(inner_ns)} of it in {cut(inner, _NAME_AT_MOST)}" if inner else ""
        parts.append(f"{'of functions, ' if parts else 'it was '}in {place} {duration(ns)}{call}")
    told = "; ".join(parts)
    return f" In the {duration(facts.between.ns)} in which the host ran no operator {told}." if told else ""


def _functions(report: Report) -> list[tuple[str, str, int, int]]:
    """Functions of the user's: the place, the call in it with most time (empty: itself), both times (ns)."""
    times: Counter[str] = Counter()
    calls: dict[str, Counter[str]] = {}
    for source in report.sources:
        told: Any = json.loads(source.facts or "{}")
        for one in told.get("python_functions") or ():
            place = f"{one['function']} ({one['file']}:{one['line']})"
            times[place] += one["ns"]
            calls.setdefault(place, Counter())["" if one["inner"] == one["function"] else one["inner"]] += one[
                "inner_ns"
            ]
    return [(place, *_first(calls[place], ns)) for place, ns in times.most_common()]


def _first(calls: Counter[str], ns: int) -> tuple[str, int, int]:
    inner, inner_ns = calls.most_common(1)[0]
    return inner, ns, inner_ns
