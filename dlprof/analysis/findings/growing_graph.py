"""A graph that the script makes larger while it runs: each run of a session takes the new operations over first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dlprof.analysis.findings import growth, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, LineSource, Phase, StepPart

_TITLE = Title("The graph grew while the training ran", "a graph that grows as it runs")
_SHARE = 0.15
"""Share of the samples in which a session takes over what is new; at its start it always does so once."""
_SHARE_OF_LINE = 0.05
"""The same where a line is seen to add operations besides: it does so in each turn of a loop."""
_OF_SESSIONS = Title("A session was made for each call", "sessions that are made for each call")
_MAKES = re.compile(r"\b(Interactive)?Session\(")
_ADDS = frozenset({"_create_op_internal", "_create_op_helper", "create_op", "_apply_op_helper"})
"""Functions of TensorFlow that add an operation to a graph."""
_RUNS_NEW = re.compile(r"(?=.*(\.run\(|\.eval\())(?=.*(assign(_add|_sub)?\(|initializer))")
"""A line that makes and runs an operation which sets a variable: it computes next to nothing itself."""
_FEWEST, _FEWEST_SEEN = 5, 2
"""So many sessions of one line are many; seen by samples, which miss most of them, fewer are enough."""
_FUNCTION = ("file", "function", "first_line")
"""What rows of `lines` of one function have in common."""
_LOOPS = (Tree.FIT_STEPS, Tree.SCRIPT)
_FOR_SETUP = 0.9
"""Share of what such sessions take that is no computing: a session is made for a few runs, each mostly its first."""


@dataclass(frozen=True)
class Sessions:
    """Sessions that one line makes again and again.

    Attributes:
        made: Row of `lines` of that line.
        count: How many they are, at least.
    """

    made: Mapping[str, Any]
    count: int

    @property
    def line(self) -> SourceLine:
        """The line."""
        return self.made["file"], self.made["line"]

    @property
    def how_sure(self) -> str:
        """What is said before their number: it may be from windows of counting, or from samples."""
        if self.made["hits"] is None:
            return "at least "
        return "about " if self.made["how"] == LineSource.SCALED else ""


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where sessions are seen to extend their graph for a good part of the loops."""
    names = case.engine.graph_functions
    if not names:
        return

    def extends(sample: Sample) -> bool:
        return any(frame.name in names for frame in sample.frames)

    made = _sessions(case)
    if made is not None:
        yield from _of_sessions(case, made)
        return
    share, anew = case.code.share(_LOOPS, extends), _lines_that_run_new(case, extends)
    again = any(not case.code.ran_once(line) for line in anew.lines)
    if share < (_SHARE_OF_LINE if again else _SHARE):
        return
    share = max(
        case.code.share(_LOOPS, lambda sample: extends(sample) or case.code.user_line(sample) in anew.nothing_else),
        case.code.share(_LOOPS, lambda sample: extends(sample) or case.code.user_line(sample) in anew.lines)
        - _kernels(case) / max(1, sum(case.takes(*_LOOPS).values())),
    )
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
        support=case.code.support(_LOOPS, extends, ground=Ground.REPEATED),
        fix=_fix(case, line),
    )


class _New(NamedTuple):
    """Lines that add an operation and run it: what the session takes over is a part of what that costs.

    It also makes ready all that such a run needs, in C++, as if it were the first one.

    Attributes:
        lines: All of them.
        nothing_else: Those that set a variable, as `sess.run(tf.assign(...))`, which is next to nothing itself.
    """

    lines: set[SourceLine]
    nothing_else: set[SourceLine]


def _lines_that_run_new(case: Case, extends: Callable[[Sample], bool]) -> _New:
    main = [sample for sample in case.code.samples if sample.main]
    extended = {case.code.user_line(sample) for sample in main if extends(sample)}
    added = {case.code.user_line(sample) for sample in main if any(frame.name in _ADDS for frame in sample.frames)}
    lines = {line for line in added & extended if line is not None}
    return _New(lines, {line for line in lines if _RUNS_NEW.search(case.code.source(*line))})


