"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlprof.analysis.compare import Comparison, Item
from dlprof.analysis.findings.finding import Diagnosis
from dlprof.analysis.line_pairs import LinePair
from dlprof.report import compare_json, diagnosis_json, gap_words, pair_words
from dlprof.report.compare_json import ComparisonReport, ItemReport, LineReport
from dlprof.report.html import flames_of_both, page
from dlprof.report.json_text import plain

_LAYER_ROWS = 60
_WORK_ROWS = 30
_LAYERS_SHOWN = 15
_PAIRS = 400
_PAIRS_SHOWN = 30
_LEAST_SHARE = 0.005
"""Parts of a gap below this share of the larger wall time are drawn as one, and folded in the table."""


def make(
    comparison: Comparison,
    lines: Sequence[LinePair],
    diagnosis: Diagnosis | None,
    no_diagnosis: str = "",
    of_b: Diagnosis | None = None,
) -> str:
    """The page of a comparison.

    Args:
        comparison: The comparison.
        lines: Lines of both sides, joined; those that differ most first.
        diagnosis: Why A is slower than B, or why parts of it are; None: that cannot be said.
        no_diagnosis: Why not.
        of_b: Why parts of B are slower than those of A (of the turned comparison); None: it was not looked for.
    """
    report = compare_json.as_json(comparison, lines)
    labels = list(gap_words.names(report.a.label, report.b.label))
    names = [report.a.runs[0], report.b.runs[0]]
    findings = diagnosis_json.as_json(diagnosis, names, comparison.parity, report.doubts) if diagnosis else None
    findings_of_b = diagnosis_json.as_json(of_b, names[::-1], comparison.parity, report.doubts) if of_b else None
    flames = flames_of_both.of_runs(comparison.a.runs[0], comparison.b.runs[0])
    layers = [layer for layer in report.layers if layer.a_ns or layer.b_ns]
    data = {
        "kind": "comparison",
        "labels": labels,
        "walls_ns": [report.a.wall_ns, report.b.wall_ns],
        "waterfall": _waterfall(comparison),
        "layers_of_both": plain(layers[:_LAYER_ROWS]),
        "flames": flames,
    }
    shown, small = _items(report)
    return page.filled(
        "compare.html",
        data,
        [comparison.a.runs[0], comparison.b.runs[0]],
        title=f"{report.a.label} against {report.b.label}",
        headings=[gap_words.heading(letter, side) for letter, side in (("A", comparison.a), ("B", comparison.b))],
        comparison=report,
        labels=labels,
        parts=shown,
        small_parts=small,
        diagnosis=findings,
        diagnosis_of_b=findings_of_b,
        no_diagnosis=no_diagnosis,
        has_flames=bool(flames),
        layers=[layers[:_LAYERS_SHOWN], layers[_LAYERS_SHOWN:_LAYER_ROWS]],
        more_layers=max(0, len(layers) - _LAYER_ROWS),
        **_of_memory_and_work(report),
        **_of_lines(report),
        machine={
            "compare.json": report,
            **({"diagnosis.json": findings} if findings else {}),
            **({"diagnosis-of-b.json": findings_of_b} if findings_of_b else {}),
        },
    )


def _of_memory_and_work(report: ComparisonReport) -> dict[str, Any]:
    return {
        "memory": report.memory if report.memory.is_known else None,
        "memory_notes": pair_words.notes(report.memory),
        "memory_words": pair_words.memory(report.memory),
        "work": report.work if report.work.layers else None,
        "work_words": pair_words.work(report.work),
        "work_rows": report.work.layers[:_WORK_ROWS] if report.work.why_not is None else (),
    }


def _of_lines(report: ComparisonReport) -> dict[str, Any]:
    """Lines that have any time, those that tell something apart from the others."""
    pairs = [pair for pair in report.lines if pair.a_ns or pair.b_ns]
    telling = _telling(pairs, _LEAST_SHARE * max(report.a.wall_ns, report.b.wall_ns))
    return {
        "pairs": [pairs[:telling], pairs[telling:_PAIRS]],
        "more_pairs": max(0, len(pairs) - _PAIRS),
        "most_ns": _most(pairs),
    }


def _items(report: ComparisonReport) -> tuple[list[ItemReport], list[ItemReport]]:
    """Parts that are worth a row, and small ones; those that no side has are left out."""
    least = _LEAST_SHARE * max(report.a.wall_ns, report.b.wall_ns)
    present = [item for item in report.items if item.a_ns or item.b_ns]
    large = [item for item in present if max(item.a_ns, item.b_ns) >= least]
    return large, [item for item in present if max(item.a_ns, item.b_ns) < least]


def _telling(pairs: Sequence[LineReport], least_ns: float) -> int:
    """How many lines are shown at first: those that differ by that much, beyond noise."""
    many = sum(1 for pair in pairs if abs(pair.delta_ns) >= least_ns and not pair.within_noise)
    return min(_PAIRS_SHOWN, many)


def _most(pairs: Sequence[LineReport]) -> int:
    """The longest time of a line: cells are coloured by their share of it (ns)."""
    return max([1, *(max(pair.a_ns or 0, pair.b_ns or 0) for pair in pairs)])


def _waterfall(comparison: Comparison) -> list[dict[str, Any]]:
    """From B's wall time to A's: parts of the gap in order of their size; small ones as one; they sum to the gap."""
    least = _LEAST_SHARE * max(comparison.a_wall_ns, comparison.b_wall_ns)
    large = [item for item in comparison.items if abs(item.delta_ns) >= least]
    small = [item for item in comparison.items if abs(item.delta_ns) < least]
    rest = sum(item.delta_ns for item in small)
    parts: list[dict[str, Any]] = [
        *(_bar(comparison, item) for item in large),
        {"path": "smaller parts", "delta_ns": rest, "noise": all(item.noise for item in small), "ci_ns": None},
        {"path": gap_words.rest(comparison), "delta_ns": comparison.unattributed_ns, "noise": False, "ci_ns": None},
    ]
    return [part for part in parts if part["delta_ns"]]


def _bar(comparison: Comparison, item: Item) -> dict[str, Any]:
    name = gap_words.name(comparison, item)
    return {"path": name, "delta_ns": item.delta_ns, "noise": item.noise, "ci_ns": item.ci_ns}
