"""All pairs that code of the script's own compares number by number, where a product of matrices would do.

Nearest codes, centres and neighbours are written so: an array of all pairs and all features is made, squared, and
summed up, each time in memory that is new. The source says where; what it takes is told by the stacks, or by the lines
that the engine's kernels were made by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dlprof.analysis import source_pairs
from dlprof.analysis.findings import all_pairs, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, Phase

_SHARE = 0.15
"""Share of the steps, from which on it is a cause."""
_SAVES = 0.95
"""PyTorch took 94 to 99 % less CPU time for one to eight thousand rows by 64 to 512, of 8 to 128 numbers each."""
_FIX = {"torch": "torch.cdist(x, y) ** 2, or (x * x).sum(1, keepdim=True) - 2 * x @ y.T + (y * y).sum(1)"}
_ANY = "(x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1) for the squared distances of the rows of x and y"


@dataclass(frozen=True)
class Compared:
    """A comparison that the source has.

    Attributes:
        file, lines: Where it is.
        share: Of the steps.
    """

    file: str
    lines: range
    share: float

    def holds(self, line: SourceLine | None) -> bool:
        """Whether a line is one of its own."""
        return line is not None and line[0] == self.file and line[1] in self.lines


def claims(case: Case) -> Iterator[Claim]:
    """One, for the comparison that takes most."""
    found = of_case(case)
    if found is None:
        return
    line = found.file, found.lines.start
    yield Claim(
        Sentence(
            f"Each row of one array is taken from each of another in line {line[1]}, number by number, with an array "
            "of all pairs and all numbers in between; that takes"
        ),
        case.takes(Tree.FIT_STEPS, share=_SAVES * found.share),
        [queries.python_stood(Phase.FIT_STEPS), queries.operators()],
        all_pairs.ADVICE,
        line,
        title=all_pairs.TITLE,
        basis=Basis.ESTIMATED,
        support=_support(case, found),
        fix=_FIX.get(case.engine.name, _ANY),
    )


def of_case(case: Case) -> Compared | None:
    """The comparison that takes most; None: none takes much.

    Of a layer whose weights are compared with its inputs another rule tells more (`wasteful-layer`).
    """
    if case.pair or any(all_pairs.claims(case)):
        return None
    found = case.run.once("compared pairs", lambda _run: _longest(case))
    return found if found is not None and found.share >= _SHARE else None


def _longest(case: Case) -> Compared | None:
    written = (
        Compared(file, lines, 0.0)
        for file in sorted(case.code.user_files)
        for lines in source_pairs.lines(case.code.lines(file))
    )
    return max((replace(one, share=_share(case, one)) for one in written), key=lambda one: one.share, default=None)


def _share(case: Case, found: Compared) -> float:
    """Share of the steps for its lines, and for giving back the memory of its arrays."""
    if not case.asynchronous:
        return case.code.share([Tree.FIT_STEPS], _stands_in(case, found))
    by_line = case.kernels.by_line
    return sum(ns for line, ns in by_line.items() if found.holds(line)) / max(1, sum(by_line.values()))


def _support(case: Case, found: Compared) -> Support:
    if case.asynchronous:
        return Support(Ground.PLACE, seen=case.kernels.seen_steps, part=found.share)
    return case.code.support([Tree.FIT_STEPS], _stands_in(case, found))


def _stands_in(case: Case, found: Compared) -> Chosen:
    """Tells whether a stack stands in its lines, or in the line that called its function, with nothing above it.

    Where a function returns, its arrays are let go, with their memory: no line of its own stands there then.
    """
    callers = _callers(case, found)

    def is_one(sample: Sample) -> bool:
        frame = sample.frames[0]
        return found.holds(case.code.user_line(sample)) or (frame.file, frame.line) in callers

    return is_one


def _callers(case: Case, found: Compared) -> frozenset[SourceLine]:
    """Lines that were seen to call the function which has its lines, and that do nothing else."""
    around = (
        (sample.frames[1], sample.frames[0].name)
        for sample in case.code.samples
        if sample.main and len(sample.frames) > 1 and found.holds((sample.frames[0].file, sample.frames[0].line))
    )
    return frozenset(
        (frame.file, frame.line)
        for frame, name in around
        if frame.file in case.code.user_files and _calls_only(name, case.code.source(frame.file, frame.line))
    )


def _calls_only(name: str, text: str) -> bool:
    """Whether a line is one call of a function, and no other: that would leave no frame where it is one of C."""
    return bool(re.fullmatch(rf"\s*([\w.,\s]+=|return\b)?\s*([\w.]+\.)?{re.escape(name)}\([^()@]*\)\s*", text))
