"""Trainings on other threads than the main one: their phases, steps, stacks and causes are told as those of any."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

PYTORCH = """
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 1600

    def __getitem__(self, index):
        time.sleep(0.0005)
        return torch.ones(32)


def train():
    model = torch.nn.Linear(32, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for batch in DataLoader(Rows(), batch_size=32):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    print("trained")


for _ in range(2):
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
"""
KERAS = """
import asyncio

import keras
import numpy as np


def trial(units):
    x = np.ones((2048, 16), "float32")
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(units), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, x[:, :1], batch_size=32, epochs=2, verbose=0)
    model.evaluate(x, x[:, :1], verbose=0)


async def search():
    for units in (8, 16):
        await asyncio.to_thread(trial, units)
    print("searched")


asyncio.run(search())
"""
SHORT_LIVED = """
import threading

import torch


def train(steps):
    model, x = torch.nn.Linear(16, 1), torch.ones(32, 16)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


for steps in [2, 5, 8] * 10:
    thread = threading.Thread(target=train, args=(steps,))
    thread.start()
    thread.join()
threads = [threading.Thread(target=train, args=(200,)) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("trained", threading.active_count())
"""

DAEMON = """
import queue
import sys
import threading
import time

import torch


def train():
    model, x = torch.nn.Linear(64, 64), torch.ones(256, 64)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(int(sys.argv[1])):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        time.sleep(0.01)
    trained.set()
    queue.Queue().get()


trained = threading.Event()
threading.Thread(target=train, daemon=True).start()
trained.wait()
print("trained")
"""


def test_a_loop_of_pytorch_has_its_phases_on_any_thread(tmp_path: Path) -> None:
    """Two threads that Python gave one number in turn; what is lost in their steps is found where it is."""
    runner.write(tmp_path, "train.py", PYTORCH)
    done = runner.trace("train.py", "--backend", "torch", cwd=tmp_path)

    content = runner.report(tmp_path)
    assert (done.code, done.out) == (0, "trained\ntrained\n")
    assert [one["thread"] for one in content["phase_threads"]] == ["Thread-1 (train)", "Thread-2 (train)"]
    assert content["steps"]["count"] == 100
    assert runner.phases(content)["fit.input"] > 0.5 * runner.phases(content)["fit"]
    assert "trained-on-thread" not in {line["slug"] for line in content["health"]}
    first = runner.asked("diagnose", "run", "--json", cwd=tmp_path)["findings"][0]
    assert (first["slug"], first["line"]) == ("too-few-workers", 21)
    (ran,) = runner.sql(tmp_path, "SELECT max(main_run_ns) / max(run_ns) AS share FROM process_samples")
    assert ran["share"] > 0.3  # of all threads that are there: one that has ended is not in it


def test_keras_has_its_phases_on_any_thread(tmp_path: Path) -> None:
    """Models are made, compiled, fitted and evaluated where `asyncio` does what would keep its loop."""
    runner.write(tmp_path, "train.py", KERAS)
    done = runner.trace("train.py", "--backend", "jax", cwd=tmp_path)

    content = runner.report(tmp_path)
    assert (done.code, done.out) == (0, "searched\n")
    assert {one["thread"] for one in content["phase_threads"]} <= {"asyncio_0", "asyncio_1"}
    found = runner.phases(content)
    assert min(found[name] for name in ("construct", "compile", "fit", "fit.graph_compile", "evaluate")) > 0
    assert found["script"] < found["fit"]
    assert (
        sum(one["dur_ns"] for one in content["phases"] if one["parent"] is None) + content["unattributed_ns"]
        == content["wall_ns"]
    )


def test_threads_that_end_in_a_kernel_window_end_as_without_dlprof(tmp_path: Path) -> None:
    """The profiler of PyTorch is of a thread, and takes the process with it where that ends before it does."""
    runner.write(tmp_path, "train.py", SHORT_LIVED)
    done = runner.trace("train.py", "--backend", "torch", cwd=tmp_path)

    content = runner.report(tmp_path)
    assert (done.code, done.out) == (0, "trained 1\n")
    assert content["steps"]["count"] == 750
    (fits,) = runner.sql(tmp_path, "SELECT count(*) AS trainings FROM spans WHERE kind = 'fit'")
    assert fits["trainings"] == 33
    assert "kernels-failed" not in {line["slug"] for line in content["health"]}


@pytest.mark.parametrize(("steps", "windows"), [(9, 0), (60, 1)])
def test_a_daemon_has_a_kernel_window_and_ends_with_its_process(tmp_path: Path, steps: int, windows: int) -> None:
    """In the first case the process ends in the middle of it, while the thread waits for work that never comes."""
    runner.write(tmp_path, "train.py", DAEMON)
    done = runner.trace("train.py", "--backend", "torch", "--", str(steps), cwd=tmp_path)

    assert (done.code, done.out) == (0, "trained\n")
    (told,) = runner.sql(tmp_path, "SELECT count(*) AS windows FROM kernel_windows")
    assert told["windows"] == windows
    assert runner.report(tmp_path)["steps"]["count"] == steps
