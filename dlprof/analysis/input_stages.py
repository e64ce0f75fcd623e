"""What a thread does for the next batch, by the frames that it stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from enum import Enum, auto
from functools import lru_cache

from dlprof.analysis.stacks import Frame
from dlprof.schema.vocabulary import InputStage

Source = Callable[[str, int], str]
"""Text of a line of the user's code; empty: not known."""
ITEMS = frozenset({InputStage.READING, InputStage.DECODING, InputStage.MAKING, InputStage.COLLATING})
"""Work on batches."""
_TORCH_LOADER = "torch/utils/data/dataloader.py"
_GLUON_LOADER = "mxnet/gluon/data/dataloader.py"
_KERAS = ("data_adapters/py_dataset_adapter.py", "keras/utils/data_utils.py", "keras/src/utils/data_utils.py")
_FETCHES = (
    ("fetch", ("torch/utils/data/_utils/fetch.py",)),
    ("same_process_iter", (_GLUON_LOADER,)),
    ("_worker_fn", (_GLUON_LOADER,)),
    ("_thread_worker_fn", (_GLUON_LOADER,)),
    ("get_index", _KERAS),
    ("next_sample", _KERAS),
    ("_finite_generator", _KERAS),
    ("_infinite_generator", _KERAS),
)
"""Functions that ask the data set for a batch, and their files."""
_STARTS = (
    ("_shutdown_workers", (_TORCH_LOADER,)),
    ("__init__", (_TORCH_LOADER,)),
    ("_reset", (_TORCH_LOADER,)),
    ("_get_iterator", (_TORCH_LOADER,)),
    ("start", _KERAS),
    ("stop", _KERAS),
)
_PINS = (("", ("torch/utils/data/_utils/pin_memory.py",)),)
_ASKS = (("_next_data", (_TORCH_LOADER,)), ("__next__", (_GLUON_LOADER,)), ("get", _KERAS))
"""Functions that wait for a batch of a worker."""
_WORKER_LOOPS = (("_worker_loop", ("torch/utils/data/_utils/worker.py",)), ("worker", ("multiprocessing/pool.py",)))
_CACHED = 1 << 14
"""Functions, by their files: a program has a few thousand, in stacks of a hundred frames and more."""
_QUEUES = ("multiprocessing/queues.py", "multiprocessing/connection.py", "multiprocessing/synchronize.py", "/queue.py")
_UNPACKS = ("rebuild_", "loads", "_load", "recv_handle", "detach")
_PROCESS = ("multiprocessing/process.py", "multiprocess/process.py", "billiard/process.py")


class _Role(Enum):
    FETCHES = auto()
    PINS = auto()
    STARTS = auto()
    ASKS = auto()
    WORKS = auto()


_PLACES = (
    (_Role.FETCHES, _FETCHES),
    (_Role.PINS, _PINS),
    (_Role.STARTS, _STARTS),
    (_Role.ASKS, _ASKS),
    (_Role.WORKS, _WORKER_LOOPS),
)
"""The first that fits a function is its role."""
_COLLATE_FILE = "torch/utils/data/_utils/collate.py"
_READING_FILES = (
    "<python>/socket", "<python>/ssl", "<python>/http/", "<python>/urllib/", "requests/", "urllib3/", "h5py/",
    "lmdb/", "fsspec/", "s3fs/", "pyarrow/fs", "<python>/pathlib", "<python>/zipfile", "<python>/tarfile",
    "numpy/lib/npyio", "numpy/lib/_npyio_impl", "numpy/lib/format", "numpy/lib/_format_impl", "pandas/io/",
)  # fmt: skip
_DECODING_FILES = (
    "PIL/", "cv2/", "imageio/", "skimage/io/", "torchvision/io/", "torchaudio/", "librosa/", "soundfile",
    "<python>/gzip", "<python>/_compression", "<python>/bz2", "<python>/lzma", "<python>/json/", "<python>/pickle",
    "<python>/csv", "<python>/xml/",
)  # fmt: skip
_READS = re.compile(r"\b(open|read|readline|readlines|readinto|fromfile|imread|recv|urlopen|read_\w+|np\.load)\(")
_DECODES = re.compile(r"\b(imdecode|decode\w*|decompress\w*|loads|frombuffer|unpack\w*)\(")


def stage_of(frames: Sequence[Frame], collates: Collection[str], source: Source) -> InputStage | None:
    """What is being done; None: nothing of it is input.

    Args:
        frames: Innermost first.
        collates: Names of functions that make batches of items.
        source: Text of the lines of the user's code.
    """
    for place, frame in enumerate(frames):
        match _role(frame.function, frame.file):
            case None:
                continue
            case _Role.FETCHES:
                return _of_fetch(frames[:place], collates, source)
            case _Role.PINS:
                return InputStage.PINNING
            case _Role.STARTS:
                return InputStage.STARTING
            case _Role.ASKS:
                return _of_asking(frames[:place])
            case _Role.WORKS:
                return _of_worker(frames[:place])
    return None


def of_worker(frames: Sequence[Frame], *, is_main: bool) -> InputStage | None:
    """What a thread of a worker process does where it makes no batch; None: nothing that counts.

    Args:
        frames: Innermost first.
        is_main: It is called the main thread; one that was forked by another thread has that one's name.
    """
    if any(_name(frame) == "_feed" and "multiprocessing/queues" in frame.file for frame in frames):
        return InputStage.HANDING_OVER if "wait" not in frames[0].function else None
    return InputStage.STARTING if is_main or (frames and frames[-1].file.endswith(_PROCESS)) else None


def fetch_place(frames: Sequence[Frame]) -> int:
    """The place of the frame that asks the data set for a batch; what is before it is called by it."""
    roles = (_role(frame.function, frame.file) for frame in frames)
    return next((place for place, role in enumerate(roles) if role is _Role.FETCHES), len(frames))


@lru_cache(_CACHED)
def _role(function: str, file: str) -> _Role | None:
    """What a function does for batches; None: nothing, or nothing that is known."""
    name = function.rpartition(".")[2]
    for role, places in _PLACES:
        if any(wanted in ("", name) and file.endswith(files) for wanted, files in places):
            return role
    return None


def _name(frame: Frame) -> str:
    return frame.function.rpartition(".")[2]


def _of_fetch(inner: Sequence[Frame], collates: Collection[str], source: Source) -> InputStage:
    called = next((frame for frame in reversed(inner) if not _name(frame).startswith("<")), None)
    if called is not None and (called.file.endswith(_COLLATE_FILE) or _name(called) in collates):
        return InputStage.COLLATING
    for frame in inner:
        if frame.file.startswith(_READING_FILES):
            return InputStage.READING
        if frame.file.startswith(_DECODING_FILES):
            return InputStage.DECODING
    text = source(inner[0].file, inner[0].line) if inner else ""
    if _DECODES.search(text):
        return InputStage.DECODING
    return InputStage.READING if _READS.search(text) else InputStage.MAKING


def _of_asking(inner: Sequence[Frame]) -> InputStage:
    if any(_name(frame).startswith(_UNPACKS) for frame in inner):
        return InputStage.RECEIVING
    return InputStage.WAITING


def _of_worker(inner: Sequence[Frame]) -> InputStage:
    """Beside the work itself: a queue in which it takes its work, or into which it gives what it made."""
    if inner and not any(frame.file.endswith(_QUEUES) for frame in inner):
        return InputStage.STARTING
    names = {_name(frame) for frame in inner}
    return InputStage.HANDING_OVER if names & {"put", "_send", "send", "send_bytes"} else InputStage.RESTING
