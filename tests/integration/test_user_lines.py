"""Every line of the user's code is in the table of lines, whoever calls it: counted, or from samples and marked so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.measured]  # what is sampled hangs on when the sampler is let in

MODEL = """
import time
import numpy as np
import keras

class Scale(keras.layers.Layer):
    def call(self, x):
        time.sleep(0.3)  # layer
        return x * 2

class Near(keras.metrics.Metric):
    def __init__(self):
        super().__init__()
        self.total = self.add_variable((), "zeros")
    def update_state(self, y, predicted, sample_weight=None):
        time.sleep(0.3)  # metric
        self.total.assign(keras.ops.add(self.total, 1.0))
    def result(self):
        return self.total.value

def loss(y, predicted):
    time.sleep(0.3)  # loss
    return keras.ops.mean((y - predicted) ** 2)

def batch():
    time.sleep(0.1)  # batch
    return np.ones((4, 8), "float32"), np.zeros((4, 1), "float32")

def unused():
    return 1

model = keras.Sequential([keras.layers.Input((8,)), Scale(), keras.layers.Dense(1)])
model.compile("sgd", loss, metrics=[Near()])
batch()
"""
DATA_SET = """
class Data(keras.utils.PyDataset):
    def __len__(self):
        return 5
    def __getitem__(self, index):
        return batch()  # data set

model.fit(Data(), epochs=2, verbose=0)
"""
GENERATOR = """
def batches():
    while True:
        yield batch()  # generator

model.fit(batches(), steps_per_epoch=10, epochs=2, verbose=0)
"""
FROM_GENERATOR = """
import tensorflow as tf

def rows():
    for _ in range(12):
        yield batch()  # from_generator

def shifted(x):
    time.sleep(0.05)  # numpy_function
    return x + 1

shapes = (tf.TensorSpec((4, 8), "float32"), tf.TensorSpec((4, 1), "float32"))
data = tf.data.Dataset.from_generator(rows, output_signature=shapes)
data = data.map(lambda x, y: (tf.ensure_shape(tf.numpy_function(shifted, [x], tf.float32), (4, 8)), y))
model.fit(data, epochs=2, verbose=0)
"""
LOADER = """
import torch

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 20
    def __getitem__(self, index):
        time.sleep(0.02)  # data set
        return np.ones(8, "float32"), np.zeros(1, "float32")

def together(rows):
    time.sleep(0.1)  # collate
    return tuple(torch.as_tensor(np.stack(column)) for column in zip(*rows))

model.fit(torch.utils.data.DataLoader(Rows(), batch_size=4, num_workers=0, collate_fn=together), verbose=0)
"""
INNER = ("layer", "metric", "loss")


def lines(folder: Path, text: str, backend: str) -> dict[str, list[dict[str, Any]]]:
    """The lines of a script on a backend, by the remark behind them."""
    (folder / "train.py").write_text(MODEL + text)
    done = runner.trace("train.py", "--backend", backend, cwd=folder)
    assert done.code == 0, done.err
    rows = runner.asked("lines", "run", cwd=folder)
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if "  # " in (row["source"] or "") and (row["hits"] or row["samples"]):
            found.setdefault(row["source"].partition("  # ")[2], []).append(row)
    return found


def blamed(folder: Path) -> set[tuple[str, int]]:
    """Lines that the diagnosis names, by file and number."""
    content = runner.asked("diagnose", "run", cwd=folder)
    return {(one["file"], one["line"]) for one in content["findings"] if one["file"]}


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_a_data_set_layers_losses_and_metrics_are_there(backend: str, tmp_path: Path) -> None:
    """On Python 3.11 Keras calls them where lines are not counted: they are from samples, without hits."""
    found = lines(tmp_path, DATA_SET, backend)

    assert {"data set", *INNER} <= set(found)
    assert [(row["how"], row["hits"]) for name in ("data set", *INNER) for row in found[name]] == [
        ("sampled", None)
    ] * 4
    assert all(row["samples"] >= 1 and row["error_ns"] > 0 for name in INNER for row in found[name])


def test_a_function_that_the_script_calls_too_is_counted_there_and_sampled_elsewhere(tmp_path: Path) -> None:
    """The one call by the script has 1 hit; those of Keras are beside it, and are not counted twice."""
    found = lines(tmp_path, DATA_SET, "jax")

    counted, sampled = sorted(found["batch"], key=lambda row: row["how"])
    assert (counted["how"], counted["hits"], sampled["how"], sampled["hits"]) == ("exact", 1, "sampled", None)
    assert 0.1e9 <= counted["time_ns"] < 0.5e9
    assert sampled["time_ns"] > 0.5e9


def test_what_counting_costs_is_not_looked_at_inside_keras(tmp_path: Path) -> None:
    """One long call before fit has dlprof look at what counting costs; counting would go on in Keras after that."""
    found = lines(tmp_path, f"sum(range(20_000_000))\n{DATA_SET}", "jax")

    assert [row["how"] for row in found["data set"]] == ["sampled"]


def test_no_hit_is_lost_where_dlprof_looks_at_what_counting_costs(tmp_path: Path) -> None:
    """It does so now and then: here while `nap` sleeps."""
    script = """
    import time

    def nap():
        time.sleep(0.1)  # nap

    for _ in range(10):
        nap()  # call
        sum(range(500_000))  # work
    """
    runner.write(tmp_path, "busy.py", script)
    assert runner.trace("busy.py", cwd=tmp_path).code == 0

    rows = runner.asked("lines", "run", cwd=tmp_path)

    hits = {row["source"].partition("  # ")[2]: (row["how"], row["hits"]) for row in rows if "  # " in row["source"]}
    assert hits == {"nap": ("exact", 10), "call": ("exact", 10), "work": ("exact", 10)}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[dict[str, Any]]]]:
    """The folder of a training on a generator, and its lines by their remarks."""
    folder = tmp_path_factory.mktemp("generated")
    return folder, lines(folder, GENERATOR, "jax")


def test_what_was_neither_counted_nor_seen_is_named(generated: tuple[Path, Any]) -> None:
    """In the health section."""
    rows = runner.sql(generated[0], "SELECT message FROM health WHERE slug = 'lines-unseen'")
    assert "unused (train.py:" in rows[0]["message"]


def test_every_line_that_the_diagnosis_blames_is_in_the_table(generated: tuple[Path, Any]) -> None:
    """And it blames the input."""
    folder, found = generated
    known = {(row["file"], row["line"]) for row in runner.sql(folder, "SELECT file, line FROM lines WHERE time_ns > 0")}

    assert blamed(folder)
    assert blamed(folder) <= known
    assert {row["how"] for row in found["generator"]} == {"sampled"}


def test_code_that_tf_data_calls_is_there(tmp_path: Path) -> None:
    """On threads of TensorFlow, which Python does not know; for about as long as it ran."""
    found = lines(tmp_path, FROM_GENERATOR, "tensorflow")

    assert {row["how"] for name in ("from_generator", "numpy_function") for row in found[name]} == {"sampled"}
    sampled = sum(row["time_ns"] for row in found["from_generator"])
    # 24 times 0.1 s, after which the same threads run `shifted`, 24 times 0.05 s. The probe says for how long all of it
    # ran; which of the two it was is the sampler's to say, which looks seldom where no core is free.
    assert 0.3e9 < sampled < 9e9


def test_a_loader_of_pytorch_is_there(tmp_path: Path) -> None:
    """Its data set and its collate function, on the main thread inside of fit."""
    found = lines(tmp_path, LOADER, "torch")

    assert {row["how"] for name in ("data set", "collate") for row in found[name]} == {"sampled"}
