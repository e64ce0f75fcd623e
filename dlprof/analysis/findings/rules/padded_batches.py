"""Most of each batch is padding that no row of it needs: sequences are filled up to a length of all data."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.training import Padding
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("Most of each batch was padding", "work on padding that no row of a batch needs")
_LEAST = 0.25
"""Share of a batch's columns that are padding in all its rows."""
_READ_NUMBERS = ("Embedding",)
_LOOKS_UP = "gather"
"""In the names of operators that look rows up by their numbers, where a graph tells no layers."""
_BATCHES = 4
_TOLD = Query("what batches were filled up with, as facts of the loop (padding)", "SELECT name, detail FROM spans")


def look(case: Case) -> Iterator[Claim]:
    """The steps, by the share of columns that hold nothing in any row of their batch."""
    told = case.training.padding if case.training else None
    if told is None:
        raise Abstain("no batch was seen that has rows of whole numbers")
    if case.pair:
        raise Abstain("of two runs batches are not compared")
    if told.batches < _BATCHES or told.in_all < _LEAST or not _are_sequences(case):
        return
    yield Claim(
        Sentence(_claim(told)),
        case.takes(Tree.FIT_STEPS, share=told.in_all),
        [_TOLD],
        "Fill up each batch only to its own longest row (to a few lengths where shapes are compiled), or cut all data "
        "to the longest; batches of rows of like length need least.",
        _line(case),
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=told.batches, part=told.in_all, usual=_LEAST / 2),
        fix="pad the rows of a batch to max(len(row) for row in batch)",
    )


def _line(case: Case) -> SourceLine | None:
    """Where batches are given: what runs a session, else what trains."""
    if case.engine.session_functions and case.run.manifest.keras is None:
        return case.code.hottest_line([Tree.FIT_STEPS]) or case.training_line
    return case.training_line


def _claim(told: Padding) -> str:
    return (
        f"Of {told.length:.0f} columns of a batch {100 * told.in_all:.0f} % are padding in every row of it, and "
        f"{100 * told.of_rows:.0f} % of all that its rows have:"
    )


def _are_sequences(case: Case) -> bool:
    """Whether the model looks rows up by these numbers: others, such as counts of words, may well be 0 in a column."""
    layers = case.training.layers if case.training else ()
    if layers:
        return any(word in layer for layer in layers for word in _READ_NUMBERS)
    return any(_LOOKS_UP in (row.op or "").lower() for row in case.kernels.operators.rows)
