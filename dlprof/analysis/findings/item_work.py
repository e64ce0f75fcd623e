"""Work on single rows of the input that need not be done at all: workers would only share it out, and keep it."""

from __future__ import annotations

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.chores import Chore
from dlprof.analysis.findings.finding import Abstain
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample

_MOST = 0.5
"""Share of the samples in the lines that make rows, in which their stacks show it."""
_ARCHIVE = Chore(
    "A whole array of an .npz archive is read and unpacked for each row",
    Title("The input unpacked a whole array for each row", "unpacking whole arrays for single rows"),
    "Each access to a member of an .npz archive reads and decompresses all of it. Read the arrays once, before the "
    "training, or keep them as .npy files.",
    "data = dict(np.load(path)) once, or np.load('array.npy', mmap_mode='r')",
)
_ROWS = Chore(
    "Rows are changed one by one with operations of the engine",
    Title("The input ran operations of the engine on single rows", "operations of the engine on single rows"),
    "Starting an operation takes longer than it does with one row: have the loader give rows as they are, and apply "
    "the same operations to the whole batch; or change rows with NumPy.",
    "the same operations after the loader, on the batch: once for all its rows",
)


def of_rows(case: Case) -> Chore | None:
    """What most of the work on rows is, where that is needless; None: nothing that is known to be.

    Only where the thread that trains makes the rows itself: of workers too little is sampled.
    """
    try:
        load = case.input
    except Abstain:
        return None
    if load.loader.workers:
        return None
    lines = {(line.file, line.line) for line in load.pipeline.lines}
    mine = [sample for sample in case.code.samples if sample.main and case.code.user_line(sample) in lines]
    whole = sum(sample.dur_ns for sample in mine)
    for chore, is_it in ((_ARCHIVE, _unpacks), (_ROWS, _starts_operations)):
        if whole and sum(sample.dur_ns for sample in mine if is_it(case, sample)) >= _MOST * whole:
            return chore
    return None


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
