"""Python in the steps of loops that the script wrote itself: its own lines, and libraries that it calls.

A line of the script that calls into the engine's C++ is the innermost frame of its stack, as a line that computes is.
Kernel windows tell them apart: only where no operator runs is it Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from dlprof.analysis import loops
from dlprof.analysis.findings import called_models, chores, doing, interpreter_waits, own_loop_waits, queries, standing
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.chores import Chore
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.analysis.findings.pairs import of_the_slower
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground, Phase

_TITLE = Title("Python of the script's own loop took long", "Python of the script's own loop")
_SHARE_OF_WORK = 0.10
_SHARE_OF_LINES = 0.15
"""The same where only lines of the script's own stand there: starting operators is some of that in every loop."""
_MOSTLY = 2 / 3
"""Of the time of a line in which code of an engine stands below it, from which on it is one that calls the engine."""
_UNKNOWN = 0.3
"""So much of what agrees is left where nothing tells whether a line runs or waits: it becomes a question."""
_SHARE_OF_STEPS = 0.40
"""The same of the steps where an engine converts data: a batch a step is usual, and cheap."""
MAKES = frozenset({"array", "asarray", "as_tensor", "from_numpy", "tensor", "constant", "convert_to_tensor"})
"""Functions of engines that make arrays of other data."""
_CONVERSIONS = MAKES | {"stack", "concat", "concatenate"}
"""The same, and those that make one array of many."""
_STANDS = ("<frozen importlib", "<python>/threading.py", "<python>/queue.py", "<python>/multiprocessing/",
           "<python>/concurrent/", "<python>/selectors.py", "<python>/subprocess.py")  # fmt: skip
"""Files in which a thread waits, or imports."""


@of_the_slower
def claims(case: Case) -> Iterator[Claim]:
    """One, where such Python takes a good part of the steps."""
    if loops.are_all_of_keras(case.run):
        return
    steps_ns = case.own(Tree.FIT_STEPS)
    others = lines_of_the_engine(case) | _lines_of_no_loop(case)
    if own_loop_waits.is_claimed(case):
        others.add(own_loop_waits.line_of(case))

    def runs(sample: Sample) -> bool:
        return is_own(case, sample) and case.code.user_line(sample) not in others

    sampled_ns = _running(case) * steps_ns
    in_libraries = case.code.share([Tree.FIT_STEPS], lambda sample: _is_library(case, sample)) * sampled_ns
    in_lines = case.code.share([Tree.FIT_STEPS], runs) * sampled_ns
    idle_ns = sum(case.takes(*standing.QUIET_STEPS).values())
    ran = _ran(case)
    ns = max(in_libraries, min(in_lines, idle_ns, (1.0 if ran is None else ran) * steps_ns))
    converting = _converting(case) * sampled_ns
    if converting > max(ns, _SHARE_OF_STEPS * steps_ns) and converting >= _SHARE_OF_WORK * case.work_ns:
        yield _of_conversions(case, converting)
        return
    if ns < (_SHARE_OF_WORK if in_libraries >= ns else _SHARE_OF_LINES) * case.work_ns:
        yield from _of_arguments(case, idle_ns)
        return
    line = case.code.hottest_line([Tree.FIT_STEPS], runs)
    chore = chores.of_line(case, line, [Tree.FIT_STEPS], runs)
    is_known = ran is not None or ns <= in_libraries
    yield Claim(
        Sentence(f"{_what(chore, line, is_known)} in the steps of the script's own loop, while no operator runs:"),
        case.filled(ns, *standing.QUIET_STEPS, Tree.FIT_STEPS),
        [queries.python_stood(Phase.FIT_STEPS)],
        case.code.counting_note(line) + (chore.advice if chore else chores.advice(case, line, _ADVICE)),
        line,
        title=chore.title if chore else _TITLE,
        support=case.code.support(
            [Tree.FIT_STEPS],
            runs,
            ground=Ground.PLACE if chore is None else Ground.REPEATED,
            agree=ns / max(ns, in_lines) * (1.0 if is_known or chore else _UNKNOWN),
        ),
        fix=chore.fix if chore else chores.known_leaner(case, line) if line else None,
    )


