"""One run of a pair did more steps than the other: that is no step that takes longer."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import Ground, Loop

TITLE = Title("More steps were done than in the other run", "more steps than in the other run")
_WORDS = {Loop.TRAIN: "training", Loop.TEST: "evaluation", Loop.PREDICT: "prediction"}


def look(case: Case) -> Iterator[Claim]:
    """What the steps take that this run did more, at the other run's time for each."""
    if case.against is None:
        raise Abstain("it takes a second run to say that there are more steps: dlprof diagnose A B")
    more = {loop: counts for loop, counts in case.against.steps.items() if counts[0] > counts[1]}
    if not more or not case.more_steps:
        return
    told = ", ".join(f"{mine:,} steps of {_WORDS[loop]}, {other:,} in" for loop, (mine, other) in more.items())
    label = case.against.b.label
    yield Claim(
        Sentence(f"{case.against.a.label} did {told} {label}. At what one takes in {label}, those more take"),
        case.more_steps,
        [Query("steps by loop", "SELECT loop, sum(count) AS steps, sum(dur_ns) AS time_ns FROM steps GROUP BY loop")],
        "If that is not what you compare, give both as many steps: the same data, batch size and epochs. Where smaller "
        "batches made them more, larger ones are what saves.",
        support=Support(Ground.STATED),
    )
