"""Sequences of which a model computes all anew for each piece that is put to them: text, tunes, moves.

What attention and recurrent layers compute of the earlier pieces stays the same; kept, each turn costs one piece only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlprof.analysis import source_sequences
from dlprof.analysis.findings import doing, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import TreePath
from dlprof.schema.vocabulary import Basis, Ground, Phase
from dlprof.units import duration

_TITLE = Title("A model ran anew over all of a sequence for each new piece", "running a model over what it ran over")
_SHARE_OF_WORK = 0.10
SAVES = 0.8
"""An estimate: each piece still starts the model. In the one pair of runs there is, of 288 pieces, 84 % are saved."""
_LIKELY = 0.75
"""Some models see a window that moves, of which nothing may be kept."""
_TRAINS = ("fit", "train_on_batch", "train_step")


@dataclass(frozen=True)
class _Place:
    """A call in a loop that makes a sequence.

    Attributes:
        line: Where it begins.
        lines: All lines of it.
        name: The sequence.
    """

    line: SourceLine
    lines: frozenset[SourceLine]
    name: str


def claims(case: Case, settled: Collection[SourceLine] = ()) -> Iterator[Claim]:
    """One, for the place with most time.

    Args:
        case: The run.
        settled: Lines of which it was measured that hardly any time follows the length.
    """
    if case.pair:
        return
    places = [place for place in _places(case) if not place.lines.intersection(settled)]
    below = {place: [one for one in case.code.samples if _is_below(case, one, place)] for place in places}
    place = max(below, key=lambda one: _time(below[one]), default=None)
    if place is None or any(_trains(case, one) for one in below[place]):
        return
    takes = {leaf: int(SAVES * ns) for leaf, ns in case.spread(_by_phase(below[place])).items()}
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    yield Claim(
        Sentence(
            f"The model runs over all of {place.name} each time a piece is put to it, {duration(_time(below[place]))} "
            "in all, though only the newest piece is one that it did not run over before:"
        ),
        takes,
        [queries.python_stood(Phase.SCRIPT, Phase.FIT_VALIDATION, Phase.PREDICT, Phase.FIT_STEPS)],
        "Keep what is computed of the earlier pieces (a cache of keys and values for attention, the state of a "
        f"recurrent layer), and give the model only the newest piece of {place.name}. Without a cache: shorter "
        "sequences, and several of them in one batch.",
        place.line,
        title=_TITLE,
        basis=Basis.ESTIMATED,
        support=Support(Ground.REPEATED, seen=len(below[place]), agree=_LIKELY),
        fix="logits, cache = model(newest, cache), with keys and values of the earlier pieces in the cache",
    )


def _places(case: Case) -> Iterator[_Place]:
    for file in sorted(case.code.user_files):
        for one in source_sequences.regrown(case.code.lines(file)):
            yield _Place((file, one.lines[0]), frozenset((file, number) for number in one.lines), one.name)


def _is_below(case: Case, sample: Sample, place: _Place) -> bool:
    """Whether the main thread is in a call, and the engine does not compile for it: that is another cause."""
    if not (sample.main and any((frame.file, frame.line) in place.lines for frame in sample.frames)):
        return False
    return doing.of_stack(sample.frames, case.code.user_files, case.engine) != doing.COMPILING


def _trains(case: Case, sample: Sample) -> bool:
    """Whether a training runs, maybe on what was chosen so far: each is another one."""
    return doing.goes_back(sample.frames, case.engine) or any(frame.name in _TRAINS for frame in sample.frames)


def _by_phase(chosen: Sequence[Sample]) -> Mapping[TreePath, int]:
    stood: dict[TreePath, int] = {}
    for sample in chosen:
        stood[sample.phase] = stood.get(sample.phase, 0) + sample.dur_ns
    return stood


def _time(chosen: Sequence[Sample]) -> int:
    return sum(sample.dur_ns for sample in chosen)
