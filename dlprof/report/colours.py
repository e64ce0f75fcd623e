"""Colours that people with any kind of colour vision can tell apart (after Okabe and Ito), on light and on dark."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from dlprof.schema.vocabulary import Category, EventKind, Phase

SLOWER, FASTER, NOISE = "#d55e00", "#0072b2", "#999999"
"""For differences: A takes longer, B takes longer, within noise."""
OTHER = "#999999"
CYCLE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
OWN_CODE = "#0072b2"
"""What the user wrote, among the libraries."""
COMPILED = "#d55e00"
"""A step in which a graph was compiled."""
_PHASES: Mapping[str, str] = {
    Phase.FIT: "#0072b2",
    Phase.FIT_STEPS: "#0072b2",
    Phase.FIT_INPUT: "#e69f00",
    Phase.FIT_GRAPH_COMPILE: "#d55e00",
    Phase.FIT_BUILD: "#f0a878",
    Phase.FIT_WAIT: "#b8c4ce",
    Phase.FIT_CALLBACKS: "#cc79a7",
    Phase.FIT_VALIDATION: "#56b4e9",
    Phase.EVALUATE: "#56b4e9",
    Phase.PREDICT: "#8fcdf2",
    Phase.IMPORT: "#009e73",
    Phase.DATA: "#c9bd2b",
    Phase.CONSTRUCT: "#66c2a5",
    Phase.COMPILE: "#f0a878",
    Phase.SAVE: "#e5b8d0",
    Phase.SCRIPT: "#7f7f7f",
    Phase.STARTUP: "#b0b0b0",
    Phase.TEARDOWN: "#b0b0b0",
    Phase.DLPROF: "#cccccc",
    Phase.STEPS: "#0072b2",
    Phase.OUTSIDE_STEPS: "#7f7f7f",
    Phase.TRACE: "#7f7f7f",
}
_EVENTS: Mapping[str, str] = {
    "epoch": "#8fcdf2",
    "step": "#56b4e9",
    "window": "#c9bd2b",
    "collective": "#17becf",
    "gc": "#d55e00",
    "idle": "#dddddd",
    EventKind.INPUT.word: "#e69f00",
    EventKind.WAIT.word: "#e69f00",
    EventKind.TRANSFER.word: "#8c564b",
    EventKind.RUNTIME.word: "#b0b0b0",
    EventKind.ANNOTATION.word: "#cccccc",
}
"""By what a slice of the timeline is."""
_CATEGORIES: Mapping[str, str] = {
    Category.CONV: "#0072b2",
    Category.MATMUL: "#009e73",
    Category.ELEMENTWISE: "#56b4e9",
    Category.REDUCTION: "#cc79a7",
    Category.OPTIMISER: "#9467bd",
    Category.TRANSFER: "#8c564b",
    Category.COLLECTIVE: "#17becf",
    Category.RECURRENT: "#1b7837",
    Category.DATA_MOVEMENT: "#d55e00",
    Category.NORMALISATION: "#c9bd2b",
    Category.RANDOM: "#66c2a5",
    Category.EMBEDDING: "#f0a878",
}
_PACKAGES: Mapping[str, str] = {
    "<python>": "#d0d0d0",
    "keras": "#f4a6a0",
    "tensorflow": "#f5c26b",
    "jax": "#c3a6e0",
    "jaxlib": "#9fd0c4",
    "mxnet": "#a9cdf0",
    "torch": "#f0ae80",
    "theano": "#c9d77e",
    "numpy": "#a8dca0",
}
"""Of packages that stand on stacks together, so that no two of them look alike."""
_OTHER_PACKAGES = ("#e3cfa8", "#d9c3d6", "#b8d8dc", "#dadd9c", "#c8c3b4")
_SPANS: Mapping[str, str] = {
    "build": Phase.FIT_BUILD,
    "graph_compile": Phase.FIT_GRAPH_COMPILE,
    "graph_stage": Phase.FIT_GRAPH_COMPILE,
    "first_run": Phase.FIT_GRAPH_COMPILE,
    "callbacks": Phase.FIT_CALLBACKS,
    "on_batch": Phase.FIT_STEPS,
}
"""Calls whose phase has another name: what is the same has one colour, above and below."""
_COMPUTES = (EventKind.KERNEL.word, EventKind.OPERATOR.word)


def of_phase(name: str) -> str:
    """The colour of a phase, the same in every picture."""
    return _PHASES.get(name, OTHER)


def of_event(kind: str, category: str | None = None) -> str:
    """The colour of something on the timeline: what computes has that of its category, all else that of its kind."""
    if kind in _COMPUTES:
        return _CATEGORIES.get(category or "", OTHER)
    return _EVENTS.get(kind) or _PHASES.get(_SPANS.get(kind, kind)) or of_text(kind)


def computes(kind: str) -> bool:
    """Whether a slice of this kind computes: its colour is that of its category."""
    return kind in _COMPUTES


def of_package(name: str) -> str:
    """The colour of a package's frames: soft, so that dark text stays readable on it."""
    return _PACKAGES.get(name) or _OTHER_PACKAGES[zlib.crc32(name.encode("utf-8", "replace")) % len(_OTHER_PACKAGES)]


def of_text(text: str) -> str:
    """A colour for a name that has none of its own: always the same one."""
    return CYCLE[zlib.crc32(text.encode("utf-8", "replace")) % len(CYCLE)]
