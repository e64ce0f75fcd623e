"""Colours that people with any kind of colour vision can tell apart (after Okabe and Ito), on light and on dark."""

from __future__ import annotations

SLOWER, FASTER, NOISE = "#d55e00", "#0072b2", "#999999"
"""For differences: A takes longer, B takes longer, within noise."""
OTHER = "#999999"
CYCLE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_PHASES = {
    "fit.steps": "#0072b2", "fit.input": "#e69f00", "fit.graph_compile": "#d55e00", "fit.build": "#f0a878",
    "fit.callbacks": "#cc79a7", "fit.validation": "#56b4e9", "evaluate": "#56b4e9", "predict": "#8fcdf2",
    "import": "#009e73", "data": "#c9bd2b", "construct": "#66c2a5", "compile": "#f0a878", "save": "#e5b8d0",
    "script": "#7f7f7f", "startup": "#b0b0b0", "teardown": "#b0b0b0", "dlprof": "#cccccc",
}  # fmt: skip


def of_phase(name: str) -> str:
    """The colour of a phase, the same in every picture."""
    return _PHASES.get(name, OTHER)
