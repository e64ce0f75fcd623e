"""Work on single rows of the input that need not be done at all: workers would only share it out, and keep it."""

from __future__ import annotations

from collections.abc import Sequence

from dlprof.analysis import processes, syncs
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.chores import Chore
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.input_load import InputLoad
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.traced_kernels import Ran
from dlprof.analysis.samples import Sample
from dlprof.analysis.stacks import Frame, frames_by_stack
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Direction, StepPart

_OF_ROWS = 0.5
"""Of the rows of a batch: an operator that runs so often in a step is called for each of them."""
_LONG_NS = 500_000
"""Some tens of microseconds are what it takes to start an operator on a row."""
_MOST = 0.5
"""Share of the samples in the lines that make rows, in which their stacks show it."""
_ARCHIVE = Chore(
    "A whole array of an .npz archive is read and unpacked for each row",
    Title("The input unpacked a whole array for each row", "unpacking whole arrays for single rows"),
    "Each access to a member of an .npz archive reads and decompresses all of it. Read the arrays once, before the "
    "training, or keep them as .npy files.",
    "data = dict(np.load(path)) once, or np.load('array.npy', mmap_mode='r')",
)
ROWS = Chore(
    "Rows are changed one by one with operations of the engine",
    Title("The input ran operations of the engine on single rows", "operations of the engine on single rows"),
    "Starting an operation takes longer than it does with one row: have the loader give rows as they are, and apply "
    "the same operations to the whole batch; or change rows with NumPy.",
    "the same operations after the loader, on the batch: once for all its rows",
)


LONG_ROWS = Chore(
    "Rows are changed one by one with operations of the engine that take long",
    Title("The input ran long operations on single rows", "long operations on single rows"),
    "What is done to a row takes far longer than to start it: give these operations less to do (crop or shrink an "
    "image before its colours change, not after), leave some out, keep what is the same in each epoch, or share the "
    "rows out to workers (num_workers).",
    "what makes a row smaller (a crop, a resize) first, all else behind it",
)
_MANAGED = Chore(
    "Rows ask the process of a multiprocessing.Manager for what they need",
    Title("The input asked another process for each piece of its rows", "asking a manager's process"),
    "Each look-up in a dict or list of a manager is a message to its process and back, one after the other, and takes "
    "hundreds of times as long as one in a dict of the worker's own: keep an ordinary dict (or functools.lru_cache) in "
    "each worker, which fills within its first batches, or make it before the workers are started.",
    "a plain dict (or functools.lru_cache) per worker in the place of Manager().dict()",
)
_MANAGERS = "<python>/multiprocessing/managers.py"


def of_rows(case: Case) -> Chore | None:
    """What most of the work on rows is, where that is needless; None: nothing that is known to be.

    Of workers only whom they ask is looked at: else too little of them is sampled.
    """
    try:
        load = case.input
    except Abstain:
        return None
    if load.loader.workers:
        return _MANAGED if _asks_a_manager(case, load) else None
    lines = {(line.file, line.line) for line in load.pipeline.lines}
    mine = [sample for sample in case.code.samples if sample.main and case.code.user_line(sample) in lines]
    whole = sum(sample.dur_ns for sample in mine)
    for chore, is_it in ((_ARCHIVE, _unpacks), (ROWS, _starts_operations), (_MANAGED, _asks)):
        if whole and sum(sample.dur_ns for sample in mine if is_it(case, sample)) >= _MOST * whole:
            return _of_engine(case) if chore is ROWS else chore
    # Asked for in no time, they are done when a value is waited for: no stack may have met the lines that ask.
    return _of_engine(case) if not whole and queued(case) and not _go_back(case) else None


def _of_engine(case: Case) -> Chore:
    return LONG_ROWS if _take_long(case) else ROWS


def _go_back(case: Case) -> bool:
    """Whether operators of the way back run as often as there are rows: then so do those of the model."""
    batch, steps = case.training.batch_size if case.training else None, case.kernels.window_steps
    back = (row.count for row in case.kernels.operators.rows if row.direction == Direction.BACKWARD)
    return max(back, default=0) >= _OF_ROWS * (batch or 1) * steps


def queued(case: Case) -> dict[TreePath, int]:
    """Waits for values that are waits for operations on single rows, by leaf (ns).

    An engine that runs operations later than they are called does what a loader asked for when somebody waits for a
    value: for as much of that as the traced kernels have such operations. Empty: the engine is none, or nothing tells.
    """
    of_rows, whole = _of_rows(case)
    if not of_rows or not case.asynchronous:
        return {}
    waited = sum(place.ns for place in syncs.of_run(case.run) or ())
    lost = waited * sum(one.ns for one in of_rows) / max(1, whole)
    parts = (StepPart.SYNC, StepPart.DISPATCH, StepPart.IDLE)
    return case.filled(lost, *(Tree.FIT_STEPS / part for part in parts), Tree.SCRIPT)


def _of_rows(case: Case) -> tuple[list[Ran], int]:
    """The operators that ran for each row of a batch, on the host, in the traced steps, and the time of all (ns)."""
    batch, steps = case.training.batch_size if case.training else None, case.kernels.window_steps
    if not batch or not steps or case.kernels.has_gpu:
        return [], 0
    ran: dict[str | None, Ran] = {}
    for row in case.kernels.operators.rows:
        before = ran.get(row.op, Ran(0, 0))
        ran[row.op] = Ran(before.ns + row.self_ns, before.count + row.count)
    often = [one for op, one in ran.items() if op and one.count >= _OF_ROWS * batch * steps]
    return often, sum(one.ns for one in ran.values())


def _take_long(case: Case) -> bool:
    """Whether most of the time of operators that ran for each row is of such that take far longer than their start."""
    of_rows, _ = _of_rows(case)
    long = sum(one.ns for one in of_rows if one.ns >= _LONG_NS * one.count)
    return long > sum(one.ns for one in of_rows) / 2


def _asks_a_manager(case: Case, load: InputLoad) -> bool:
    """Whether worker processes stand in a call to a manager for most of the work on rows that was sampled."""
    _, every = processes.stood_in(case.run, [one.pid for one in load.loader.processes])
    lines = {(line.file, line.line) for line in load.pipeline.lines}
    frames_of = frames_by_stack(case.run)
    whole = asking = 0
    for stood in every.values():
        for stack, ns in stood.items():
            frames = frames_of.get(stack, ())
            if any((frame.file, frame.line) in lines for frame in frames):
                whole += ns
                asking += ns * _has_manager(frames)
    return bool(whole) and asking >= _MOST * whole


def _asks(_case: Case, sample: Sample) -> bool:
    return _has_manager(sample.frames)


def _has_manager(frames: Sequence[Frame]) -> bool:
    return any(frame.file.startswith(_MANAGERS) for frame in frames)


def _unpacks(case: Case, sample: Sample) -> bool:
    """Whether a member of an archive that was opened elsewhere is read."""
    above = []
    for frame in sample.frames:
        if frame.file in case.code.user_files:
            return "__getitem__" in above and "load" not in above
        if frame.file.startswith("numpy/lib/"):
            above.append(frame.name)
    return False


def _starts_operations(case: Case, sample: Sample) -> bool:
    """Whether the user's line has the engine do something, with arrays as small as a row."""
    inner = next((number for number, frame in enumerate(sample.frames) if frame.file in case.code.user_files), 0)
    return inner > 0 and sample.frames[inner - 1].file.startswith(case.engine.eager_files or ("\0",))
