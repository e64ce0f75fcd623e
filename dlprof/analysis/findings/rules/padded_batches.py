"""Most of each batch is padding: sequences are filled up to a length of all data, or beside much longer ones."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.training import Padding
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("Most of each batch was padding", "work on padding")
_LEAST = 0.25
"""Share of a batch's columns that are padding in all its rows."""
_LEAST_OF_ROWS = 0.4
"""Share of all numbers of a batch that are padding, where the longest row needs its columns."""
_SPARED = 0.8
"""Of that padding so much goes where rows of like length are together: their lengths still differ. A guess on the safe
side; 0.88 went in the one training that was measured (2026-11-27: 85 % padding, steps of 22.1 s that took 5.5 s)."""
_SHORTER = (
    "Fill up each batch only to its own longest row (to a few lengths where shapes are compiled), or cut all data "
    "to the longest; batches of rows of like length need least."
)
_TO_LONGEST = "pad the rows of a batch to max(len(row) for row in batch)"
_TOGETHER = (
    "Put rows of like length into a batch: sort them by length, cut batches, and shuffle these (some dozen batches "
    "at a time keep more of the chance); or cut the few that are very long."
)
_BY_LENGTH = "order = sorted(range(len(rows)), key=lambda n: len(rows[n])); cut batches from it, and shuffle these"
_READ_NUMBERS = ("Embedding",)
_LOOKS_UP = "gather"
"""In the names of operators that look rows up by their numbers, where a graph tells no layers."""
_BATCHES = 4
_TOLD = Query("what batches were filled up with, as facts of the loop (padding)", "SELECT name, detail FROM spans")


def look(case: Case) -> Iterator[Claim]:
    """One claim: columns that no row needs, or else numbers behind the ends of rows."""
    told = case.training.padding if case.training else None
    if told is None:
        raise Abstain("no batch was seen that has rows of whole numbers")
    if case.pair:
        raise Abstain("of two runs batches are not compared")
    if told.batches < _BATCHES or not _are_sequences(case):
        return
    of_all = told.in_all >= _LEAST
    part, least, spared = (told.in_all, _LEAST, 1.0) if of_all else (told.of_rows, _LEAST_OF_ROWS, _SPARED)
    if part < least:
        return
    yield Claim(
        Sentence(_of_all(told) if of_all else _of_rows(told)),
        case.takes(Tree.FIT_STEPS, share=spared * part),
        [_TOLD],
        _SHORTER if of_all else _TOGETHER,
        _line(case),
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=told.batches, part=part, usual=least / 2),
        fix=_TO_LONGEST if of_all else _BY_LENGTH,
    )


def _of_all(told: Padding) -> str:
    """Columns that hold nothing in any row of their batch."""
    return (
        f"Of {told.length:.0f} columns of a batch {100 * told.in_all:.0f} % are padding in every row of it, and "
        f"{100 * told.of_rows:.0f} % of all that its rows have:"
    )


def _of_rows(told: Padding) -> str:
    """Numbers behind the ends of rows that are shorter than the longest of their batch."""
    return (
        f"The rows of a batch differ much in length: of its {told.length:.0f} columns one row or another needs "
        f"{100 * (1 - told.in_all):.0f} %, but {100 * told.of_rows:.0f} % of all that they hold is padding:"
    )


def _line(case: Case) -> SourceLine | None:
    """Where batches are given: what runs a session, else what trains."""
    if case.engine.session_functions and case.run.manifest.keras is None:
        return case.code.hottest_line([Tree.FIT_STEPS]) or case.training_line
    return case.training_line


def _are_sequences(case: Case) -> bool:
    """Whether the model looks rows up by these numbers: others, such as counts of words, may well be 0 in a column."""
    layers = case.training.layers if case.training else ()
    if layers:
        return any(word in layer for layer in layers for word in _READ_NUMBERS)
    return any(_LOOKS_UP in (row.op or "").lower() for row in case.kernels.operators.rows)
