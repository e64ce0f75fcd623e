"""Calls of a model, or of a compiled function, that a script makes very often for a moment each, outside of training.

What a call costs whatever its rows (Python, starting operators, the way to the device and back) is most of it then.
Where a turn of the loop needs nothing of the one before, all rows could be given at once; where it does, such as in a
game or a text, only several of them side by side: that is asked. So is it of longer calls, which may compute.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from dlprof.analysis import source_loops
from dlprof.analysis.findings import called_models, doing, own_elements, queries
from dlprof.analysis.findings.case import WORK, Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, Phase
from dlprof.units import duration

_TITLE = Title("A model was called very often, for a moment each time", "calls of a model for a moment each")
_PATHS = (Tree.SCRIPT,)
_FEWEST = 300
_SHORT_NS = 400_000
"""So long a call takes whatever it computes; a longer one may compute for a part of it."""
_LONGEST_NS = 2_000_000
_SAVES, _SAVES_OF_LONGER = 0.9, 0.6
_SHARE_OF_WORK = 0.15
_ASKED = 0.0
"""What agrees, where a question is all that the record supports."""
_SIDE_BY_SIDE = "one call in each turn for the rows of all games, texts or requests that go on"
_NEXT = (
    "Give it many rows at once: all that are there already, or those of several games, texts or requests side by side, "
    "which go on in step; and ask for the values of all of them once."
)


@dataclass(frozen=True)
class _Line:
    """A line that makes such calls.

    Attributes:
        place: The line.
        samples: Stacks below it.
        calls: How often it ran.
        is_about: Whether that is an estimate.
        is_compiled: Whether what it calls is known as a compiled function, not as a model.
    """

    place: SourceLine
    samples: Sequence[Sample]
    calls: int
    is_about: bool
    is_compiled: bool

    @property
    def stood_ns(self) -> int:
        """For how long the main thread stood there (ns)."""
        return sum(one.dur_ns for one in self.samples)

    @property
    def each_ns(self) -> float:
        """How long a call takes (ns)."""
        return self.stood_ns / self.calls


def claims(case: Case) -> Iterator[Claim]:
    """One, for the line that stood longest."""
    if case.pair or not case.code.samples:
        return
    found = _longest(case)
    if found is None or found.calls < _FEWEST or found.each_ns > _LONGEST_NS:
        return
    mine = set(map(id, found.samples))
    is_short = found.each_ns <= _SHORT_NS
    share = case.code.share(_PATHS, lambda sample: id(sample) in mine)
    takes = case.takes(*_PATHS, share=share * (_SAVES if is_short else _SAVES_OF_LONGER))
    if sum(takes.values()) < _SHARE_OF_WORK * sum(case.own(top) for top in WORK):
        return
    is_sure = is_short and _is_apart(case, found)
    about = "about " * found.is_about
    yield Claim(
        Sentence(
            f"Line {found.place[1]} calls {'a compiled function' if found.is_compiled else 'a model'} {about}"
            f"{found.calls:,} times, for {about}{duration(int(found.each_ns))} each:"
        ),
        takes,
        [queries.python_stood(Phase.SCRIPT)],
        _NEXT,
        found.place,
        basis=Basis.ESTIMATED,
        title=_TITLE,
        support=case.code.support(
            _PATHS,
            lambda sample: id(sample) in mine,
            ground=Ground.REPEATED if is_sure else Ground.MODEL,
            agree=1.0 if is_sure else _ASKED,
        ),
        fix="one call with all rows in one array, in place of the loop around it" if is_sure else _SIDE_BY_SIDE,
    )


def _longest(case: Case) -> _Line | None:
    """The line below which the script stands longest, if it is known how often it ran."""
    stood: dict[SourceLine, list[Sample]] = {}
    inside = [one for one in case.code.samples if one.main and any(path.holds(one.phase) for path in _PATHS)]
    lines = {line for line in map(case.code.user_line, inside) if line is not None}
    compiling = {line for line in lines if case.code.names_compiled([line])}
    for sample in inside:
        line = _calling(case, sample, compiling)
        if line is not None:
            stood.setdefault(line, []).append(sample)
    place = max(stood, key=lambda line: sum(one.dur_ns for one in stood[line]), default=None)
    if place is None:
        return None
    calls, hits = case.code.asked[place], case.code.hits(place)
    if not calls and not hits:
        return None
    is_model = called_models.calling(case, stood[place][0].frames) is not None
    is_about = not calls and case.code.is_scaled(place)
    return _Line(place, stood[place], calls or hits or 0, is_about, not is_model)


def _calling(case: Case, sample: Sample, compiling: Collection[SourceLine | None]) -> SourceLine | None:
    """The script's line that calls a model, or one of those that call compiled functions; None: it does none of it."""
    told = doing.of_stack(sample.frames, case.code.user_files, case.engine)
    if told == doing.COMPILING or doing.goes_back(sample.frames, case.engine):
        return None
    line = called_models.calling(case, sample.frames)
    if line is not None:
        return line
    line = case.code.user_line(sample)
    is_graph = told == doing.RUNNING or line in compiling
    return line if is_graph and not own_elements.takes_elements(case, sample) else None


def _is_apart(case: Case, found: _Line) -> bool:
    """Whether the `for` that the calls are in has turns that need nothing of each other, by its source.

    What a `while` goes through may come one by one.
    """
    inner_first = [(frame.file, frame.line) for frame in found.samples[0].frames]
    for file, line in inner_first[inner_first.index(found.place) :]:
        texts = case.code.lines(file) if file in case.code.user_files else []
        begin = source_loops.around(texts).get(line)
        if begin is not None:
            is_while = isinstance(source_loops.loop_at(texts, begin), ast.While)
            return line in source_loops.side_by_side(texts) and not is_while
    return False
