"""Python code takes the time: the user's own in the middle of steps or around the training, or that of Keras."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from dlprof.analysis import loops, source_loops
from dlprof.analysis.findings import (
    busy_threads,
    chores,
    doing,
    host_callbacks,
    many_times,
    own_elements,
    own_evaluations,
    own_loop_copies,
    own_loop_python,
    pair_python,
    queries,
    row_by_row,
    standing,
    untold_stretches,
)
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, SourceLine, Support
from dlprof.analysis.findings.own_evaluations import Doing
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame
from dlprof.engines import combined
from dlprof.schema.tree_paths import EDGES, Tree, TreePath
from dlprof.schema.vocabulary import (
    Basis,
    Category,
    Direction,
    Ground,
    Phase,
    PseudoLayer,
    RunSource,
    SpanKind,
    StepPart,
)

TITLE = Title("The script's own Python took long", "Python code of the script")
_INSIDE = Title("Python code of the script ran inside the steps", "Python code of the script inside the steps")
_SHARE_OF_WORK = 0.05
_SHARE_OF_SCRIPT = 0.10
"""A script may load its data and build its model."""
_SHARE_OF_PREPARATION = 0.20
"""More of that is usual before the first training: it is done once, and a longer training would not feel it."""
_TINY_NS, _MANY = 20_000, 150
"""Shorter operators are tiny; a layer that starts so many of them on the way forward goes through its rows one by one.
On the way back, and in an update, engines start many for each."""
_IN_ONE_CALL = 40
"""A recurrent operator that has so many tiny ones starts them itself, without Python. Of PyTorch (2.13, on a processor)
a GRU starts about 50 for each point in time, its cell 65, that of an LSTM 50; that of a plain one 28."""
_WORK = (Tree.FIT, Tree.SCRIPT, Tree.DATA, Tree.EVALUATE, Tree.PREDICT)
SCRIPT = (Tree.SCRIPT, Tree.DATA)
"""Where the script's own code runs, outside of Keras."""
_ORDER = (
    StepPart.HOST_PYTHON,
    StepPart.DISPATCH,
    StepPart.IDLE,
    StepPart.SYNC,
    EDGES,
    StepPart.INPUT,
    StepPart.KERNELS,
)
"""Parts of a step in the order in which Python that runs in it is taken out of them."""
_INSIDE_CLAIMS = (own_elements.claims, row_by_row.claims, many_times.claims, own_loop_python.claims)
_OF_NUMPY = ("<__array_function__", "numpy/")
_READS = re.compile(r"\b(np|numpy)\.(array|asarray)\(|\b(float|int)\(")
"""What waits for a value of an engine that works on meanwhile, and leaves no frame of that."""
_WHOLE_ARRAYS = "Replace loops over rows or pixels by operations on whole arrays; keep the prepared data in a file."
_WITH_KERAS = "Write it with operations of keras.ops or of the engine, over whole arrays."
_WITH_ENGINE = "Write it with operations of the engine, over whole arrays."
_LINES = Query(
    "lines of the script", "SELECT file, line, hits, time_ns, source FROM lines ORDER BY time_ns DESC LIMIT 8"
)


def look(case: Case) -> Iterator[Claim]:
    """Stacks in user code inside steps; the script's own lines outside; in a pair, what Keras' Python takes more."""
    work = sum(case.own(top) for top in _WORK) or 1
    # Where the script's own frames are seen in the steps, they tell its time better than counts of operators do.
    others = (claims(case) for claims in _INSIDE_CLAIMS)
    inside = [host_callbacks.claims(case), _in_steps(case, work), *others]  # not begun until they are asked
    yield from next((found for claims in inside if (found := list(claims))), [])
    yield from own_loop_copies.claims(case)
    elsewhere = list(many_times.outside_of_training(case))
    yield from elsewhere or own_evaluations.claims(case, Doing.PYTHON)
    yield from _in_script(case, work)
    yield from busy_threads.claims(case)
    yield from untold_stretches.claims(case)
    yield from pair_python.claims(case, work)


# -- inside the steps -----------------------------------------------------------------------------------