def _lines_of_no_loop(case: Case) -> set[SourceLine]:
    """Lines that ran once: where a loop is taken to begin before it does, its first step has what comes before it."""
    seen = (case.code.user_line(one) for one in case.code.samples if one.main and Tree.FIT_STEPS.holds(one.phase))
    return {line for line in set(seen) if line is not None and case.code.runs_once(line)}


def _running(case: Case) -> float:
    """Share of the samples in the steps in which they ran: threads that run Python beside take the interpreter."""
    waiting = own_loop_waits.line_of(case) if own_loop_waits.is_claimed(case) else None

    def waits(sample: Sample) -> bool:
        line = case.code.user_line(sample)
        return sample.frames[0].file.startswith(doing.WAITS) or (line is not None and line == waiting)

    return interpreter_waits.running(case, waits)


def _converting(case: Case) -> float:
    """Share of the steps in which arrays of the engine are made of others.

    Where operators go on behind the calls that started them, a copy waits for those before it: MXNet's does. What
    runs meanwhile is theirs.
    """
    share = case.code.share([Tree.FIT_STEPS], lambda sample: calls_engine(case, sample, _CONVERSIONS))
    quiet = standing.outside_operators(case) if case.asynchronous else None
    return share if quiet is None else share * quiet.lasts


_ADVICE = "Work on whole arrays, do it once before the loop, or beside it (a loader with workers)."


def _of_conversions(case: Case, ns: float) -> Claim:
    """Arrays of the engine that are made of others, one by one, which no operator does."""
    line = case.code.hottest_line([Tree.FIT_STEPS], lambda sample: calls_engine(case, sample, _CONVERSIONS))
    chore = chores.conversion(case)
    return Claim(
        Sentence(f"{chore.what} in the steps of the script's own loop:"),
        case.filled(ns, *standing.QUIET_STEPS, Tree.FIT_STEPS),
        [queries.python_stood(Phase.FIT_STEPS)],
        case.code.counting_note(line) + chore.advice,
        line,
        title=chore.title,
        support=case.code.support(
            [Tree.FIT_STEPS], lambda sample: calls_engine(case, sample, _CONVERSIONS), ground=Ground.REPEATED
        ),
        fix=chore.fix,
    )


def _of_arguments(case: Case, idle_ns: int) -> Iterator[Claim]:
    """Calls of a compiled function that take long before anything runs: as a question, for no frame tells why."""
    calling = min(1.0, case.code.share(_STEPS, case.code.calls_compiled) / max(_LEAST, 1 - _compiling(case)))
    ns = min(calling * case.own(Tree.FIT_STEPS), idle_ns)
    steps = case.loop.count if case.loop is not None else 0
    if calling < _SHARE_OF_STEPS or ns < max(_SHARE_OF_LINES * case.work_ns, _LONG_CALL_NS * steps):
        return
    if case.loop is not None and (case.loop.median_ns or ns) < _OF_EACH * ns / max(1, steps):
        return  # a few calls have it: as where they are given what another function still computes
    line = case.code.hottest_line(_STEPS, case.code.calls_compiled)
    yield Claim(
        Sentence(f"Calls of a compiled function take {ns / max(1, steps) / 1e6:.1f} ms in which no operator runs:"),
        case.filled(ns, *standing.QUIET_STEPS, Tree.FIT_STEPS),
        [queries.python_stood(Phase.FIT_STEPS)],
        "See what it is given: arrays of NumPy, and those of another precision, are converted and copied at each call. "
        "Make them arrays of the engine once, before the loop.",
        line,
        title=_ARGUMENTS,
        support=case.code.support(_STEPS, case.code.calls_compiled, ground=Ground.MODEL, agree=0.5),
        fix=_BY_ENGINE.get(case.backend),
    )


def _compiling(case: Case) -> float:
    """Share of the samples in the steps that stand in the compiler: a long one, whose time is not of the steps."""
    return case.code.share(
        _STEPS, lambda one: doing.of_stack(one.frames, case.code.user_files, case.engine) == doing.COMPILING
    )


