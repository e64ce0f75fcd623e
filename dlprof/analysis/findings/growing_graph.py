"""A graph that the script makes larger while it runs: each run of a session takes the new operations over first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis.findings import growth, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.vocabulary import Phase, Tree

_TITLE = Title("The graph grew while the training ran", "a graph that grows as it runs")
_SHARE = 0.15
"""Share of the samples in which a session takes over what is new; at its start it always does so once."""
_OF_SESSIONS = Title("A session was made for each call", "sessions that are made for each call")
_MAKES = re.compile(r"\b(Interactive)?Session\(")
_FEWEST = 5
_LOOPS = (Tree.FIT_STEPS, Tree.SCRIPT)


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where sessions are seen to extend their graph for a good part of the loops."""
    names = case.engine.graph_functions
    if not names:
        return

    def extends(sample: Sample) -> bool:
        return any(frame.name in names for frame in sample.frames)

    share = case.code.share(_LOOPS, extends)
    if share < _SHARE:
        return
    grown = growth.of_steps(case)
    lost = grown.lost_ns / max(1, case.own(Tree.FIT_STEPS)) if grown is not None else 0.0
    line = case.code.hottest_line(_LOOPS, extends)
    made = _sessions(case)
    if made is not None:
        yield _of_sessions(case, made, share)
        return
    yield Claim(
        Sentence("Operations are added to the graph in the loop, and each run of the session takes them over:"),
        case.takes(*_LOOPS, share=min(1.0, max(share, lost))),
        [queries.python_stood(Phase.FIT_STEPS, Phase.SCRIPT)],
        "Make all operations once, before the loop, and only run them in it.",
        line,
        title=_TITLE,
        support=Support(agree=min(1.0, 0.5 + share)),
        fix=_fix(case, line),
    )


def _of_sessions(case: Case, made: tuple[SourceLine, int], share: float) -> Claim:
    line, count = made
    return Claim(
        Sentence(f"A session was made {count:,} times at one line, and each of them takes the whole graph over first:"),
        case.takes(*_LOOPS, share=min(1.0, share * (1 - 1 / count))),
        [queries.python_stood(Phase.FIT_STEPS, Phase.SCRIPT)],
        "Make the session once, before the loop, and run all of it in that one.",
        line,
        title=_OF_SESSIONS,
        support=Support(seen=count, agree=min(1.0, 0.5 + share)),
        fix=f"move `{case.code.source(*line).strip()}` out of the loop: one session, before it",
    )


def _sessions(case: Case) -> tuple[SourceLine, int] | None:
    """The line that makes sessions again and again, and how often it ran; None: there is none."""
    rows = (row for row in case.run.rows("lines") if _MAKES.search(row["source"] or ""))
    often = [((row["file"], row["line"]), row["hits"]) for row in rows if (row["hits"] or 0) >= _FEWEST]
    return max(often, key=lambda one: one[1], default=None)


def _fix(case: Case, line: tuple[str, int] | None) -> str:
    text = case.code.source(*line).strip() if line is not None else ""
    made = f"make the operation of `{text}` once" if text else "make the operations once"
    return f"{made}, before the loop; tf.get_default_graph().finalize() before it tells every line that adds one"
