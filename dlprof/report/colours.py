"""Colours that people with any kind of colour vision can tell apart (after Okabe and Ito), on light and on dark."""

from __future__ import annotations

import zlib

SLOWER, FASTER, NOISE = "#d55e00", "#0072b2", "#999999"
"""For differences: A takes longer, B takes longer, within noise."""
OTHER = "#999999"
CYCLE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_PHASES = {
    "fit": "#0072b2", "fit.steps": "#0072b2", "fit.input": "#e69f00", "fit.graph_compile": "#d55e00",
    "fit.build": "#f0a878", "fit.callbacks": "#cc79a7", "fit.validation": "#56b4e9", "evaluate": "#56b4e9",
    "predict": "#8fcdf2", "import": "#009e73", "data": "#c9bd2b", "construct": "#66c2a5", "compile": "#f0a878",
    "save": "#e5b8d0", "script": "#7f7f7f", "startup": "#b0b0b0", "teardown": "#b0b0b0", "dlprof": "#cccccc",
}  # fmt: skip
_EVENTS = {
    "epoch": "#8fcdf2", "step": "#56b4e9", "compiled": "#d55e00", "input": "#e69f00", "window": "#c9bd2b",
    "gc": "#d55e00", "idle": "#dddddd", "wait": "#e69f00", "transfer": "#cc79a7", "runtime": "#b0b0b0",
    "annotation": "#cccccc",
}  # fmt: skip
_CATEGORIES = {
    "conv": "#0072b2", "matmul": "#009e73", "elementwise": "#56b4e9", "reduction": "#cc79a7", "optimiser": "#e69f00",
    "data movement": "#d55e00", "normalisation": "#c9bd2b", "random": "#66c2a5", "embedding": "#f0a878",
}  # fmt: skip


def of_phase(name: str) -> str:
    """The colour of a phase, the same in every picture."""
    return _PHASES.get(name, OTHER)


def of_event(kind: str, category: str | None = None) -> str:
    """The colour of something on the time line: by its category what computes, by its kind all else."""
    if kind in ("kernel", "operator"):
        return _CATEGORIES.get(category or "", OTHER)
    return _EVENTS.get(kind) or of_text(kind)


def of_text(text: str) -> str:
    """A colour for a name that has none of its own: always the same one."""
    return CYCLE[zlib.crc32(text.encode("utf-8", "replace")) % len(CYCLE)]
