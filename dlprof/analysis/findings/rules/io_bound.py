"""The training waits for files: many reads and writes, or flushes to the disk."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dlprof.analysis.columns import integers
from dlprof.analysis.findings import file_work, own_evaluations, standing, torch_setups
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence
from dlprof.analysis.findings.own_evaluations import Doing
from dlprof.analysis.findings.sampled_code import Chosen
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Ground

TITLE = Title("Reading and writing files held the training up", "reading and writing files")
_PHASES = (Tree.FIT_INPUT, Tree.FIT_CALLBACKS, Tree.SCRIPT, Tree.DATA, Tree.FIT_STEPS)
_CALLS_PER_S, _BYTES_PER_S = 300.0, 20e6
"""More reads and writes, or bytes, per second than a training needs that has its data in memory."""
_IO_WAIT = 0.10
_INSIDE = 0.8
"""Share of the time between two samples of the counters that is of the phases they are to speak of, where it can be."""
_EVIDENCE = (
    Query(
        "reads and writes over time",
        "SELECT time_ns, read_bytes, write_bytes, io_calls FROM process_samples WHERE io_calls IS NOT NULL "
        "ORDER BY time_ns",
    ),
    Query("stalls of the machine on its disks", "SELECT time_ns, stall_io_ns FROM machine ORDER BY time_ns"),
)


@dataclass(frozen=True)
class _Rates:
    """Reads and writes of the process, per second."""

    calls: float
    bytes: float

    @property
    def is_busy(self) -> bool:
        return self.calls > _CALLS_PER_S or self.bytes > _BYTES_PER_S


def look(case: Case) -> Iterator[Claim]:
    """The input or a callback is slow, and meanwhile the process reads and writes a lot, or the disk is waited for."""
    case.code.need_samples()
    told = list(own_evaluations.claims(case, Doing.FILES))
    yield from told
    try:
        yield from _around_training(case)
    except Abstain:
        if not told:  # what was said stays said
            raise


def _around_training(case: Case) -> Iterator[Claim]:
    waits, in_file = _disk_wait(case), _in_file(case)
    takes: dict[TreePath, int] = {}
    for phase in _PHASES:
        share = case.code.share([phase], in_file)
        if share:
            takes.update(case.takes(phase, share=share))
    beside = _beside(case, in_file)
    for leaf, ns in case.input_waits.items() if beside else ():
        takes[leaf] = max(takes.get(leaf, 0), int(ns * beside))
    rates = _rates(case, _tops(takes))
    if not takes or (not rates.is_busy and (waits or 0.0) < _IO_WAIT):
        return
    called = sum(ns for leaf, ns in takes.items() if Tree.FIT_CALLBACKS.holds(leaf))
    in_callbacks = called > _MOSTLY * sum(takes.values())
    work = [one for one in case.code.samples if any(path.holds(one.phase) for path in _PHASES) and in_file(one)]
    in_text = _are_mostly(work, file_work.is_of_text)
    in_chunks = not in_callbacks and _are_mostly(work, _is_of_hdf5)
    fixes = {file_work.BINARY: in_text, _IN_CALLBACKS: in_callbacks, file_work.CHUNKS: in_chunks}
    yield Claim(
        Sentence(
            f"Reading and writing files holds the training up: {rates.calls:,.0f} calls and {rates.bytes / 1e6:.1f} MB "
            f"per second, and {_told(waits)}:"
        ),
        takes,
        _EVIDENCE,
        _next(in_text=in_text, in_callbacks=in_callbacks, in_chunks=in_chunks),
        case.code.hottest_line(_PHASES, in_file, main=None),
        support=case.code.support(
            _PHASES,
            in_file,
            main=None,
            ground=Ground.STATED if (waits or 0.0) >= _IO_WAIT else Ground.PLACE,
        ),
        fix=next((fix for fix, is_it in fixes.items() if is_it), None),
    )


def _beside(case: Case, in_file: Chosen) -> float:
    """Share of the work on batches of other threads that reads files, where that is most of it; else 0.

    The same share of what is waited for them is for that. Of work that mostly computes it is said with the rest.
    """
    feeding = [one for one in case.code.samples if not one.main and one.phase in _FED and case.code.feeds(one)]
    whole = sum(one.dur_ns for one in feeding)
    reading = sum(one.dur_ns for one in feeding if in_file(one)) / max(1, whole)
    return reading if reading >= _MOSTLY_READS else 0.0


_MOSTLY_READS = 0.7
_FED = (Tree.FIT_INPUT, Tree.FIT_STEPS, Tree.FIT_WAIT)
_MOSTLY = 0.5
"""Share of that time in callbacks from which on it is what they write."""
_OF_CALLBACKS = (
    "Write once an epoch, or every so many batches, add to the file rather than write it anew, and flush less often."
)
_ADVICE = (
    "Read larger pieces and fewer files, keep the data in memory, read ahead (tf.data prefetch, workers), and "
    "flush less often."
)


_IN_CALLBACKS = "keep the values in a list, and write them in on_epoch_end"
_HDF5 = ("h5py/", "tables/")


def _next(*, in_text: bool, in_callbacks: bool, in_chunks: bool) -> str:
    """What to do, by what most of the work is."""
    if in_text:
        return file_work.OF_TEXT
    if in_callbacks:
        return _OF_CALLBACKS
    return f"{file_work.OF_CHUNKS} {_ADVICE}" if in_chunks else _ADVICE


def _are_mostly(work: Sequence[Sample], chosen: Chosen) -> bool:
    """Whether most of that work is of some kind."""
    return sum(one.dur_ns for one in work if chosen(one)) > _MOSTLY * sum(one.dur_ns for one in work)


def _is_of_hdf5(sample: Sample) -> bool:
    return any(frame.file.startswith(_HDF5) for frame in sample.frames)


def _in_file(case: Case) -> Chosen:
    """Tells whether code of the user's own stands in work on a file: in a library for that, or in the call itself.

    A model that is loaded again and again is a cause of its own.
    """
    has_setups = any(torch_setups.claims(case))

    def is_it(sample: Sample) -> bool:
        is_users = case.code.is_called_back(sample) or sample.phase in (Tree.SCRIPT, Tree.DATA)
        if not is_users or case.code.user_frame(sample) is None or (has_setups and torch_setups.is_setup(sample)):
            return False
        return file_work.stands_in(case, sample)

    return is_it


def _tops(takes: Collection[TreePath]) -> tuple[TreePath, ...]:
    """The training, or what of the script is around it, by where files were worked on; else the training."""
    tops = tuple(top for top in (Tree.FIT, Tree.SCRIPT, Tree.DATA) if any(top.holds(leaf) for leaf in takes))
    return tops or (Tree.FIT,)


def _rates(case: Case, paths: Sequence[TreePath]) -> _Rates:
    """In these phases, and in no others: importing an engine reads thousands of times."""
    rows = case.machine.process_samples("io_calls", "read_bytes", "write_bytes", around_ns=case.tree.wall_ns)
    time = integers(rows["time_ns"])
    length, inside = np.diff(time), standing.time_in(case, paths, time)
    chosen = inside >= _INSIDE * length if (inside >= _INSIDE * length).any() else inside > 0
    if not chosen.any():
        raise Abstain("reads and writes were sampled less than twice where files are worked on")
    names = ("io_calls", "read_bytes", "write_bytes")
    calls, read, written = (float(np.diff(integers(rows[name]))[chosen].sum()) for name in names)
    seconds = max(1e-3, float(length[chosen].sum()) / 1e9)
    return _Rates(calls / seconds, (read + written) / seconds)


def _disk_wait(case: Case) -> float | None:
    """Share of the run in which something on the machine waited for a disk; None: not measured."""
    stalled = case.machine.counter_growth("stall_io_ns")
    return None if stalled is None else stalled / max(1, case.tree.wall_ns)


def _told(waits: float | None) -> str:
    if waits is None:
        return "how long the disk was waited for was not measured"
    return f"the disk was waited for {100 * waits:.0f} % of the time"
