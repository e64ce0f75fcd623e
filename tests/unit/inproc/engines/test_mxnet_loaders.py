"""Gluon's loaders."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
from dlprof_probes.inproc.engines import mxnet_loaders
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import HERE, Clock, Recorded


class Rows:
    """A data set."""


class Block:
    """As Gluon's."""

    def __call__(self, _rows: object) -> None:
        """Nothing is computed."""


class Autograd:
    """Stands for `mxnet.autograd`."""

    is_on = False

    @staticmethod
    def set_recording(is_on: bool) -> None:
        """Gradients are to be taken of what is done, or not."""
        Autograd.is_on = is_on

    @staticmethod
    def is_recording() -> bool:
        """Whether they are."""
        return Autograd.is_on


def watched(probe: Probe) -> None:
    """Hook the classes of this file, which are as they were when the probe ends."""
    gluon = SimpleNamespace(data=SimpleNamespace(DataLoader=DataLoader), Block=Block)
    mxnet_loaders.watch(SimpleNamespace(probe=probe), gluon, Autograd)


def batchify(items: list[int]) -> list[int]:
    """Makes a batch."""
    return items


class DataLoader:
    """As Gluon's: its iterator is a generator."""

    def __init__(self, now: Clock, num_workers: int = 0) -> None:
        self._now = now
        self._num_workers = num_workers
        self._dataset = Rows()
        self._batch_sampler = SimpleNamespace(_batch_size=8)
        self._batchify_fn = batchify
        self._prefetch = 2 * num_workers
        self._thread_pool = False

    def __iter__(self) -> Iterator[int]:
        for number in range(3):
            self._now.ns += 10
            yield number


def test_a_pass_is_told_with_its_waits_and_the_loaders_line(probe: Probe, out: Recorded, now: Clock) -> None:
    """Two workers make four batches ahead."""
    watched(probe)
    loader = DataLoader(now, num_workers=2)
    assert list(loader) == [0, 1, 2]

    (told,) = out.stream().passes
    assert (told.kind, told.dataset, told.items, told.waited_ns) == ("Gluon DataLoader", "Rows", 3, 30)
    assert (told.workers, told.queue, told.queue_per_worker, told.batch_size) == (2, 4, False, 8)
    assert (told.uses_processes, told.collate, told.file.startswith(HERE)) == (True, "batchify", True)


def test_without_workers_nothing_is_made_ahead(probe: Probe, out: Recorded, now: Clock) -> None:
    """The thread that asks does the work."""
    watched(probe)
    for _ in DataLoader(now):
        break

    (told,) = out.stream().passes
    assert (told.workers, told.queue, told.persistent, told.items) == (0, None, None, 1)


def evaluations(out: Recorded) -> int:
    """How many the stream has."""
    return sum(span.kind == "evaluate" for span in out.stream().spans.values())


def test_a_pass_in_which_a_block_is_called_and_nothing_is_recorded_evaluates(
    probe: Probe, out: Recorded, now: Clock
) -> None:
    """Where a script tests what it trains."""
    watched(probe)
    for number in DataLoader(now):
        Block()(number)

    assert evaluations(out) == 1


def test_a_pass_that_is_recorded_trains(probe: Probe, out: Recorded, now: Clock) -> None:
    """Its gradients may be added up, to be used after it."""
    watched(probe)
    for number in DataLoader(now):
        Autograd.set_recording(True)
        Block()(number)
        Autograd.set_recording(False)

    assert evaluations(out) == 0


def test_a_pass_without_a_block_only_looks_at_data(probe: Probe, out: Recorded, now: Clock) -> None:
    """As for the mean of its columns."""
    watched(probe)
    assert sum(DataLoader(now)) == 3

    assert evaluations(out) == 0


def test_blocks_that_are_called_with_a_growing_input_are_told_unless_gradients_are_recorded(
    probe: Probe, out: Recorded
) -> None:
    """A text of 30 words is written, and one is trained with."""
    watched(probe)
    block = Block()
    Autograd.set_recording(True)
    for length in range(1, 31):
        block(np.zeros((1, length)))
    Autograd.set_recording(False)
    for length in range(1, 31):
        block(np.zeros((1, length)))
    probe.growing.finish()

    assert [name for kind, name in out.names() if kind == "growing_input"] == ["Block"]


def test_time_is_first_where_a_recurrent_layer_in_a_block_says_so() -> None:
    """By its layout."""
    layers = {layout: SimpleNamespace(_layout=layout) for layout in ("TNC", "NTC")}
    blocks = {layout: SimpleNamespace(_children={"0": Block(), "1": one}) for layout, one in layers.items()}

    assert mxnet_loaders.is_time_first(blocks["TNC"])
    assert not mxnet_loaders.is_time_first(blocks["NTC"])