def _kernels(case: Case) -> int:
    """What operators take in the steps, and would take all the same (ns)."""
    return case.own(Tree.FIT_STEPS / StepPart.KERNELS)


def _of_sessions(case: Case, made: Sessions) -> Iterator[Claim]:
    """What stands in sessions, where each is made for a few runs: all that a graph needs is done again for each."""

    def runs(sample: Sample) -> bool:
        return any(frame.file.startswith(case.engine.session_files) for frame in sample.frames)

    share = case.code.share(_LOOPS, runs)
    if share < _SHARE:
        return
    line, count = made.line, made.count
    yield Claim(
        Sentence(
            f"A session was made {made.how_sure}{count:,} times at one line, and each of them takes the "
            "whole graph over and makes it ready before its first run:"
        ),
        case.takes(*_LOOPS, share=_FOR_SETUP * share * (1 - 1 / count)),
        [queries.python_stood(Phase.FIT_STEPS, Phase.SCRIPT)],
        "Make the session once, before the loop, and run all of it in that one.",
        line,
        title=_OF_SESSIONS,
        basis=Basis.ESTIMATED,
        support=case.code.support(_LOOPS, runs, ground=Ground.REPEATED, agree=min(1.0, 0.5 + share)),
        fix=f"move `{case.code.source(*line).strip()}` out of the loop: one session, before it",
    )


def _sessions(case: Case) -> Sessions | None:
    """The line that makes sessions again and again; None: there is none."""
    rows = case.run.rows("lines")
    made = [Sessions(row, _times(case, row, rows)) for row in rows if _MAKES.search(row["source"] or "")]
    enough = (one for one in made if one.count >= (_FEWEST if one.made["hits"] is not None else _FEWEST_SEEN))
    return max(enough, key=lambda one: one.count, default=None)


def _times(case: Case, made: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int:
    """How often a line ran: one that begins a `with` is met again where that ends, the line below it is not.

    Half of its hits are left where it is not known how often the line below ran: too few windows met it, or it has no
    code. Where counting was thinned, how often samples found the program come to it, or its function be called.
    """
    if made["hits"] is None:
        return max(_seen(case, made), _calls_seen(case, made, rows))
    count = int(made["hits"])
    if not made["source"].lstrip().startswith("with "):
        return count
    below = next((row["hits"] for row in rows if row["file"] == made["file"] and row["line"] == made["line"] + 1), None)
    return min(count, int(below)) if below else (count + 1) // 2


def _seen(case: Case, made: Mapping[str, Any]) -> int:
    """How often samples found the program come to a line; to one that begins a `with` it comes where that ends, too."""
    seen = case.code.visits.get((made["file"], made["line"]), 0)
    return (seen + 1) // 2 if made["source"].lstrip().startswith("with ") else seen


def _calls_seen(case: Case, made: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int:
    """How often samples found the function of a line left by a `return`, where each call of it comes to the line."""
    inside = [row for row in rows if all(row[name] == made[name] for name in _FUNCTION) and row["source"]]
    body = [row for row in inside if row["line"] > row["first_line"]]
    if made not in body or _indent(made) > min(map(_indent, body)):
        return 0
    left = (row for row in body if row["source"].lstrip().startswith("return") and row["line"] >= made["line"])
    return max((case.code.visits.get((row["file"], row["line"]), 0) for row in left), default=0)


def _indent(row: Mapping[str, Any]) -> int:
    return len(row["source"]) - len(row["source"].lstrip())


def _fix(case: Case, line: tuple[str, int] | None) -> str:
    text = case.code.source(*line).strip() if line is not None else ""
    made = f"make the operation of `{text}` once" if text else "make the operations once"
    return f"{made}, before the loop; tf.get_default_graph().finalize() before it tells every line that adds one"
