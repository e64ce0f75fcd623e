"""A comparison as one JSON object (`dlprof.compare/1`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dlprof.analysis import utilisation
from dlprof.analysis.compare import Comparison, Item, Side
from dlprof.analysis.line_pairs import LinePair

SCHEMA = "dlprof.compare/1"
STRIP_PARTS = 60


def as_json(found: Comparison, lines: Sequence[LinePair]) -> dict[str, Any]:
    """All that the text of a comparison says. See docs/json.md.

    Args:
        found: The comparison.
        lines: Lines of both sides, joined.
    """
    return {
        "schema": SCHEMA,
        "a": side(found.a, found.a_wall_ns, found.a_step_ns),
        "b": side(found.b, found.b_wall_ns, found.b_step_ns),
        "comparable": found.parity.comparable,
        "why_not": list(found.parity.why_not),
        "differences": list(found.parity.differences),
        "not_checked": list(found.parity.unknown),
        "gap_ns": found.gap_ns,
        "gap_ci_ns": list(found.gap_ci_ns) if found.gap_ci_ns else None,
        "within_noise": found.noise,
        "items": [_item(item) for item in found.items],
        "common_slowdown": found.common,
        "unattributed_ns": found.unattributed_ns,
        "steps_not_split_because": found.unsplit,
        "layers": [asdict(layer) for layer in found.layers],
        "lines": [{**asdict(pair), "delta_ns": pair.delta_ns} for pair in lines],
    }


def side(one: Side, wall_ns: int, step_ns: int | None) -> dict[str, Any]:
    """A side: its runs, its mean wall time, its steady step, its cores."""
    cores = utilisation.cores(one.runs[0].table("cores"), STRIP_PARTS)
    return {
        "label": one.label,
        "runs": [run.name for run in one.runs],
        "wall_ns": wall_ns,
        "step_ns": step_ns,
        "cores": [{"core": use.core, "mean_pct": use.mean_pct, "strip_pct": list(use.strip)} for use in cores],
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "path": item.path,
        "a_ns": item.a_ns,
        "b_ns": item.b_ns,
        "delta_ns": item.delta_ns,
        "ci_ns": list(item.ci_ns) if item.ci_ns else None,
        "within_noise": item.noise,
    }
