"""The training waits for files: many reads and writes, or flushes to the disk."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim
from dlprof.analysis.samples import Sample

_PHASES = ("fit/input", "fit/steps/input", "fit/callbacks", "script", "data")
_CALLS_PER_S, _BYTES_PER_S = 300.0, 20e6
"""More reads and writes, or bytes, per second than a training needs that has its data in memory."""
_IO_WAIT = 0.10
_FILE_WORDS = (
    "numpy/lib/", "pandas/io/", "h5py/", "PIL/", "<python>/gzip", "<python>/zipfile", "<python>/tarfile",
    "<python>/_compression", "<python>/pickle", "<python>/csv", "<python>/shutil", "<python>/pathlib",
)  # fmt: skip
_FILE_FUNCTIONS = {
    "open", "read", "readline", "readlines", "write", "flush", "fsync", "load", "loadtxt", "genfromtxt", "fromfile",
    "read_array", "save", "savez", "read_bytes", "read_text", "write_text", "write_bytes", "read_csv", "imread",
}  # fmt: skip


_SAVING = ("keras/src/saving/", "keras/saving/", "keras/engine/saving")
"""What Keras saves is a cause of its own."""


def look(case: Case) -> Iterator[Claim]:
    """The input or a callback is slow, and meanwhile the process reads and writes a lot, or the disk is waited for."""
    case.need_samples()
    rate = _rates(case)
    waits = _disk_wait(case)
    busy = rate["calls"] > _CALLS_PER_S or rate["bytes"] > _BYTES_PER_S
    if not busy and (waits or 0.0) < _IO_WAIT:
        return
    takes: dict[str, int] = {}
    for phase in ("fit/input", "fit/callbacks", "script", "data", "fit/steps"):
        share = case.sampled((phase,), lambda one: _in_file(case, one))
        if share:
            takes.update(case.takes(phase, share=min(1.0, share)))
    if not takes:
        return
    yield Claim(
        f"Reading and writing files holds the training up: {rate['calls']:,.0f} calls and {rate['bytes'] / 1e6:.1f} MB "
        f"per second, and {_told(waits)}: {{time}}, {{share}}.",
        takes,
        [
            (
                "reads and writes over time",
                "SELECT time_ns, read_bytes, write_bytes, io_calls FROM process_samples WHERE io_calls IS NOT NULL "
                "ORDER BY time_ns",
            ),
            ("stalls of the machine on its disks", "SELECT time_ns, stall_io_ns FROM machine ORDER BY time_ns"),
        ],
        "Read larger pieces and fewer files, keep the data in memory, read ahead (tf.data prefetch, workers), and "
        "flush less often.",
        case.hottest_user_line((*_PHASES, "fit/steps"), lambda one: _in_file(case, one)),
    )


def _in_file(case: Case, sample: Sample) -> bool:
    """Whether code of the user's own stands in work on a file: in a library for that, or in the call itself."""
    frame = case.user_frame(sample)
    if frame is None or not (case.is_called_back(sample) or sample.phase in ("script", "data")):
        return False
    if any(file.startswith(_SAVING) for _, file, _ in sample.frames):
        return False
    for function, file, line in sample.frames:
        if file in case.user_files:
            return _calls_a_file(case, file, line)
        if file.startswith(_FILE_WORDS) or function in _FILE_FUNCTIONS:
            return True
    return False


def _calls_a_file(case: Case, file: str, line: int) -> bool:
    """Whether the text of a line that stands there itself, in a call of C, is one on files."""
    return any(f"{name}(" in case.source(file, line) for name in _FILE_FUNCTIONS)


def _rates(case: Case) -> dict[str, float]:
    rows = case.process_samples("io_calls")
    if len(rows) < 2:
        raise Abstain("reads and writes were sampled less than twice during the training")
    seconds = max(1e-3, (rows[-1]["time_ns"] - rows[0]["time_ns"]) / 1e9)
    moved = sum(rows[-1][name] - rows[0][name] for name in ("read_bytes", "write_bytes"))
    return {"calls": (rows[-1]["io_calls"] - rows[0]["io_calls"]) / seconds, "bytes": moved / seconds}


def _disk_wait(case: Case) -> float | None:
    """Share of the run in which something on the machine waited for a disk; None: not measured."""
    stalled = case.machine_growth("stall_io_ns")
    return None if stalled is None else stalled / max(1, case.tree.wall_ns)


def _told(waits: float | None) -> str:
    if waits is None:
        return "how long the disk was waited for was not measured"
    return f"the disk was waited for {100 * waits:.0f} % of the time"
