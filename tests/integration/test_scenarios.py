"""The scenarios on the backends: each workload on at least two, each backend with at least one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlprof.backends import registry
from dlprof.launch import environments
from tests.integration import runner
from tests.integration.backends import impossible

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LSTM = ("--samples", "128", "--tokens", "20", "--words", "500", "--embedding", "16", "--units", "16", "--epochs", "2")
SMALL = {
    "mlp": ("--samples", "512", "--epochs", "2"),
    "cnn": ("--samples", "256", "--epochs", "2", "--batch-size", "32"),
    "cifar": ("--samples", "128", "--epochs", "2", "--batch-size", "32"),
    "lstm": LSTM,
    "resnet50": ("--samples", "8", "--image-size", "32", "--batch-size", "4"),
    "lenet": ("--samples", "30"),
    "delays": ("--samples", "512", "--epochs", "4", "--every", "2"),
    "transformer": ("--samples", "128", "--epochs", "2"),
}
PAIRS = [
    ("tensorflow", "cnn"), ("tensorflow", "resnet50"), ("tensorflow", "lenet"),
    ("jax", "lstm"), ("jax", "delays"),
    ("torch", "cifar"), ("torch", "lenet"), ("torch", "transformer"), ("torch", "resnet50"),
    ("mxnet", "cnn"), ("mxnet", "cifar"), ("mxnet", "lstm"), ("mxnet", "delays"),
    ("tensorflow", "transformer"),
    ("theano", "mlp"),
    ("openvino", "mlp"), ("openvino", "cnn"),
    ("tensorflow1", "mlp"), ("tensorflow1", "lstm"),
    ("cntk", "mlp"), ("cntk", "cifar"),
    *[(name, "mlp") for name in ("native-tensorflow", "native-tensorflow1", "native-jax", "native-torch", "native-gluon",
                                 "native-chainer", "native-cntk", "native-theano", "native-lasagne")],
]  # fmt: skip
KERAS = ("tensorflow", "jax", "torch", "mxnet", "theano", "tensorflow1", "cntk")
"""Backends that train."""
NATIVE = {
    "native-tensorflow": "conv_2",
    "native-tensorflow1": "conv_2",
    "native-jax": "conv_2",
    "native-torch": "conv_2",
    "native-gluon": "conv1",
    "native-chainer": "conv_2",
    "native-cntk": "conv_2",
    "native-theano": None,
    "native-lasagne": None,
}
"""Frameworks without Keras, and what the second convolution is called in their traces."""

ENV = {"OMP_NUM_THREADS": "1"}
"""With more threads than free cores, CNTK gets many times slower."""

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]


def scenario(folder: Path, backend: str, name: str, *arguments: str) -> runner.Result:
    """Trace a scenario in a small size; what is given more wins."""
    mode = ("--mode", "infer") if backend == "openvino" else ()
    script = str(SCENARIOS / f"{name}.py")
    return runner.trace(script, "--backend", backend, "--", *SMALL[name], *mode, *arguments, cwd=folder, env=ENV)


@pytest.mark.parametrize(("backend", "name"), PAIRS)
def test_a_scenario_runs_with_a_whole_report(backend: str, name: str, tmp_path: Path) -> None:
    """The right loop has steady steps, its layers are named, and the time is accounted for."""
    done = scenario(tmp_path, backend, name)

    assert done.code == 0, done.err
    content = runner.report(tmp_path)
    assert content["backend"] == backend
    loops = {loop["loop"]: loop for loop in content["step_summaries"]}
    wanted = "predict" if backend == "openvino" or name == "lenet" else "train"
    assert loops[wanted]["count"] >= 2
    found = runner.phases(content)
    assert found["construct"] > 0
    assert content["unattributed_ns"] <= 0.005 * content["wall_ns"]
    assert sum(p["dur_ns"] for p in content["phases"] if p["parent"] is None) <= content["wall_ns"]


def losses(out: str) -> list[float]:
    """What a scenario printed of its epochs."""
    return [float(value) for value in re.findall(r"epoch \d+ loss ([\d.]+)", out)]


@pytest.mark.parametrize("backend", KERAS[1:])
def test_the_first_epoch_has_the_same_loss_on_every_backend(
    backend: str, tmp_path: Path, first_losses: dict[str, list[float]]
) -> None:
    """LeNet with plain SGD, the same weights and order of data: to a thousandth of the loss."""
    assert first_losses[backend][0] == pytest.approx(first_losses["tensorflow"][0], rel=1e-3)


@pytest.fixture(scope="session")
def first_losses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """Losses of LeNet by backend, without dlprof."""
    found = {}
    for backend in (name for name in KERAS if impossible(name) is None):
        folder = tmp_path_factory.mktemp(backend)
        environment = environments.ensure(registry.get(backend), report=print)
        spec = registry.get(backend)
        env = {**ENV, **spec.environment, "KERAS_BACKEND": spec.keras_backend, "KERAS_HOME": str(folder)}
        command = [str(environment.python), str(SCENARIOS / "lenet.py"), "--mode", "train", "--samples", "256"]
        done = runner.run([*command, "--batch-size", "64", "--epochs", "1"], cwd=folder, env=env)
        assert done.code == 0, done.err
        found[backend] = losses(done.out)
    return found


@pytest.mark.parametrize("backend", NATIVE)
def test_a_model_without_keras_has_phases_steps_kernels_and_the_loss_of_keras(
    backend: str, tmp_path: Path, first_losses: dict[str, list[float]]
) -> None:
    """By its marks and the tracer of its framework; the same weights and order of data give the same loss."""
    arguments = ("--mode", "train", "--samples", "256", "--batch-size", "64", "--epochs", "1")
    script = str(SCENARIOS / "lenet.py")
    done = runner.trace(script, "--backend", backend, "--", *arguments, cwd=tmp_path, env=ENV)

    assert done.code == 0, done.err
    assert losses(done.out)[0] == pytest.approx(first_losses["tensorflow"][0], rel=1e-3)
    content = runner.report(tmp_path)
    assert (content["backend"], content["keras_version"]) == (backend, None)
    assert {loop["loop"]: loop["count"] for loop in content["step_summaries"]} == {"train": 4, "test": 4}
    found = runner.phases(content)
    assert found["construct"] > 0 and found["data"] > 0 and found["fit.steps"] > 0
    assert content["unattributed_ns"] <= 0.005 * content["wall_ns"]
    if NATIVE[backend] is not None:
        layers = {row["layer"] for row in runner.sql(tmp_path, "SELECT DISTINCT layer FROM kernels")}
        assert NATIVE[backend] in layers


@pytest.mark.parametrize(
    ("backend", "wanted"),
    [
        ("tensorflow1", {("dense_1", "forward"), ("dense_1", "backward"), ("rm_sprop", "update")}),
        ("cntk", {("dense_1", "forward"), ("dense_1", "backward"), ("rm_sprop", "update")}),
        ("openvino", {("dense_1", "forward"), ("dense_3", "forward")}),
    ],
)
def test_a_run_under_the_tracer_gives_what_it_gives_without(
    backend: str, wanted: set[tuple[str, str]], tmp_path: Path
) -> None:
    """To the digit; and kernels have the names of layers."""
    mode = "infer" if backend == "openvino" else "train"
    arguments = ("--samples", "2048", "--epochs", "1", "--no-dropout", "--mode", mode)
    done = runner.trace(str(SCENARIOS / "mlp.py"), "--backend", backend, "--", *arguments, cwd=tmp_path, env=ENV)
    spec = registry.get(backend)
    env = {**ENV, "KERAS_BACKEND": spec.keras_backend, "KERAS_HOME": str(tmp_path)}
    python = environments.ensure(spec, report=print).python
    bare = runner.run([str(python), str(SCENARIOS / "mlp.py"), *arguments], cwd=tmp_path, env=env)

    assert (done.code, bare.code) == (0, 0), done.err
    lines = [[line for line in out.splitlines() if not line.startswith(" - ")] for out in (done.out, bare.out)]
    assert lines[0] == lines[1]
    found = runner.sql(tmp_path, "SELECT DISTINCT layer, direction FROM kernels")
    assert wanted <= {(row["layer"], row["direction"]) for row in found}


def test_a_shorter_last_batch_is_a_recompilation_with_its_cause(tmp_path: Path) -> None:
    """On JAX: argument, shapes, and the line of the script that called fit."""
    script = runner.write(
        tmp_path,
        "train.py",
        """
        import numpy as np
        import keras

        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="softmax")])
        model.compile("sgd", "categorical_crossentropy")
        model.fit(np.ones((20, 4), "float32"), np.ones((20, 2), "float32"), batch_size=16, epochs=2, verbose=0)
    """,
    )
    done = runner.trace(str(script), "--backend", "jax", cwd=tmp_path)

    assert done.code == 0, done.err
    found = [one for one in runner.report(tmp_path)["recompilations"] if one["function"] == "train_step"]
    assert [(one["count"], one["argument"], one["what"], one["before"], one["now"]) for one in found] == [
        (1, "data[0]", "shape", "float32[16,4]", "float32[4,4]")
    ]
    assert (found[0]["file"], found[0]["line"]) == ("train.py", 7)


def test_retracing_is_told_by_shape_dtype_and_value(tmp_path: Path) -> None:
    """Of a tf.function of the user's own."""
    script = runner.write(
        tmp_path,
        "train.py",
        """
        import keras
        import tensorflow as tf

        @tf.function
        def total(x, n=1):
            return tf.reduce_sum(x) * tf.cast(n, x.dtype)

        total(tf.ones((2, 3)))
        total(tf.ones((5, 3)))
        total(tf.ones((5, 3)), n=2)
        total(tf.ones((5, 3), tf.float64))
    """,
    )
    done = runner.trace(str(script), "--backend", "tensorflow", cwd=tmp_path)

    assert done.code == 0, done.err
    found = [one for one in runner.report(tmp_path)["recompilations"] if one["function"] == "total"]
    assert sorted((one["what"], one["argument"], one["line"]) for one in found) == [
        ("dtype", "x", 12),
        ("shape", "x", 10),
        ("value", "n", 11),
    ]