def _in_steps(case: Case, work: int) -> Iterator[Claim]:
    """User code that runs inside steps: a layer, a loss or a metric in Python."""
    main, beside = _on_main_thread(case), _beside_it(case)
    stood = max(main, beside)
    share = max(stood, _started_one_by_one(case) if main else 0.0)
    if share * case.own(Tree.FIT_STEPS) < _SHARE_OF_WORK * work or row_by_row.is_in_time(case):
        return
    by_layer = [queries.operators(by="layer")] if share > stood else []
    yield Claim(
        Sentence("Python code of the script runs inside the steps, where graphs and kernels should:"),
        _taken_from_steps(case, share * case.own(Tree.FIT_STEPS)),
        [queries.python_stood(Phase.FIT_STEPS, frames="file IN (SELECT file FROM lines)"), *by_layer],
        _WITH_KERAS if loops.is_any_of_keras(case.run) else _WITH_ENGINE,
        case.code.hottest_line([Tree.FIT_STEPS], lambda sample: _is_python(case, sample), main=None)
        or case.code.line_with("py_function(", "numpy_function(", "pure_callback(", "CustomOp"),
        basis=Basis.ESTIMATED if share > stood else Basis.MEASURED,
        title=_INSIDE,
        support=_support(case, share, stood, main),
    )


def _support(case: Case, share: float, stood: float, main: float) -> Support:
    """By what tells that share of the steps: layers of tiny operators, an operator that calls Python, or stacks."""
    if share > stood:
        return Support(Ground.REPEATED, seen=case.kernels.seen_steps)
    if stood > main and case.tree.unsplit is None:
        return Support(Ground.STATED, seen=case.kernels.seen_steps)
    return case.code.support([Tree.FIT_STEPS], lambda sample: _is_python(case, sample), main=None, part=share)


def _taken_from_steps(case: Case, wanted_ns: float) -> dict[TreePath, int]:
    """So much of the steps, by leaf (ns)."""
    takes = case.filled(wanted_ns, *(Tree.FIT_STEPS / part for part in _ORDER))
    if takes:
        return takes
    whole = max(1, sum(case.takes(Tree.FIT_STEPS).values()))
    return case.takes(Tree.FIT_STEPS, share=min(1.0, wanted_ns / whole))


def _on_main_thread(case: Case) -> float:
    """Share of the steps in which the main thread stands in Python of the user's, and no kernel runs beside it."""
    pieces = many_times.often_run(case) if _starts_operators(case) else None
    in_time = _recurrences(case, pieces) if pieces else set()
    main = case.code.share(
        [Tree.FIT_STEPS],
        lambda sample: (
            _is_python(case, sample)
            and _is_of_pieces(case, sample, pieces)
            and not any((frame.file, frame.line) in in_time for frame in sample.frames)
        ),
    )
    if case.tree.unsplit is not None:
        return main
    busy = case.own(Tree.FIT_STEPS / StepPart.KERNELS) / max(1, case.own(Tree.FIT_STEPS))
    return min(main, max(0.0, 1 - busy + _tiny(case)))


def _recurrences(case: Case, pieces: Mapping[SourceLine, float]) -> set[SourceLine]:
    """Those of the lines that run many times in a step that are in a loop in which each turn needs the one before.

    What Python adds between their operators, `many_times` tells: no operation on whole arrays takes their place.
    """
    files = {file for file, _ in pieces}
    in_time = {(file, line) for file in files for line in source_loops.recurrent(case.code.lines(file))}
    return in_time & pieces.keys()


def _is_of_pieces(case: Case, sample: Sample, pieces: Mapping[SourceLine, float] | None) -> bool:
    """Whether a library stands there, or a line that goes through something piece by piece; None: any line does."""
    frame = sample.frames[0]
    return pieces is None or frame.file not in case.code.user_files or (frame.file, frame.line) in pieces


def _starts_operators(case: Case) -> bool:
    """Whether lines of the script start operators themselves; what else takes them long, `own_loop_python` tells."""
    return case.engine.starts_operators and not loops.is_any_of_keras(case.run)


