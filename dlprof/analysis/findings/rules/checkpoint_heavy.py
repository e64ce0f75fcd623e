"""Saving the model takes a good part of the training."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim


def look(case: Case) -> Iterator[Claim]:
    """Saves that Keras makes, inside fit or beside it."""
    if not case.spans:
        raise Abstain("the in-process probe left nothing")
    saves = [row for row in case.spans if row["kind"] == "save" and not row["name"].startswith("load")]
    if len(saves) < 2:
        return
    by_phase = case.by_phase((row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in saves)
    place = next(((row["file"], row["line"]) for row in saves if row["file"] and row["line"]), None)
    yield Claim(
        f"The model was saved {len(saves)} times, {sum(r['dur_ns'] for r in saves) / len(saves) / 1e6:.0f} ms each: "
        "{time}, {share}.",
        case.spread(by_phase),
        [queries.spans("save")],
        "Save less often (ModelCheckpoint(save_freq=...), save_best_only), only weights, or to a faster disk.",
        place,
    )
