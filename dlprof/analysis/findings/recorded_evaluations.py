"""Evaluations in PyTorch that record a graph for a way back that is never gone: `eval()` switches no gradients off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dlprof.analysis import loops, source_evaluations
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Rank, SourceLine, Statement, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("An evaluation recorded graphs for gradients", "an evaluation that records graphs")
FIX = "with torch.no_grad(): around the evaluation"
_SWITCHED = r"no_grad|inference_mode|set_grad_enabled|requires_grad|decorate_context"
"""Something in the script says what has gradients: it may say so of the evaluation, too."""
_ENGINE = "torch/"
_FEWEST = 5
"""Samples in which an evaluation called the engine."""
_SHARE_OF_WORK = 0.05


def claims(case: Case) -> Iterator[Claim]:
    """A question for the evaluation that takes longest, where the script switches gradients off nowhere."""
    if case.pair or case.engine.name != "torch" or loops.is_any_of_keras(case.run):
        return
    if case.code.written(_SWITCHED) is not None:
        return
    found = {(file, begin): _stood(case, file, begin, end) for file, begin, end in _written(case)}
    told = {place: stood for place, stood in found.items() if sum(stood.values()) >= _SHARE_OF_WORK * case.work_ns}
    if not told:
        return
    file, begin = max(told, key=lambda place: sum(told[place].values()))
    line = max(told[file, begin], key=lambda one: told[file, begin][one])
    yield Claim(
        Statement(
            f"Gradients are switched off nowhere, nor are they by eval() at line {begin}: each forward pass of the "
            f"evaluation, most of all under line {line[1]}, records what a way back would need, and keeps it in memory "
            "as long as its outputs are kept"
        ),
        {},
        [queries.python_stood(Phase.FIT_STEPS, Phase.FIT_VALIDATION, Phase.SCRIPT)],
        "Evaluate under torch.no_grad() or torch.inference_mode(), in a with statement or as a decorator, unless "
        "gradients of what it returns are computed elsewhere; and keep of the outputs only what is needed.",
        line,
        title=_TITLE,
        rank=Rank.WITHOUT_TIME,
        support=Support(Ground.PLACE, agree=0.0),
        fix=FIX,
    )


def _written(case: Case) -> Iterator[tuple[str, int, int]]:
    """File, first and last line of each evaluation that the user's files have."""
    for file in sorted(case.code.user_files):
        yield from ((file, begin, end) for begin, end in source_evaluations.of_file(case.code.lines(file)))


def _stood(case: Case, file: str, begin: int, end: int) -> Counter[SourceLine]:
    """Lines of an evaluation to the time for which the engine ran below them (ns); empty: too few samples tell."""
    times: Counter[SourceLine] = Counter()
    for sample in case.code.samples:
        line = _line(sample, file, begin, end) if sample.main else None
        if line is not None:
            times[file, line] += sample.dur_ns
    return times if sum(times.values()) >= _FEWEST * case.code.every_ns else Counter()


def _line(sample: Sample, file: str, begin: int, end: int) -> int | None:
    """The line of the evaluation below which the engine runs; None: it does not."""
    is_engine = False
    for frame in sample.frames:
        if frame.file == file and begin <= frame.line <= end:
            return frame.line if is_engine else None
        is_engine = is_engine or frame.file.startswith(_ENGINE)
    return None
