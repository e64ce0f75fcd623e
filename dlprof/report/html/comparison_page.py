"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlprof.analysis.compare import Comparison
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.line_pairs import LinePair
from dlprof.report import compare_json, diagnosis_json
from dlprof.report.compare_json import LineReport
from dlprof.report.gap_words import verdict
from dlprof.report.html import page
from dlprof.report.json_text import plain

_LAYER_ROWS = 60
_PAIRS = 400
_LEAST_SHARE = 0.005
"""Parts of a gap below this share of the larger wall time are drawn as one."""


def make(comparison: Comparison, lines: Sequence[LinePair], diagnosis: Diagnosis | None, no_diagnosis: str = "") -> str:
    """The page of a comparison.

    Args:
        comparison: The comparison.
        lines: Lines of both sides, joined; those that differ most first.
        diagnosis: Why A is slower than B; None: that cannot be said.
        no_diagnosis: Why not.
    """
    report = compare_json.as_json(comparison, lines)
    labels = [report.a.label, report.b.label]
    names = [report.a.runs[0], report.b.runs[0]]
    findings = diagnosis_json.as_json(diagnosis, names, comparison.parity) if diagnosis else None
    data = {
        "kind": "comparison",
        "labels": labels,
        "walls_ns": [report.a.wall_ns, report.b.wall_ns],
        "waterfall": _waterfall(comparison),
        "layers_of_both": plain(report.layers[:_LAYER_ROWS]),
    }
    pairs = sorted(report.lines[:_PAIRS], key=lambda pair: (pair.file, pair.line))
    return page.filled(
        "compare.html",
        data,
        [comparison.a.runs[0], comparison.b.runs[0]],
        title=f"{labels[0]} against {labels[1]}",
        comparison=report,
        labels=labels,
        verdict=verdict(comparison),
        diagnosis=findings,
        no_diagnosis=no_diagnosis,
        layers=report.layers[:_LAYER_ROWS],
        pairs=pairs,
        more_pairs=len(report.lines) - len(pairs),
        most_ns=_most(pairs),
        machine={"compare.json": report, **({"diagnosis.json": findings} if findings else {})},
    )


def _most(pairs: Sequence[LineReport]) -> int:
    """The longest time of a line: cells are coloured by their share of it (ns)."""
    return max([1, *(max(pair.a_ns or 0, pair.b_ns or 0) for pair in pairs)])


def _waterfall(comparison: Comparison) -> list[dict[str, Any]]:
    """From B's wall time to A's: parts of the gap in order of their size; small ones as one; they sum to the gap."""
    least = _LEAST_SHARE * max(comparison.a_wall_ns, comparison.b_wall_ns)
    large = [item for item in comparison.items if abs(item.delta_ns) >= least]
    small = [item for item in comparison.items if abs(item.delta_ns) < least]
    rest = sum(item.delta_ns for item in small)
    return [
        *({"path": item.path, "delta_ns": item.delta_ns, "noise": item.noise, "ci_ns": item.ci_ns} for item in large),
        {"path": "smaller parts", "delta_ns": rest, "noise": all(item.noise for item in small), "ci_ns": None},
        {"path": "unattributed", "delta_ns": comparison.unattributed_ns, "noise": False, "ci_ns": None},
    ]
