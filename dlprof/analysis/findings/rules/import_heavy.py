"""Imports take a good part of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlprof.analysis import cold_files
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim

_NEEDED = {
    "tensorflow": {"tensorflow"},
    "jax": {"jax", "jaxlib"},
    "torch": {"torch"},
    "mxnet": {"mxnet"},
    "theano": {"theano"},
    "cntk": {"cntk"},
    "openvino": {"openvino"},
    "chainer": {"chainer"},
}
_ALWAYS = {"keras", "tf_keras", "numpy", "scipy", "h5py"}
"""What every training of this kind imports."""
_SHARE = 0.05


def look(case: Case) -> Iterator[Claim]:
    """Imports of the script beyond Keras and its engine; in a pair, what importing takes more in all."""
    spans = [row for row in case.spans if row["kind"] == "import"]
    if not spans:
        raise Abstain("no import was recorded")
    if case.pair:
        yield from _of_pair(case)
        return
    extra = [(row, _own_intervals(case, row)) for row in _outermost(spans) if not _is_needed(case, row)]
    total = sum(end - begin for _, parts in extra for begin, end in parts)
    if total < _SHARE * case.tree.wall_ns:
        return
    extra.sort(key=lambda pair: -sum(end - begin for begin, end in pair[1]))
    worst = extra[0][0]
    yield Claim(
        f"Importing {', '.join(row['name'] for row, _ in extra[:4])} takes {{time}}, {{share}}, beyond Keras and its "
        "engine.",
        case.spread(case.by_phase(part for _, parts in extra for part in parts)),
        [queries.spans("import")],
        "Import what is not needed for training where it is used, or not at all (see python -X importtime)."
        + (case.counting_note if worst["file"] else ""),
        (worst["file"], worst["line"]) if worst["file"] and worst["line"] else None,
    )


def _outermost(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Imports that no other import made."""
    numbers = {row["span_id"] for row in spans}
    return [row for row in spans if row["parent_id"] not in numbers]


def _is_needed(case: Case, row: dict[str, Any]) -> bool:
    return row["name"].partition(".")[0] in _ALWAYS | _NEEDED.get(case.backend, set())


def _own_intervals(case: Case, row: dict[str, Any]) -> list[tuple[int, int]]:
    """An import without what it imports of Keras and the engine: a module of the script's own may be the first to."""
    begin, end = row["start_ns"], row["start_ns"] + row["dur_ns"]
    inside = [
        (one["start_ns"], one["start_ns"] + one["dur_ns"])
        for one in case.spans
        if one["kind"] == "import" and _is_needed(case, one) and begin <= one["start_ns"] < end
    ]
    parts, cursor = [], begin
    for low, high in sorted(inside):
        parts.append((cursor, max(cursor, low)))
        cursor = max(cursor, high)
    return [part for part in [*parts, (cursor, max(cursor, end))] if part[1] > part[0]]


def _need_warm_files(case: Case, other: Case) -> None:
    """Abstain where the same engine came from disk for one run, and from memory for the other."""
    mine, theirs = cold_files.pages_from_disk(case.run), cold_files.pages_from_disk(other.run)
    if case.backend == other.backend and cold_files.is_colder(mine, theirs):
        raise Abstain(
            f"one run had {mine} pages of its files read from disk before it trained, the other {theirs}: its imports "
            "took longer for that"
        )


def _of_pair(case: Case) -> Iterator[Claim]:
    if case.other is not None:
        _need_warm_files(case, case.other)
    takes = case.takes("import", "startup", "teardown")
    if sum(takes.values()) < _SHARE * case.whole_ns:
        return
    yield Claim(
        "Starting and ending the process, importing Keras and its engine, takes {time} more, {share}: a longer "
        "training would not feel it.",
        takes,
        [queries.spans("import")],
        "Compare longer trainings, or steady steps only.",
    )
