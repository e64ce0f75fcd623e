"""What evaluations of the script's own loops stand in besides the model: batches, files, waits, Python.

In the steps of a training each of these is looked for by a rule of its own, which kernel windows help. An evaluation
has none, so that only stacks tell, line by line: what most of a line's time is, outside of the engine, is all of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dlprof.analysis import input_graphs, loops, samples
from dlprof.analysis.findings import chores, doing, dropped_elements, file_work, queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.dropped_elements import DroppedElements
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.title import Title
from dlprof.analysis.loops import FoundBy, LoopSummary
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Phase, SpanKind

PATHS = (Tree.FIT_VALIDATION, Tree.EVALUATE, Tree.PREDICT)
_SHARE_OF_WORK = 0.05
_SHARE = 0.20
"""Of the time of all evaluations: what takes less is a small part of each of them."""
_MOSTLY = 2 / 3
"""Of the time of a line in which the engine stands below it, from which on it is one that calls the engine."""
_MOST_STANDS = 0.5
"""Of the time of such a line in which the thread must have stood for it to be one that waits."""


class Doing(StrEnum):
    """What a line of an evaluation does outside of the engine."""

    INPUT = "input"
    FILES = "files"
    WAITING = "waiting"
    PYTHON = "python"


@dataclass(frozen=True)
class Part:
    """Lines of evaluations that do the same.

    Attributes:
        doing: What.
        lines: The lines, with what each stood (ns).
    """

    doing: Doing
    lines: Mapping[SourceLine, int]

    @property
    def line(self) -> SourceLine:
        """The one that stood longest."""
        return max(self.lines, key=lambda line: self.lines[line])


@dataclass(frozen=True)
class _Wording:
    """How a part is told.

    Attributes:
        title: What a finding is called.
        what: What is said, before the time.
        advice: What to do, where the line does not tell it better.
    """

    title: Title
    what: str
    advice: str


_WORDINGS = {
    Doing.INPUT: _Wording(
        Title("The script's own evaluation waited for its input", "waiting for the input of an evaluation"),
        "The script's own evaluation waits for its batches, which are made under line {line}:",
        "Prepare them once, and keep them for each evaluation, with operations on whole arrays, or beside it (a loader "
        "with workers).",
    ),
    Doing.FILES: _Wording(
        Title("The script's own evaluation worked on files", "files of an evaluation"),
        "The script's own evaluation reads or writes files, most of all under line {line}:",
        "Gather what is to be written and write it once, behind the loop, and flush no more often; read files once, "
        "before it.",
    ),
    Doing.WAITING: _Wording(
        Title("The script's own evaluation stood waiting", "waiting in an evaluation"),
        "The script's own evaluation stands still, most of all under line {line}:",
        "See what the line waits for: a pause (sleep), a lock, the network, a disk, another program.",
    ),
    Doing.PYTHON: _Wording(
        Title("Python of the script's own evaluation took long", "Python of an evaluation"),
        "Python runs in the script's own evaluation, most of all under line {line}:",
        "Work on whole arrays, do it once behind the loop, or once for all evaluations.",
    ),
}


def claims(case: Case, doing: Doing) -> Iterator[Claim]:
    """One, where evaluations of the script's own loops mostly do that besides the model."""
    part = _parts(case).get(doing)
    if part is None or case.pair:
        return
    takes = _takes(case, part)
    if sum(takes.values()) < _SHARE_OF_WORK * case.work_ns:
        return
    wording, line = _WORDINGS[doing], part.line
    chosen = part.lines.keys()
    chore = chores.of_line(case, line, PATHS) if doing is Doing.PYTHON else None
    dropped = _dropped(case) if doing is Doing.INPUT else None
    yield Claim(
        Sentence(wording.what.format(line=line[1])),
        takes,
        [queries.python_stood(Phase.FIT_VALIDATION, Phase.EVALUATE, Phase.PREDICT)],
        f"{case.code.counting_note(line)}{dropped.said if dropped else ''}{chore.advice if chore else wording.advice}",
        dropped.line if dropped else line,
        title=wording.title,
        support=case.code.support(PATHS, lambda sample: case.code.user_line(sample) in chosen, ground=Ground.PLACE),
        fix=chore.fix if chore else dropped.fix if dropped else None,
    )


def _dropped(case: Case) -> DroppedElements | None:
    """What the pipeline of an evaluation makes and drops, by a window of the training that reached into it."""
    return next(filter(None, map(dropped_elements.of_evaluation, input_graphs.of_evaluations(case.run))), None)


def told_share(case: Case) -> float:
    """Share of the validations inside a training that such claims take."""
    told = [part for doing, part in _parts(case).items() if any(True for _ in claims(case, doing))]
    whole = _stood(case, [Tree.FIT_VALIDATION])
    inside = _parts_of(case, [Tree.FIT_VALIDATION])
    taken = sum(sum(inside[part.doing].lines.values()) for part in told if part.doing in inside)
    return taken / whole if whole else 0.0


