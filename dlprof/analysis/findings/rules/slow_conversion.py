"""Data that a model's own code converts each time that it is called: lists, or arrays, that mostly stay the same.

An engine, or Keras, goes through a list number by number, in Python: that takes far longer than what is computed with
it, and the stack stands in the library, so that it is no Python of the script's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dlprof.analysis import samples, source_loops
from dlprof.analysis.findings import own_loop_python, queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground, Phase

TITLE = Title("The model's own code converted data at each call", "converting data at each call of the model")
_SHARE_OF_WORK = 0.08
_PHASES = (Tree.FIT_STEPS, Tree.FIT_VALIDATION, Tree.EVALUATE, Tree.PREDICT)
"""Where models are called. What is converted while a graph is made, is converted once."""
_KEPT = re.compile(r"^(?:self\.)?(\w+)\s*=\s*(.+)$")
"""A line that gives its value a name."""


def look(case: Case) -> Iterator[Claim]:
    """The main thread stands for a good part of the work in functions that make arrays of the engine."""
    case.code.need_samples()

    def chosen(sample: Sample) -> bool:
        is_called = case.code.is_called_back(sample) and not samples.is_of_input(sample)
        return is_called and own_loop_python.calls_engine(case, sample, own_loop_python.MAKES)

    takes = {}
    for phase in _PHASES:
        wanted = case.code.share([phase], chosen) * case.own(phase)
        takes.update(case.filled(wanted, *(standing.QUIET_STEPS if phase == Tree.FIT_STEPS else ()), phase))
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    line = case.code.hottest_line(_PHASES, chosen)
    yield Claim(
        Sentence("Code of the model makes arrays of the engine out of other data each time that it is called:"),
        takes,
        [queries.python_stood(Phase.FIT_STEPS)],
        f"{case.code.counting_note(line)}What depends on shapes and settings alone is the same at each call: make it "
        "once, where the layer is made, and keep the array. What does change is made faster by operations of the "
        "engine (arange and arithmetic) than out of a list.",
        line,
        support=case.code.support(_PHASES, chosen, ground=Ground.REPEATED),
        fix=_fix(case, line),
    )


def _fix(case: Case, line: SourceLine | None) -> str | None:
    """The same line where it runs once; None: the array has no name there, or the line is only a part."""
    text = case.code.source(*line).strip() if line is not None else ""
    kept = _KEPT.match(text)
    if kept is None or source_loops.parsed([text]) is None:  # it goes on in the next line
        return None
    if case.run.manifest.keras is not None:
        return f"self.{kept[1]} = {kept[2]}, once, in build(), where it is the same at each call"
    if case.backend == "torch":
        return f"self.register_buffer({kept[1]!r}, {kept[2]}), once, in __init__(), where it is the same at each call"
    return None