_STEPS = (Tree.FIT_STEPS,)
_LEAST = 0.1
"""Share of the samples in the steps that must be of the steps themselves."""
_LONG_CALL_NS = 2_000_000
"""To start a compiled function takes a tenth of that."""
_OF_EACH = 0.5
"""Of what a call takes on average, the median step has at least so much, where each call takes it."""
_ARGUMENTS = Title("Calls of a compiled function took long to begin", "what a compiled function is given at each call")
_BY_ENGINE = {
    "jax": "data = jnp.asarray(data), or jax.device_put(data), once before the loop",
    "tensorflow": "data = tf.constant(data), once before the loop",
}
"""How arrays of NumPy become the engine's."""


def calls_engine(case: Case, sample: Sample, functions: Collection[str]) -> bool:
    """Whether a line of the script stands in one of these functions of an engine, which it has called itself."""
    above = None
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return (
                above is not None and above.name in functions and above.file.startswith(combined.folders_with_keras())
            )
        above = frame
    return False


def _what(chore: Chore | None, line: SourceLine | None, is_known: bool) -> str:
    if chore is not None:
        return chore.what
    runs = "Python runs" if is_known else "The script stands, whether it runs or waits was not measured there,"
    if line is None:
        return runs
    return f"{runs}, most of all under line {line[1]}," if is_known else f"{runs} most of all under line {line[1]},"


def is_own(case: Case, sample: Sample) -> bool:
    """Whether the script's own line, or a library that it called, is what a stack stands in, and no engine.

    What goes through something piece by piece in a line of a module is told by how often it runs.
    """
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            if is_in_layer(case, sample):
                return False
            return not (case.code.is_import(frame.file, frame.line) or case.code.calls_compiled(sample))
        if frame.file.startswith((*combined.folders_with_keras(), *_STANDS)):
            return False
    return False


def is_in_layer(case: Case, sample: Sample) -> bool:
    """Whether a line of a module, which the engine called, starts operators: the gaps between them are the engine's."""
    users = case.code.user_files
    if sample.frames[0].file not in users or not case.engine.starts_operators or not case.code.is_called_back(sample):
        return False
    others = (one.file for one in sample.frames if one.file not in users)
    caller = next((file for file in others if not file.startswith(called_models.BETWEEN)), "")
    return caller.startswith(combined.folders_with_keras())  # a loop of events, or a pool, is none


def _is_library(case: Case, sample: Sample) -> bool:
    """Whether that is a library in Python, which is no engine's C++ for sure.

    NumPy is none where operators may run on behind the call that started them: it waits for what it is given.
    """
    file = sample.frames[0].file
    waits = case.asynchronous and case.tree.unsplit is None and file.startswith("numpy/")
    return is_own(case, sample) and file not in case.code.user_files and not (waits or _has_no_file(file))


def _has_no_file(file: str) -> bool:
    """Whether code was made by `exec`, as cells are: what it calls leaves no frame, as with a line of the script's."""
    return file.startswith("<") and not file.startswith("<python>/")


def _ran(case: Case) -> float | None:
    """Share of the steps in which the main thread can have run Python while no operator ran; None: nobody knows."""
    quiet = standing.outside_operators(case)
    if quiet is not None:
        return quiet.ran
    stood = standing.of_phases(case, _STEPS)
    return stood.ran if stood is not None else None


def lines_of_the_engine(case: Case, *paths: TreePath) -> set[SourceLine | None]:
    """Lines below which mostly code of an engine stands: what they are seen in themselves is on the way there.

    Args:
        case: The run.
        paths: The phases; none: the steps.
    """
    whole: Counter[SourceLine | None] = Counter()
    engines: Counter[SourceLine | None] = Counter()
    for sample in case.code.samples:
        if sample.main and any(path.holds(sample.phase) for path in paths or _STEPS):
            line = case.code.user_line(sample)
            whole[line] += sample.dur_ns
            engines[line] += sample.dur_ns * sample.frames[0].file.startswith(combined.folders_with_keras())
    return {line for line, ns in engines.items() if ns > _MOSTLY * whole[line]}