def test_theano_compiles_when_it_makes_its_step_function(tmp_path: Path) -> None:
    """That is where theano.function runs; the first step then takes no longer than that."""
    done = scenario(tmp_path, "theano", "delays")

    assert done.code == 0, done.err
    found = runner.phases(runner.report(tmp_path))
    assert found["fit.graph_compile"] > 10 * found["fit.build"]


def test_openvino_refuses_to_train_before_any_work(tmp_path: Path) -> None:
    """One line that says what to do."""
    done = runner.trace(str(SCENARIOS / "cnn.py"), "--backend", "openvino", cwd=tmp_path)

    assert done.code == 2
    assert "Keras on OpenVINO cannot train: use --mode infer" in done.err


def test_a_transformer_needs_keras_3(tmp_path: Path) -> None:
    """Keras 2 has no attention layers."""
    done = runner.trace(str(SCENARIOS / "transformer.py"), "--backend", "mxnet", cwd=tmp_path)

    assert done.code == 1
    assert "error: transformer.py needs Keras 3" in done.err


def bad_data(folder: Path, kind: str) -> Path:
    """A data file that is not what it should be."""
    path = folder / "data.npz"
    rows, labels = np.zeros((4, 28, 28), "float32"), np.zeros(4, "int64")
    if kind == "missing":
        return path
    if kind == "pickled":
        np.savez(path, x_train=np.array([{}] * 4, dtype=object), y_train=labels)
    elif kind == "text":
        path.write_text("x")
    else:
        content: dict[str, Any] = {
            "shape": {"x_train": rows[:, :20], "y_train": labels},
            "nan": {"x_train": rows * np.nan, "y_train": labels},
            "labels": {"x_train": rows, "y_train": labels + 10},
            "names": {"x": rows, "y": labels},
        }[kind]
        np.savez(path, **content)
    return path


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("missing", "there is no file"),
        ("pickled", "pickled data is not read"),
        ("text", "not an .npz file of plain arrays"),
        ("shape", "wanted rows of (28, 28, 1)"),
        ("nan", "values that are not finite"),
        ("labels", "whole numbers from 0 to 9"),
        ("names", "x_train"),
    ],
)
def test_bad_data_is_refused_with_one_line(kind: str, words: str, tmp_path: Path) -> None:
    """And never unpickled."""
    path = bad_data(tmp_path, kind)
    spec = registry.get("mxnet")
    python = environments.ensure(spec, report=print).python
    env = {"KERAS_BACKEND": "mxnet", "KERAS_HOME": str(tmp_path)}
    done = runner.run([str(python), str(SCENARIOS / "mlp.py"), "--data", str(path)], cwd=tmp_path, env=env)

    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: ")
    assert words in done.err.splitlines()[-1]
