"""Of two runs: Python that takes longer around the kernels of a step, with the lines that grew, or Keras' own loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlprof.analysis import loops
from dlprof.analysis.doubts import StartWaited
from dlprof.analysis.findings import chores, grown_lines, own_loop_python, pairs, queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.analysis.findings.grown_lines import GrownLine
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase, StepPart

_BETWEEN = Title("Python between the operations of a step took longer", "Python between the operations of a step")
_GROWN = Title("Python in the script's own lines took longer in the steps", "the script's own lines in the steps")
_KERAS = Title("Keras' own loop did more around each step", "what Keras' own loop does around each step")
_SHARE_OF_WORK = 0.05
_MOST, _MUCH_OF_NEW = 0.5, 0.25
"""Of what Python takes more: lines that tell so much of it tell all of it; the second, where the other run has not the
first of them, which nothing but its samples makes uncertain."""
_SHARE_OF_LINES = 0.2
"""Of what the lines took more together: one with less is not named."""
_NAMED = 3
_HOST_PYTHON = Tree.FIT_STEPS / StepPart.HOST_PYTHON
_QUIET = (*standing.QUIET_STEPS, Tree.FIT_STEPS_EDGES)
_AROUND = (*_QUIET, Tree.FIT_STEPS / StepPart.SYNC, Tree.FIT_STEPS / StepPart.INPUT, Tree.FIT_CALLBACKS, Tree.FIT_INPUT)
"""Where Keras does for each step what no kernel does."""
_OF_KERAS = "Larger batches, steps_per_execution, or a compiled step have Python run less often."
_OWN = (
    "See which lines of the loop run between its operations: do what they do once before the loop, less often, or over "
    "whole arrays; larger batches have the loop turn less often."
)
_OF_LINES = (
    "See what that line does in each step: do it once before the loop, less often, over whole arrays, or beside the "
    "loop (a loader with workers)."
)
_OF_LOOP = (
    "Keras does that for each step, whatever the step computes: larger batches, or steps_per_execution where the "
    "backend joins steps, have it done less often; a loop of the script's own need not do it."
)


def claims(case: Case, work: int) -> Iterator[Claim]:
    """What Python takes more than in the other run.

    Args:
        case: The run, and the other one.
        work: What that must be large beside (ns).
    """
    if case.against is None or case.other is None:
        return
    if loops.who_trains(case.run) and loops.who_trains(case.other.run) is False:
        yield from _of_keras(case, case.against.b.label, work)
    grown = _grown(case)
    if grown:
        yield from _of_lines(case, grown, work)
    if not _tell_most(case, grown) and case.time(_HOST_PYTHON) > _SHARE_OF_WORK * work:
        is_of_keras = loops.is_any_of_keras(case.run)
        yield Claim(
            Sentence(
                f"Python between the operations of a step, of {'Keras or ' * is_of_keras}the script, takes", more=True
            ),
            case.takes(_HOST_PYTHON, Tree.PREDICT_STEPS / StepPart.HOST_PYTHON, Tree.CONSTRUCT),
            [queries.python_stood(Phase.FIT_STEPS)],
            _OF_KERAS if is_of_keras else _OWN,
            title=_BETWEEN,
            support=Support(Ground.COMPARED, agree=pairs.had_cores(case), covered=pairs.had_cores(case)),
        )


def _of_keras(case: Case, label: str, work: int) -> Iterator[Claim]:
    """What `fit` does around the kernels of each step, and a loop of the script's own does not."""
    takes = case.takes(*_AROUND)
    if sum(takes.values()) <= _SHARE_OF_WORK * work:
        return
    yield Claim(
        Sentence(
            f"Keras runs the steps here, and a loop of the script's own in {label}: what Keras does around the kernels "
            "of each step takes",
            more=True,
        ),
        takes,
        [queries.python_stood(Phase.FIT_STEPS)],
        _OF_LOOP,
        case.training_line,
        title=_KERAS,
        support=Support(Ground.COMPARED, seen=case.kernels.seen_steps),
    )


def _grown(case: Case) -> Sequence[GrownLine]:
    """Lines in which Python takes longer: where other programs took cores from this run alone, those that are new.

    A line that has the engine compute is none of Python's, whether or not the other run has it.
    """
    doubts = case.against.doubts if case.against is not None else ()
    was_slowed = any(doubt.of_a and not isinstance(doubt.state, StartWaited) for doubt in doubts)
    engine = own_loop_python.lines_of_the_engine(case)
    lines = grown_lines.of_steps(case)
    return [one for one in lines if one.line not in engine and (one.is_new or not was_slowed)]


def _of_lines(case: Case, grown: Sequence[GrownLine], work: int) -> Iterator[Claim]:
    more_ns = sum(one.more_ns for one in grown)
    if _tell_most(case, grown):
        more_ns = max(more_ns, case.time(_HOST_PYTHON))
    takes = case.filled(more_ns, *_QUIET, *([Tree.FIT_STEPS] if case.tree.unsplit is not None else []))
    if sum(takes.values()) <= _SHARE_OF_WORK * work:
        return
    line = grown[0].line
    named = [one for one in grown if one.more_ns >= _SHARE_OF_LINES * sum(one.more_ns for one in grown)][:_NAMED]
    chore = chores.of_line(case, line, [Tree.FIT_STEPS])
    yield Claim(
        Sentence(
            f"Python between the operations of a step, most of all {grown_lines.told(case, named)}, takes", more=True
        ),
        takes,
        [queries.python_stood(Phase.FIT_STEPS)],
        case.code.counting_note(line) + (chore.advice if chore else chores.advice(case, line, _OF_LINES)),
        line,
        title=chore.title if chore else _GROWN,
        support=Support(Ground.COMPARED, agree=pairs.had_cores(case), covered=pairs.had_cores(case)),
        fix=chore.fix if chore else chores.known_leaner(case, line),
    )


def _tell_most(case: Case, grown: Sequence[GrownLine]) -> bool:
    """Whether these lines tell most of what Python takes more in the steps."""
    least = _MUCH_OF_NEW if grown and grown[0].is_new and grown[0].is_sampled else _MOST
    return sum(one.more_ns for one in grown) >= max(1, least * case.time(_HOST_PYTHON))
