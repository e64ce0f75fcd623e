"""Loaders of PyTorch and Keras with slow items: findings about their workers, and what other settings save."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

DATA_LOADER = """
    import sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Slow(Dataset):
        def __len__(self):
            return 120

        def __getitem__(self, index):
            time.sleep(0.03)
            return torch.zeros(4), torch.zeros(1)

    if __name__ == "__main__":
        net = torch.nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        loader = DataLoader(Slow(), batch_size=4, num_workers=int(sys.argv[1]))
        for epoch in range(2):
            for x, y in loader:
                opt.zero_grad()
                ((net(x) - y) ** 2).mean().backward()
                opt.step()
"""
PY_DATASET = """
    import time
    import numpy as np
    import keras

    class Slow(keras.utils.PyDataset):
        def __len__(self):
            return 30

        def __getitem__(self, index):
            time.sleep(0.15)
            return np.zeros((8, 4), "float32"), np.zeros((8, 1), "float32")

    if __name__ == "__main__":
        data = Slow(workers=2)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(data, epochs=2, verbose=0)
"""


def test_sleeping_items_without_workers_are_found_and_workers_save_time(tmp_path: Path) -> None:
    """The lines of the loader and of the items; --confirm runs it with workers, and the training is shorter."""
    runner.write(tmp_path, "load.py", DATA_LOADER)

    done = runner.trace("load.py", "--backend", "torch", "--", "0", cwd=tmp_path)

    assert done.code == 0, done.err
    found = {one["slug"]: one for one in runner.report(tmp_path)["findings"]}
    assert (found["too-few-workers"]["file"], found["too-few-workers"]["line"]) == ("load.py", 17)
    assert "load.py:11" in found["too-few-workers"]["claim"]
    tried = runner.run([*runner.DLPROF, "diagnose", "run", "--confirm", "--yes"], cwd=tmp_path)
    assert tried.code == 0, tried.err
    trials = json.loads((tmp_path / "run/confirm/trials.json").read_text())
    assert {one["slug"]: one["failed"] for one in trials}["too-few-workers"] is None
    for number in (1, 2, 3):
        query = "SELECT max(workers) AS workers FROM loaders"
        changed = runner.sql(tmp_path, query, f"run/confirm/too-few-workers-{number:03d}")
        assert changed[0]["workers"] > 1


def test_workers_are_seen_with_their_stages_and_lines(tmp_path: Path) -> None:
    """Two of them make all items."""
    runner.write(tmp_path, "load.py", DATA_LOADER)

    done = runner.trace("load.py", "--backend", "torch", "--", "2", cwd=tmp_path)

    assert done.code == 0, done.err
    (pipeline,) = runner.report(tmp_path)["input_pipelines"]
    loader = pipeline["loader"]
    assert (loader["kind"], loader["dataset"], loader["workers"], loader["line"]) == ("DataLoader", "Slow", 2, 17)
    assert [one["items"] for one in loader["passes"]] == [30, 30]
    assert len(loader["processes"]) == 4
    assert [one["lines"][0]["line"] for one in pipeline["workers"]] == [11, 11]
    assert "making items" in {stage["stage"] for stage in pipeline["workers"][0]["stages"]}


@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_threads_of_keras_are_workers_too(tmp_path: Path, backend: str) -> None:
    """On each engine; the line is that of the data set."""
    runner.write(tmp_path, "fit.py", PY_DATASET)

    done = runner.trace("fit.py", "--backend", backend, cwd=tmp_path)

    assert done.code == 0, done.err
    (pipeline,) = runner.report(tmp_path)["input_pipelines"]
    loader = pipeline["loader"]
    assert (loader["kind"], loader["line"], loader["uses_processes"]) == ("PyDataset", 14, False)
    assert pipeline["workers"][0]["lines"][0]["line"] == 10
