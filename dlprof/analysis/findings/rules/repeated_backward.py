"""Gradients are taken several times on the same way back: of one loss for each variable, or of each of many losses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dlprof.analysis.findings import doing, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, StepPart

TITLE = Title("The gradient of one loss was taken again and again", "taking gradients of one loss again and again")
_KEPT = Title("Each of several losses went back through the same graph", "losses that go back one by one")
_KEEPS = r"retain_graph\s*=\s*True"
_TAPE = r"GradientTape\(.*\bpersistent\s*=\s*True"
_OF_TAPE = r"\.gradient\("
_HEAVY = (Category.CONV, Category.MATMUL)
"""Operators that are told by layer both ways."""
_OF_ONE = 3
"""Calls for one loss; two may be for two groups of variables, each with an optimiser of its own."""
_OF_STEPS = 0.5
"""Share of the steps that have such a loss."""
_SHARE = 0.05
_USUAL = 0.3
_TOLD = Query(
    "gradients of one loss, as the loop's facts tell them (same_loss)",
    "SELECT name, file, line, detail FROM spans WHERE kind = 'fit'",
)


def look(case: Case) -> Iterator[Claim]:
    """Losses that go back one by one; else calls for one loss but for the longest: it goes as far back as all."""
    kept = [*_kept_graphs(case), *_kept_tapes(case)]
    if kept:
        yield from kept
        return
    same = case.training.same_loss if case.training else None
    if same is None:
        raise Abstain("no gradients were seen that a loop of the script's own takes of one loss several times")
    if case.loop is None:
        raise Abstain("no steps were recorded")
    of_one = same.calls / max(1, same.losses)
    share = min(1.0, same.more_ns / max(1, case.time(Tree.FIT_STEPS)))
    if of_one < _OF_ONE or same.losses < _OF_STEPS * case.loop.count or share < _SHARE:
        return
    file = case.training.file if case.training else None
    yield Claim(
        Sentence(f"Gradients of one loss are taken {of_one:.0f} times in a step, each on a way of its own back:"),
        case.takes(Tree.FIT_STEPS, share=share),
        [_TOLD],
        "Take those of all variables in one call: the way back is then gone once.",
        (file, same.line) if file and same.line else case.training_line,
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=same.calls, part=share, usual=_USUAL),
        fix=case.engine.gradients_at_once,
    )


def _kept_graphs(case: Case) -> Iterator[Claim]:
    """A line that sends several losses of a step back, each of which keeps the graph for the next one."""
    if case.pair or case.loop is None or not case.engine.backward_functions:
        return
    lines = list(case.code.places(_KEEPS))
    times = _ways_back(case) if lines else 0.0
    for line in lines if times >= _OF_ONE else ():
        share = case.code.share([Tree.FIT_STEPS], partial(_goes_back_at, case, line))
        saved = share * (1 - 1 / times)
        if saved < _SHARE:
            continue
        yield Claim(
            Sentence(
                f"{times:.0f} losses of a step are sent back one by one through the same graph, which each keeps:"
            ),
            case.takes(Tree.FIT_STEPS, share=saved),
            [queries.operators(by="layer, direction, op")],
            "Unless the gradients of each loss are looked at by themselves: add the losses up (with their weights) and "
            "call backward() once on the sum. The way back through what they share is gone once then.",
            line,
            title=_KEPT,
            basis=Basis.ESTIMATED,
            support=Support(Ground.REPEATED, seen=case.kernels.seen_steps, part=share, usual=_USUAL),
            fix="sum(losses).backward(), once, without retain_graph=True",
        )


def _kept_tapes(case: Case) -> Iterator[Claim]:
    """A tape of TensorFlow's that is asked several times a step: in a compiled step no stack of Python tells of it."""
    if case.pair or case.loop is None or case.code.written(_TAPE) is None:
        return
    times = _ways_back(case)
    saved = _share_on_the_way_back(case) * (1 - 1 / times) if times >= _OF_ONE else 0.0
    takes = case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=saved)
    share = sum(takes.values()) / max(1, case.time(Tree.FIT_STEPS))
    if share < _SHARE:
        return
    yield Claim(
        Sentence(f"What several losses of a step share goes back {times:.0f} times, as one tape is asked for each:"),
        takes,
        [queries.operators(by="layer, direction, op")],
        "Unless the gradients of each loss are looked at by themselves: add the losses up (with their weights) inside "
        "of the tape, and call tape.gradient once on the sum; the tape need not be persistent then. The way back "
        "through what they share is gone once.",
        case.code.written(_OF_TAPE) or case.code.written(_TAPE),
        title=_KEPT,
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=case.kernels.seen_steps, part=share, usual=_USUAL),
        fix="tape.gradient(total_loss, variables), once",
    )


def _share_on_the_way_back(case: Case) -> float:
    """Share of the operators' time in the windows that is on the way back."""
    rows = case.kernels.operators.rows
    whole = sum(row.total_ns for row in rows)
    return sum(row.total_ns for row in rows if row.direction == Direction.BACKWARD) / whole if whole else 0.0


def _ways_back(case: Case) -> float:
    """How often the convolution or product with most time on the way back ran there for each time on the way forward.

    A product has two on its way back: for its weights, and for what it was given. 0: none was traced.
    """
    heavy = [row for row in case.kernels.operators.rows if row.category in _HEAVY and row.layer is not None]
    back = [row for row in heavy if row.direction == Direction.BACKWARD]
    most = max(back, key=lambda row: row.total_ns, default=None)
    if most is None:
        return 0.0
    there = [row.count for row in heavy if row.direction == Direction.FORWARD and _is_of(most.layer, row.layer)]
    return most.count / max(there) / (2 if most.category == Category.MATMUL else 1) if there else 0.0


def _is_of(part: str | None, layer: str | None) -> bool:
    """Whether that is the layer, or a part of it: an operator that was joined with others is of the layer itself."""
    return part is not None and layer is not None and f"{part}/".startswith(f"{layer}/")


def _goes_back_at(case: Case, line: SourceLine, sample: Sample) -> bool:
    return case.code.user_line(sample) == line and doing.goes_back(sample.frames, case.engine)
