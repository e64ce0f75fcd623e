"""What was computed is computed again: weights, sequences that grow, products in loops, what sessions share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dlprof.analysis.findings import (
    computed_weights,
    growing_lengths,
    grown_sequences,
    invariant_products,
    queries,
    recomputed_activations,
)
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, LineSource, Phase

TITLE = Title("A session ran several times in each step", "runs of a session for a batch that another one had computed")
_SHARE_OF_STEPS = 0.15
_AS_OFTEN = (0.9, 1.1)
"""Times in each step, from and to: what runs now and then is a look at how far the training is."""
_LIKELY = 0.6
"""A question, no claim: two optimisers, or an agent that acts and learns, run a session for different things."""


def look(case: Case) -> Iterator[Claim]:
    """Weights at each look, sequences for each piece, activations on the way back, loops, and runs of a session."""
    grown = list(growing_lengths.claims(case))
    told = [
        *computed_weights.claims(case),
        *(grown or grown_sequences.claims(case, growing_lengths.settled(case))),
        *recomputed_activations.claims(case),
        *invariant_products.claims(case),
    ]
    yield from told
    if not told:
        yield from _sessions(case)


def _sessions(case: Case) -> Iterator[Claim]:
    """Lines that run a session once in each step, but for the one with most time, which is taken for the update."""
    if not case.engine.session_functions:
        raise Abstain("this engine has no sessions whose runs a script puts together itself")
    if case.pair:
        raise Abstain("of two runs sessions are not compared")
    if case.loop is None:
        raise Abstain("no steps were recorded")
    times = _runs_in_each_step(case, case.loop.count)
    lines = sorted(times, key=lambda line: -times[line])[1:]
    share = sum(times[line] for line in lines)
    if not lines or share < _SHARE_OF_STEPS:
        return
    told = ", ".join(str(number) for _, number in sorted(lines))
    yield Claim(
        Sentence(
            f"The session runs {len(lines) + 1} times in each step. What the other run needs too is computed again at "
            f"line{'s' if len(lines) > 1 else ''} {told}:"
        ),
        case.takes(Tree.FIT_STEPS, share=share),
        [queries.python_stood(Phase.FIT_STEPS)],
        "If they get the same batch: fetch all in one run, sess.run([update, loss, accuracy], feed_dict=...).",
        lines[0],
        basis=Basis.ESTIMATED,
        support=Support(Ground.MODEL, seen=case.loop.count, agree=_LIKELY),
        fix="one sess.run with a list of all that is fetched",
    )


def _runs_in_each_step(case: Case, steps: int) -> Mapping[SourceLine, float]:
    """Lines that run a session once in each step, and their shares of the time of the steps.

    Hits that were scaled do not tell that: they may be four times off.
    """
    least, most = (times * steps for times in _AS_OFTEN)
    counted = (row for row in case.run.rows("lines") if row["how"] != LineSource.SCALED)
    rows = {(row["file"], row["line"]): row for row in counted if least <= (row["hits"] or 0) <= most}
    inside = [sample for sample in case.code.samples if sample.main and Tree.FIT_STEPS.holds(sample.phase)]
    whole = sum(sample.dur_ns for sample in inside)
    found: dict[SourceLine, float] = {}
    for sample in inside:
        frame = case.code.user_frame(sample)
        if frame is not None and any(each.name in case.engine.session_functions for each in sample.frames):
            line = (frame.file, frame.line)
            if line in rows:
                found[line] = found.get(line, 0.0) + sample.dur_ns / whole
    steps_ns = max(1, case.own(Tree.FIT_STEPS))
    return {line: _by_counting(rows[line], steps_ns) or share for line, share in found.items()}


def _by_counting(row: Mapping[str, Any], steps_ns: int) -> float | None:
    """The share of a line by the time that was taken each time it ran; None: it was not."""
    is_timed = row["how"] == LineSource.EXACT and row["time_ns"]
    return min(1.0, row["time_ns"] / steps_ns) if is_timed else None
