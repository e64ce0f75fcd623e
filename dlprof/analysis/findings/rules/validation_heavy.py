"""Validation takes a good part of the training."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim

_SHARE_OF_FIT = 0.15
"""Validation usually takes less of `fit` than this."""


def look(case: Case) -> Iterator[Claim]:
    """Evaluation and prediction inside `fit`: its own, and that of callbacks."""
    if not case.spans:
        raise Abstain("the in-process probe left nothing")
    fits = [(row["start_ns"], row["start_ns"] + row["dur_ns"]) for row in case.spans if row["kind"] == "fit"]
    inner = [
        (row["start_ns"], row["start_ns"] + row["dur_ns"])
        for row in case.spans
        if row["kind"] in ("evaluate", "predict") and any(low <= row["start_ns"] < high for low, high in fits)
    ]
    by_phase = case.by_phase(inner)
    total = sum(by_phase.values())
    if not total or total < _SHARE_OF_FIT * case.own("fit"):
        return
    place = (
        case.hottest_user_line(("fit/callbacks",), case.is_called_back) if by_phase.get("fit/callbacks", 0) else None
    )
    yield Claim(
        f"Validation ran {len(inner)} times inside fit and took {100 * total / max(1, case.own('fit')):.0f} % of it: "
        "{time}, {share}.",
        case.spread(by_phase),
        [queries.spans("evaluate", "predict")],
        "Validate on fewer samples, with a larger validation_batch_size, or every few epochs (validation_freq).",
        place or case.training_place,
    )