def _beside_it(case: Case) -> float:
    """Share of the steps in which other threads run Python of the user's that makes no batches."""
    # Their stacks stand beside kernels, too; operators tell for how long they really ran.
    if case.tree.unsplit is None:
        return _called_back(case)
    return case.code.share(
        [Tree.FIT_STEPS], lambda sample: _is_python(case, sample) and not case.code.feeds(sample), main=False
    )


def _tiny(case: Case) -> float:
    """Share of the steps in operators so small that the Python which starts them is what they cost."""
    operators, recurrent = case.kernels.operators, _recurrent(case)
    tiny = sum(row.total_ns for row in operators.rows if row.mean_ns < _TINY_NS and row.layer not in recurrent)
    return tiny / operators.window_ns if operators.window_ns else 0.0


def _started_one_by_one(case: Case) -> float:
    """Share of the steps for layers that start very many tiny operators: their Python, and their part of going back.

    Forward the script's own frames are seen; backward the engine starts what these layers left behind, without Python.
    """
    layers = _layers_of_tiny_operators(case) if case.tree.unsplit is None else set()
    loop = row_by_row.loop_of(case) if layers else None
    if not layers or (loop is not None and row_by_row.is_recurrence(case, loop)):
        return 0.0  # what has to be computed one after the other is no Python that could be left out
    rows = case.kernels.operators.rows
    back = [row for row in rows if row.direction == Direction.BACKWARD]
    theirs = sum(row.count for row in back if row.layer in layers) / max(1, sum(row.count for row in back))
    forward = case.code.share([Tree.FIT_STEPS], case.code.is_called_back)
    backward = case.code.share([Tree.FIT_STEPS], lambda sample: doing.goes_back(sample.frames, case.engine))
    return min(1.0, forward + theirs * backward)


def _layers_of_tiny_operators(case: Case) -> set[str]:
    """Layers of which Python starts hundreds of tiny operators in each step."""
    steps, recurrent = case.kernels.window_steps, _recurrent(case)
    counts = _tiny_counts(case).items()
    return {one for one, count in counts if steps and count >= _MANY * steps and one not in recurrent}


def _tiny_counts(case: Case) -> Counter[str]:
    """How many tiny operators each layer ran on the way forward."""
    counts = Counter[str]()
    for row in case.kernels.operators.rows:
        if row.layer is not None and row.direction == Direction.FORWARD and row.mean_ns < _TINY_NS:
            counts[row.layer] += row.count
    return counts


def _recurrent(case: Case) -> set[str]:
    """Layers with an operator of the engine's that starts the tiny ones itself: for a sequence, or a step of it."""
    tiny, recurrent = _tiny_counts(case), Counter[str]()
    for row in case.kernels.operators.rows:
        if row.layer is not None and row.direction == Direction.FORWARD and row.category == Category.RECURRENT:
            recurrent[row.layer] += row.count
    return {layer for layer, count in recurrent.items() if count * _IN_ONE_CALL <= tiny[layer]}


def _called_back(case: Case) -> float:
    """Share of the steps in which an operator ran that calls a function of Python."""
    calling = [row for row in case.kernels.calling_python if row.layer != PseudoLayer.INPUT]
    window_ns = case.kernels.operators.window_ns
    return min(1.0, sum(row.union_ns or 0 for row in calling) / window_ns) if window_ns else 0.0


def _is_python(case: Case, sample: Sample) -> bool:
    """Whether user code that was called back runs in Python itself, or in numpy, and not in the engine.

    A thread beside the training that waits for another one (a logger for what is to be written) runs nothing.
    """
    if not case.code.is_called_back(sample) or (not sample.main and doing.waits_for_thread(sample.frames)):
        return False
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return True
        if not frame.file.startswith(("<", "numpy/")):
            return False
    return False


# -- outside of them ------------------------------------------------------------------------------------