def line_of_loop(case: Case) -> SourceLine | None:
    """The line of the evaluation of the script's own that has most steps; None: there is none."""
    found = [(one.steps, (one.file, one.line)) for one in _own(case) if one.file and one.line]
    return max(found)[1] if found else None


def _own(case: Case) -> list[LoopSummary]:
    """Evaluations that the script wrote itself; none where Keras makes steps, too: their time is in the same phases."""
    if loops.is_any_of_keras(case.run):
        return []
    return [one for one in loops.of_run(case.run) if one.how is FoundBy.INFERRED and one.name == SpanKind.EVALUATE]


def _parts(case: Case) -> Mapping[Doing, Part]:
    """What takes a good part of all evaluations."""
    if not _own(case) or not case.code.samples:
        return {}
    least = _SHARE * _stood(case, PATHS)
    return {doing: part for doing, part in _parts_of(case, PATHS).items() if sum(part.lines.values()) >= least}


def _parts_of(case: Case, paths: Sequence[TreePath]) -> Mapping[Doing, Part]:
    """What lines do in some phases; asked for by several rules."""
    return case.run.once(f"evaluations: {', '.join(paths)}", lambda _run: _look(case, paths))


def _look(case: Case, paths: Sequence[TreePath]) -> Mapping[Doing, Part]:
    found: dict[Doing, dict[SourceLine, int]] = {}
    stood_ns = _stands(case, paths) * _stood(case, paths)
    for line, times in _by_line(case, paths).items():
        doing = _doing_of(times, stood_ns)
        if doing is not None:
            found.setdefault(doing, {})[line] = sum(times.values()) - times[_ENGINE]
    return {doing: Part(doing, lines) for doing, lines in found.items()}


_ENGINE, _IN_C = "engine", "in C"
"""What a sample may stand in that is none of these: an engine, or a call of C that leaves no frame."""


def _doing_of(times: Mapping[str, int], stood_ns: float) -> Doing | None:
    """What a line mostly does outside of the engine; None: it calls the engine, or nobody knows.

    Args:
        times: What it stood in (ns).
        stood_ns: For how long the thread stood, in all lines.
    """
    if times[_ENGINE] > _MOSTLY * sum(times.values()):
        return None
    most = max((*Doing, _IN_C), key=lambda doing: times[doing])
    if most != _IN_C:
        return Doing(most)
    # A call of C that computes is an operator's, for all that a stack tells; one in which the thread stands is not.
    return Doing.WAITING if stood_ns >= _MOST_STANDS * times[_IN_C] else None


def _stands(case: Case, paths: Sequence[TreePath]) -> float:
    """Share of some phases for which the main thread stands; 0: not at all, or that is not known.

    Where it runs its part of each operator itself, threads that burn a core meanwhile are not what it waits for.
    """
    stood = standing.of_phases(case, paths)
    if stood is None:
        return 0.0
    return 1 - stood.ran if case.engine.starts_operators and not case.asynchronous else stood.share


def _by_line(case: Case, paths: Sequence[TreePath]) -> Mapping[SourceLine, Counter[str]]:
    """The user's innermost lines in some phases, with what they stood in (ns)."""
    found: dict[SourceLine, Counter[str]] = {}
    for sample in _inside(case, paths):
        line = case.code.user_line(sample)
        if line is not None:
            found.setdefault(line, Counter())[_stands_in(case, sample)] += sample.dur_ns
    return found


def _stands_in(case: Case, sample: Sample) -> str:
    if samples.is_of_input(sample) or case.code.turns_a_loop(sample):
        return Doing.INPUT
    if _is_of_engine(case, sample):
        return _ENGINE
    if file_work.stands_in(case, sample):
        return Doing.FILES
    file = sample.frames[0].file
    if file.startswith(doing.WAITS):
        return Doing.WAITING
    return Doing.PYTHON if file not in case.code.user_files or case.code.goes_through(sample) else _IN_C


def _is_of_engine(case: Case, sample: Sample) -> bool:
    """Whether the engine stands between the user's innermost line and what runs, or a compiled function does."""
    if case.code.calls_compiled(sample):
        return True
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return case.code.is_import(frame.file, frame.line)
        if frame.file.startswith(combined.folders_with_keras()):
            return True
    return True


def _inside(case: Case, paths: Sequence[TreePath]) -> Iterator[Sample]:
    return (one for one in case.code.samples if one.main and any(path.holds(one.phase) for path in paths))


def _stood(case: Case, paths: Sequence[TreePath]) -> int:
    """For how long the main thread was sampled in some phases (ns)."""
    return sum(sample.dur_ns for sample in _inside(case, paths))


def _takes(case: Case, part: Part) -> dict[TreePath, int]:
    """What a part takes, by leaf (ns)."""
    found: dict[TreePath, int] = {}
    for path in PATHS:
        whole, inside = _stood(case, [path]), _parts_of(case, [path]).get(part.doing)
        if inside is not None:
            found |= case.takes(path, share=min(1.0, sum(inside.lines.values()) / max(1, whole)))
    return found
