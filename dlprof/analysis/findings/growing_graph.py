"""A graph that the script makes larger while it runs: each run of a session takes the new operations over first."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import growth, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.vocabulary import Phase, Tree

_TITLE = Title("The graph grew while the training ran", "a graph that grows as it runs")
_SHARE = 0.15
"""Share of the samples in which a session takes over what is new; at its start it always does so once."""
_LOOPS = (Tree.FIT_STEPS, Tree.SCRIPT)


def claims(case: Case) -> Iterator[Claim]:
    """One, where sessions are seen to extend their graph for a good part of the loops."""
    names = case.engine.graph_functions
    if case.pair or not names:
        return

    def extends(sample: Sample) -> bool:
        return any(frame.function in names for frame in sample.frames)

    share = case.code.share(_LOOPS, extends)
    if share < _SHARE:
        return
    grown = growth.of_steps(case)
    lost = grown.lost_ns / max(1, case.own(Tree.FIT_STEPS)) if grown is not None else 0.0
    line = case.code.hottest_line(_LOOPS, extends)
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


def _fix(case: Case, line: tuple[str, int] | None) -> str:
    text = case.code.source(*line).strip() if line is not None else ""
    made = f"make the operation of `{text}` once" if text else "make the operations once"
    return f"{made}, before the loop; tf.get_default_graph().finalize() before it tells every line that adds one"
