"""The names of processes that `multiprocessing` starts."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from multiprocessing import process as mp_process
from types import FunctionType, ModuleType

import pytest
from dlprof_probes.inproc.hooks import workers
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


@pytest.fixture
def attached(probe: Probe) -> Iterator[Probe]:
    """The probe with its hook on `multiprocessing`."""
    workers.attach(probe, mp_process)
    yield probe
    probe.patches.undo()


def nothing() -> None:
    """What a process is to do."""


def _worker_loop(dataset: object, worker_id: int, num_workers: int) -> None:
    """What a worker of an engine begins with."""


def test_a_process_is_noted_with_its_name(attached: Probe, out: Recorded) -> None:
    """When it has been started, with the number that it got."""
    started = multiprocessing.get_context("fork").Process(target=nothing, name="reader-3")
    started.start()
    started.join()

    assert out.stream().children == {started.pid: "reader-3"}


def test_a_worker_of_an_engine_has_the_engines_name(attached: Probe, out: Recorded) -> None:
    """With its number, which its function is given."""
    of_engine = FunctionType(_worker_loop.__code__, {"__name__": "torch.utils.data._utils.worker"}, "_worker_loop")
    of_engine.__module__ = "torch.utils.data._utils.worker"
    started = multiprocessing.get_context("fork").Process(target=of_engine, args=(None, 2, 4))
    started.start()
    started.join()

    assert list(out.stream().children.values()) == ["DataLoader worker 2"]


def test_a_process_that_cannot_be_started_is_not_noted(attached: Probe, out: Recorded) -> None:
    """The script sees what it sees without the probe."""
    started = multiprocessing.get_context("fork").Process(target=nothing)
    started.start()
    started.join()
    with pytest.raises(AssertionError, match="cannot start a process twice"):
        started.start()

    assert len(out.stream().children) == 1


def test_it_waits_until_the_module_is_whole() -> None:
    """An import may be at work in it."""
    assert not workers.ready({workers.MODULE: ModuleType(workers.MODULE)})
    assert workers.ready({workers.MODULE: sys.modules[workers.MODULE]})
