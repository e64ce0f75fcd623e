"""Targets that are one-hot arrays of many columns: all that is made, sent and compared is as wide as they are."""

from __future__ import annotations

import re

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import SourceLine

_LOSS = "categorical_crossentropy"
_LEAST = 256
"""Columns: of fewer, such arrays are small beside what a model computes."""
_MADE = re.compile(r"to_categorical|one_?hot|\beye\(|LabelBinarizer|get_dummies", re.IGNORECASE)
FIX = "targets as integers (no to_categorical), and compile(..., loss='sparse_categorical_crossentropy')"


def said(case: Case) -> str | None:
    """What to do about them, as sentences; None: the training has none, or no loss of Keras that takes them."""
    told = case.training
    if told is None or told.settings.get("loss") != _LOSS:
        return None
    columns = max(told.one_hot, default=0)
    weights = [size for size, *_ in told.weights.get("sums") or ()]
    if columns < _LEAST or (weights and weights[-1] != columns):  # the last one is the bias of as many outputs
        return None
    return (
        f"The targets are one-hot arrays of {columns:,} columns, made, copied and gone through in each step: give "
        "the numbers of the classes, as integers, to sparse_categorical_crossentropy (not where labels are smoothed or "
        "mixed)."
    )


def are_made_at(case: Case, line: SourceLine | None) -> bool:
    """Whether a line makes one-hot arrays, for all that it says."""
    return line is not None and _MADE.search(case.code.source(*line)) is not None
