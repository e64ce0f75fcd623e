"""What a thread does for the next batch."""

from __future__ import annotations

import pytest

from dlprof.analysis import input_stages
from dlprof.analysis.stacks import Frame
from dlprof.schema.vocabulary import InputStage
from tests.unit.analysis.findings.cases import Call
from tests.unit.analysis.findings.loading import ASKS, COLLATE, FETCH, REST

LOADER = "torch/utils/data/dataloader.py"
KERAS = "keras/src/trainers/data_adapters/py_dataset_adapter.py"
GLUON = "mxnet/gluon/data/dataloader.py"
ITEM: Call = ("Rows.__getitem__", "train.py", 9)
POOL: Call = ("worker", "<python>/multiprocessing/pool.py", 125)


def stage(calls: list[Call], text: str = "") -> InputStage | None:
    """The stage of frames, outermost first; `text`: of the innermost line."""
    frames = [Frame(*call) for call in reversed(calls)]
    return input_stages.stage_of(frames, {"pack"}, lambda _file, _line: text)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (FETCH, "making items"),
        (ASKS, "making items"),
        (COLLATE, "collating"),
        ([*FETCH[:-1], ("pack", "train.py", 9)], "collating"),
        ([*FETCH, ("load", "PIL/ImageFile.py", 9)], "decoding"),
        ([*FETCH, ("recv_into", "<python>/socket.py", 9)], "reading"),
        (REST, "waiting for work"),
        ([*FETCH[:2], ("Queue.put", "<python>/multiprocessing/queues.py", 94)], "handing over"),
        ([("_next_data", LOADER, 9), ("_try_get_data", LOADER, 9)], "waiting for a batch"),
        ([("_next_data", LOADER, 9), ("rebuild_storage_fd", "torch/multiprocessing/reductions.py", 9)], "receiving"),
        ([("_next_data", LOADER, 9), ("_shutdown_workers", LOADER, 9)], "starting and stopping"),
        ([("pin_memory", "torch/utils/data/_utils/pin_memory.py", 9)], "pinning"),
        ([POOL, ("get_index", KERAS, 9), ("__getitem__", "train.py", 9)], "making items"),
        ([POOL], "waiting for work"),
        ([("_finite_generator", KERAS, 9), ("__getitem__", "train.py", 9)], "making items"),
        ([("OrderedEnqueuer.get", KERAS, 9)], "waiting for a batch"),
        ([("DataLoader._prefetch_iter.<locals>.same_process_iter", GLUON, 9), ITEM], "making items"),
        ([POOL, ("_worker_fn", GLUON, 9), ITEM], "making items"),
        ([POOL, ("_worker_fn", GLUON, 9), ("pack", GLUON, 9)], "collating"),
        ([("_MultiWorkerIter.__next__", GLUON, 9), ("ApplyResult.get", POOL[1], 9)], "waiting for a batch"),
        ([("_MultiWorkerIter.__next__", GLUON, 9), ("rebuild_ndarray", GLUON, 9)], "receiving"),
        ([("<module>", "train.py", 9), ("step", "torch/optim/sgd.py", 9)], None),
    ],
)
def test_frames_tell_the_stage(calls: list[Call], expected: str | None) -> None:
    """Of PyTorch's loaders, of Gluon's, and of Keras'."""
    assert stage(calls) == expected


def test_the_text_of_a_line_tells_what_it_calls_in_c() -> None:
    """Where no frame of Python is inside of it."""
    assert stage(FETCH, "raw = open(path, 'rb').read()") == "reading"
    assert stage(FETCH, "image = cv2.imdecode(raw, 1)") == "decoding"


def test_a_thread_that_sends_is_at_work_only_while_it_does() -> None:
    """It waits for something to send, else."""
    feeds = Frame("Queue._feed", "<python>/multiprocessing/queues.py", 231)

    assert input_stages.of_worker([Frame("dumps", "reduction.py", 1), feeds], is_main=False) == "handing over"
    assert input_stages.of_worker([Frame("Condition.wait", "<python>/threading.py", 1), feeds], is_main=False) is None