def _in_script(case: Case, work: int) -> Iterator[Claim]:
    """The script's own lines, outside Keras."""
    of_engines, calling = of_no_engine(), own_loop_python.lines_of_the_engine(case, *SCRIPT)
    is_quiet = not case.code.share(SCRIPT, lambda sample: _works(case, sample), main=False)

    def is_own(sample: Sample) -> bool:
        if is_quiet and doing.waits_for_thread(sample.frames):
            return False
        frame = case.code.user_frame(sample)
        if frame is not None and (case.code.is_import(frame.file, frame.line) or (frame.file, frame.line) in calling):
            return False
        if own_loop_python.is_in_layer(case, sample) and not case.code.feeds(sample):
            return False
        if case.asynchronous and frame is sample.frames[0] and _reads(case.code.source(frame.file, frame.line)):
            return False
        return of_engines(sample) and not (case.code.calls_compiled(sample) or case.code.turns_a_loop(sample))

    share = case.code.bounded_share(SCRIPT, is_own) if case.code.samples else _computed(case)
    thread = standing.of_phases(case, SCRIPT)
    if thread is not None:  # a line may stand while threads of the engine work for it
        share = min(share, thread.ran)
    takes = case.takes(*SCRIPT, share=share)
    before = _before_training(case)
    if sum(takes.values()) < (before * _SHARE_OF_PREPARATION + (1 - before) * _SHARE_OF_SCRIPT) * work:
        return
    line = case.code.hottest_line(SCRIPT, is_own)
    chore = chores.of_line(case, line, SCRIPT, is_own)
    yield Claim(
        Sentence(
            f"The script's own Python, outside of {'Keras' if case.run.manifest.keras else 'its training'}, takes"
        ),
        takes,
        [_LINES, queries.python_stood(Phase.SCRIPT, Phase.DATA)],
        case.code.counting_note(line)
        + (chore.advised(case, line) if chore and line else chores.advice(case, line, _WHOLE_ARRAYS)),
        line,
        title=chore.title if chore else None,
        support=case.code.support(SCRIPT, is_own, agree=share, part=sum(takes.values()) / work, usual=_SHARE_OF_SCRIPT),
        fix=chore.fix if chore else chores.leaner(case, line),
    )


def _reads(text: str) -> bool:
    """Whether a line may wait for a value, and goes through nothing itself."""
    return _READS.search(text) is not None and not source_loops.has_for(text)


def _computed(case: Case) -> float:
    """Share of the script's own code that was Python at most, where no stacks tell: by the CPU time of its process.

    Of a program that is run from the outside nothing else says that it is Python at all.
    """
    if case.run.manifest.backend.source == RunSource.PROGRAM:
        return 0.0
    used = case.run.manifest.process
    if used.cpu_user_ns is None or used.cpu_system_ns is None:
        return 1.0
    return min(1.0, (used.cpu_user_ns + used.cpu_system_ns) / max(1, sum(case.own(path) for path in SCRIPT)))


def _works(case: Case, sample: Sample) -> bool:
    """Whether another thread is in the script's own code, and does not wait: the main thread may wait for that."""
    frame = case.code.user_frame(sample)
    if frame is None or doing.waits_for_thread(sample.frames):
        return False
    return frame is not sample.frames[0] or not doing.sleeps(case.code.source(frame.file, frame.line))


def _before_training(case: Case) -> float:
    """Share of the script's own code that ran before the first training: 0 where there was none."""
    begins = [call.begin_ns for call in case.calls.of(SpanKind.FIT, SpanKind.ON_BATCH)]
    if not begins:
        return 0.0
    earlier = case.phases.of([(0, min(begins))])
    whole = sum(case.own(path) for path in SCRIPT)
    return min(1.0, sum(ns for phase, ns in earlier.items() if any(top.holds(phase) for top in SCRIPT)) / max(1, whole))


def of_no_engine() -> Callable[[Sample], bool]:
    """Tells whether Python itself, a library of its kin or the script runs in a sample, and no engine.

    NumPy computes for engines, too: below a function of one it is the engine's.
    """
    return lambda sample: not _caller(sample).file.startswith(combined.folders_with_keras())


def _caller(sample: Sample) -> Frame:
    """The innermost frame that is not NumPy's; where all are, the innermost."""
    return next((frame for frame in sample.frames if not frame.file.startswith(_OF_NUMPY)), sample.frames[0])
