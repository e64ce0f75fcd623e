"""Callbacks take a good part of the training."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim

_SHARE_OF_FIT = 0.05


def look(case: Case) -> Iterator[Claim]:
    """All that callbacks take and no other rule explains better."""
    total = case.own("fit/callbacks")
    if case.asynchronous and case.samples:
        # Where steps return before they are done, Keras' own callbacks wait for the device: no fault of theirs.
        users = case.sampled(("fit/callbacks",), case.is_called_back) * case.host("fit/callbacks")
        total = min(total, int(users))
    if total < _SHARE_OF_FIT * max(1, case.own("fit")):
        return
    place = case.hottest_user_line(("fit/callbacks",), case.is_called_back)
    function = _function(case, place)
    yield Claim(
        f"Callbacks{f', most of all {function},' if function else ''} hold the training up: {{time}}, {{share}}.",
        case.takes("fit/callbacks", share=total / max(1, case.own("fit/callbacks"))),
        [
            (
                "callbacks by epoch",
                "SELECT loop, epoch, count(*) AS steps, sum(callbacks_ns) AS callbacks_ns, sum(dur_ns) AS steps_ns "
                "FROM steps GROUP BY ALL ORDER BY callbacks_ns DESC NULLS LAST LIMIT 8",
            ),
            queries.python_stood("fit.callbacks", "fit.steps"),
        ],
        "Do that work once an epoch instead of at each batch, on fewer values, or on another thread."
        + (case.counting_note if place else ""),
        place,
    )


def _function(case: Case, place: tuple[str, int] | None) -> str | None:
    if place is None:
        return None
    frames = (frame for one in case.samples for frame in one.frames if (frame[1], frame[2]) == place)
    return next((f"{frame[0]} in {frame[1]}" for frame in frames), None)
