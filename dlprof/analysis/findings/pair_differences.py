"""All pairs that code of the script's own compares number by number, where a product of matrices would do.

Nearest codes, centres and neighbours are written so: an array of all pairs and all features is made, squared, and
summed up, each time in memory that is new. The source says where; what it takes is told by the stacks, or by the lines
that the engine's kernels were made by.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import source_pairs
from dlprof.analysis.findings import all_pairs, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, Phase

_TITLE = Title(
    "All pairs were compared number by number, where a product would do", "comparing all pairs without a product"
)
_SHARE = 0.15
"""Share of the steps, from which on it is a cause."""
_SAVES = 0.85
_FIX = {"torch": "torch.cdist(x, y) ** 2, or (x * x).sum(1, keepdim=True) - 2 * x @ y.T + (y * y).sum(1)"}
_ANY = "(x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1) for the squared distances of the rows of x and y"


def claims(case: Case) -> Iterator[Claim]:
    """One, for the comparison that takes most."""
    line, share = of_case(case)
    if line is None:
        return
    yield Claim(
        Sentence(
            f"Each row of one array is taken from each of another in line {line[1]}, number by number, with an array "
            "of all pairs and all numbers in between; that takes"
        ),
        case.takes(Tree.FIT_STEPS, share=_SAVES * share),
        [queries.python_stood(Phase.FIT_STEPS), queries.operators()],
        "Squared distances are a product of matrices and two sums of squares, and so are cosines: no array of all "
        "pairs and all numbers is made then. Sums of absolute differences are not; of these make fewer pairs.",
        line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=case.code.support([Tree.FIT_STEPS], lambda sample: _stands(case, sample, line), ground=Ground.PLACE)
        if not case.asynchronous
        else Support(Ground.PLACE, seen=case.kernels.seen_steps, part=share),
        fix=_FIX.get(case.engine.name, _ANY),
    )


def of_case(case: Case) -> tuple[SourceLine | None, float]:
    """Where the comparison begins that takes most, and its share of the steps; None: none takes much.

    Of a layer whose weights are compared with its inputs another rule tells more (`wasteful-layer`).
    """
    if case.pair or any(all_pairs.claims(case)):
        return None, 0.0
    found = [
        (file, lines) for file in sorted(case.code.user_files) for lines in source_pairs.lines(case.code.lines(file))
    ]
    shares = {(file, lines.start): _share(case, file, lines) for file, lines in found}
    line = max(shares, key=lambda place: shares[place], default=None)
    return (line, shares[line]) if line is not None and shares[line] >= _SHARE else (None, 0.0)


def _share(case: Case, file: str, lines: range) -> float:
    """Share of the steps for these lines."""
    if not case.asynchronous:
        return case.code.share([Tree.FIT_STEPS], lambda sample: _is_at(case, sample, file, lines))
    by_line = case.kernels.by_line
    theirs = sum(ns for place, ns in by_line.items() if place[0] == file and place[1] in lines)
    return theirs / max(1, sum(by_line.values()))


def _is_at(case: Case, sample: Sample, file: str, lines: range) -> bool:
    place = case.code.user_line(sample)
    return place is not None and place[0] == file and place[1] in lines


def _stands(case: Case, sample: Sample, line: SourceLine) -> bool:
    """Whether a stack stands in the comparison that begins at a line."""
    return any(
        lines.start == line[1] and _is_at(case, sample, line[0], lines)
        for lines in source_pairs.lines(case.code.lines(line[0]))
    )
