"""Real training on the real backends, in their managed environments (made on first use)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dlprof.backends import registry
from dlprof.launch import environments
from tests.integration import runner

BACKENDS = ("tensorflow", "jax", "torch", "mxnet")
SMALL = ("--samples", "1024", "--epochs", "2", "--batch-size", "128")

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]


@pytest.fixture(scope="session")
def pythons() -> dict[str, Path]:
    """Interpreter of each backend's environment."""
    return {name: environments.ensure(registry.get(name), report=print).python for name in BACKENDS}


@pytest.fixture(scope="session", params=BACKENDS)
def mlp(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pythons: dict[str, Path]
) -> dict[str, Any]:
    """One run of scenarios/mlp.py on a backend, and one of the same script without dlprof."""
    folder = tmp_path_factory.mktemp(request.param)
    script = str(Path(__file__).parents[2] / "scenarios" / "mlp.py")
    env = {"KERAS_BACKEND": request.param, "KERAS_HOME": str(folder / "home"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    bare = runner.run([str(pythons[request.param]), script, *SMALL], cwd=folder, env=env)
    # So short a run has room for one window within the budget; all that there is to be seen is looked at here.
    traced = runner.trace(script, "--backend", request.param, "--budget", "off", "--", *SMALL, cwd=folder)
    return {"backend": request.param, "folder": folder, "bare": bare, "traced": traced, "script": script}


def test_results_are_the_same_with_and_without_dlprof(mlp: dict[str, Any]) -> None:
    """Same seed, same losses to the last digit, and a script that learns."""

    def losses(text: str) -> list[str]:
        return re.findall(r"(?:epoch \d+|final) loss .*", text)

    assert mlp["traced"].code == 0, mlp["traced"].err
    assert losses(mlp["traced"].out) == losses(mlp["bare"].out)
    first, second = (float(value) for value in re.findall(r"epoch \d+ loss ([\d.]+)", mlp["traced"].out))
    assert second < first


def test_standard_output_is_the_same_but_for_keras_own_timings(mlp: dict[str, Any]) -> None:
    """Keras prints seconds per epoch; everything else on standard output is equal."""

    def scrubbed(text: str) -> str:
        return re.sub(r"(- )?\d+[mu]?s(/step)?", "TIME", text)  # also `- 3s/step`, of a machine that has other work

    assert scrubbed(mlp["traced"].out) == scrubbed(mlp["bare"].out)


def test_phases_sum_to_the_wall_time_and_name_almost_all_of_it(mlp: dict[str, Any]) -> None:
    """Top-level phases plus the unattributed rest are the wall time; sub-phases of fit are fit."""
    content = runner.report(mlp["folder"])
    top = sum(p["dur_ns"] for p in content["phases"] if p["parent"] is None)
    inner = sum(p["dur_ns"] for p in content["phases"] if p["parent"] == "fit")

    assert top + content["unattributed_ns"] == content["wall_ns"]
    assert inner == runner.phases(content)["fit"]
    assert top >= 0.99 * content["wall_ns"]


def test_every_phase_of_the_script_is_found(mlp: dict[str, Any]) -> None:
    """Import, construction, compile, fit with graph compilation and steps, evaluate, teardown."""
    found = runner.phases(runner.report(mlp["folder"]))

    expected = {
        "startup", "import", "construct", "compile", "fit", "fit.graph_compile", "fit.steps", "fit.callbacks",
        "fit.input", "evaluate", "script", "teardown", "dlprof",
    }  # fmt: skip
    assert expected <= set(found)
    assert min(found[name] for name in expected) > 0


def test_steps_are_counted_exactly(mlp: dict[str, Any]) -> None:
    """1,024 samples in batches of 128, two epochs: 16 training steps and 8 of evaluation; one compiled."""
    loops = {loop["loop"]: loop for loop in runner.report(mlp["folder"])["step_summaries"]}

    assert loops["train"]["count"] == 16
    assert loops["test"]["count"] == 8
    assert loops["train"]["compiled"] == 1


def test_throughput_counts_every_sample_of_steady_steps(mlp: dict[str, Any]) -> None:
    """15 steps of 128 samples, without those under the kernel tracer, over the time that they took."""
    content = runner.report(mlp["folder"])
    steady = runner.sql(
        mlp["folder"],
        "SELECT sum(samples)::INT AS n, sum(dur_ns + input_ns)::BIGINT AS ns FROM steps "
        "WHERE loop = 'train' AND NOT compiled AND NOT EXISTS (SELECT 1 FROM kernel_windows w "
        "WHERE w.loop = 'train' AND steps.start_ns BETWEEN w.start_ns - w.start_cost_ns "
        "AND w.start_ns + w.dur_ns + w.stop_cost_ns)",
    )[0]

    assert steady["n"] == 9 * 128
    if content["steps"][
        "asynchronous_dispatch"
    ]:  # those times are of the dispatch; tests/integration/test_step_times.py
        assert content["steps"]["how"] == "epochs"
        assert content["steps"]["samples_per_s"] * content["steps"]["median_ns"] / 1e9 == pytest.approx(128, rel=0.01)
    else:
        assert content["steps"]["samples_per_s"] == pytest.approx(steady["n"] / (steady["ns"] / 1e9))


def test_metrics_of_epochs_are_those_that_keras_printed(mlp: dict[str, Any]) -> None:
    """The losses in the store are the losses on standard output."""
    printed = [float(value) for value in re.findall(r"epoch \d+ loss ([\d.]+)", mlp["traced"].out)]
    rows = runner.sql(mlp["folder"], "SELECT value FROM metrics WHERE name = 'loss' AND step IS NULL ORDER BY epoch")

    assert [row["value"] for row in rows] == pytest.approx(printed, abs=1e-5)


def test_metrics_of_batches_are_kept(mlp: dict[str, Any]) -> None:
    """One loss per training step."""
    rows = runner.sql(mlp["folder"], "SELECT count(*) AS n FROM metrics WHERE name = 'loss' AND step IS NOT NULL")

    assert rows == [{"n": 16}]


def test_versions_and_backend_are_those_that_ran(mlp: dict[str, Any]) -> None:
    """Keras' own word for its backend, and its version."""
    content = runner.report(mlp["folder"])

    assert content["backend"] == mlp["backend"]
    assert content["keras_version"] == ("2.2.4.3" if mlp["backend"] == "mxnet" else "3.15.1")


def test_lines_of_the_script_are_counted(mlp: dict[str, Any]) -> None:
    """Each `model.add` was hit once, and the line of `fit` took about as long as the phase."""
    rows = {row["source"].strip(): row for row in runner.asked("lines", "run", cwd=mlp["folder"]) if row["source"]}
    fit = next(row for source, row in rows.items() if "model.fit(" in source)
    adds = [row for source, row in rows.items() if source.startswith("model.add(Dense") or "Dropout(" in source]

    assert {row["hits"] for row in adds if row["function"] == "build_model"} == {1}
    # Neither holds what dlprof itself did meanwhile.
    phase = runner.phases(runner.report(mlp["folder"]))["fit"]
    assert fit["time_ns"] == pytest.approx(phase, rel=0.03, abs=100e6)  # another program may be let in between the two


def test_stacks_name_the_scripts_lines(mlp: dict[str, Any]) -> None:
    """Sampled stacks of the main thread go through mlp.py, and show no frame of dlprof."""
    rows = runner.sql(mlp["folder"], "SELECT DISTINCT function, file FROM frames")

    # A run this short gives some dozens of samples, of which a few fall into `main`, or none.
    assert "mlp.py" in {row["file"] for row in rows}
    assert not [row for row in rows if "dlprof_probes" in row["file"]]


def test_cores_and_processes_are_sampled(mlp: dict[str, Any]) -> None:
    """Every core has a mean, the process a peak of memory."""
    content = runner.report(mlp["folder"])

    assert [core["core"] for core in content["cores"]] == list(range(content["machine"]["cores"]))
    assert content["process"]["peak_rss_bytes"] > 100e6
    assert content["gpu"]["measured"] or content["gpu"]["reason"]


def test_the_private_keras_home_is_gone_and_the_users_untouched(mlp: dict[str, Any]) -> None:
    """No keras_home and no payload stay in the run folder."""
    assert sorted(path.name for path in (mlp["folder"] / "run").iterdir()) == ["manifest.json", "raw", "tables"]


def test_line_times_agree_with_kernprof(mlp: dict[str, Any], pythons: dict[str, Path]) -> None:
    """`kernprof -l` on the same script gives the same hits for every line of `build_model` and `train`."""
    folder = mlp["folder"] / "kernprof"
    folder.mkdir(exist_ok=True)
    for name in ("mlp.py", "workload.py", "inputs.py"):
        shutil.copy(Path(mlp["script"]).parent / name, folder / name)
    env = {"KERAS_BACKEND": mlp["backend"], "KERAS_HOME": str(folder / "home")}
    python = str(pythons[mlp["backend"]])
    done = runner.run(
        [python, "-m", "kernprof", "-l", "-p", "mlp.py", "-o", "out.lprof", "mlp.py", *SMALL], cwd=folder, env=env
    )
    assert done.code == 0, done.err
    dump = "import pickle, json; s = pickle.load(open('out.lprof', 'rb')); print(json.dumps([[k[2], v] for k, v in s.timings.items()]))"
    text = subprocess.run([python, "-c", dump], cwd=folder, capture_output=True, text=True, check=True).stdout
    theirs = {name: {line: hits for line, hits, _ in rows} for name, rows in __import__("json").loads(text)}
    ours: dict[str, dict[int, int]] = {}
    for row in runner.sql(mlp["folder"], "SELECT function, line, hits FROM lines WHERE hits > 0 AND file = 'mlp.py'"):
        ours.setdefault(row["function"], {})[row["line"]] = row["hits"]

    for function in ("build_model", "train", "load_data"):
        assert ours[function] == theirs[function]


LOOPS = """
import os
import numpy as np
import keras
from keras.layers import Dense, Input
from keras.models import Model, Sequential
import beside

x = np.random.RandomState(0).rand(64, 8).astype("float32")
y = x.sum(axis=1, keepdims=True)


def functional():
    inputs = Input(shape=(8,))
    outputs = Dense(1)(Dense(4, activation="relu")(inputs))
    model = Model(inputs, outputs)
    model.compile(optimizer="sgd", loss="mse")
    return model


class Watcher(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        beside.work(2000)
        self.model.evaluate(x, y, batch_size=32, verbose=0)


first, second = functional(), functional()
for _ in range(3):
    first.fit(x, y, batch_size=16, epochs=1, verbose=0)
second.fit(x, y, batch_size=32, epochs=2, verbose=0, callbacks=[Watcher()], validation_data=(x, y))
for _ in range(5):
    first.train_on_batch(x[:16], y[:16])
first.test_on_batch(x[:16], y[:16])
first.predict(x, batch_size=16, verbose=0)
first.predict_on_batch(x[:4])
first.save_weights("weights.weights.h5")
"""

BESIDE = """
def work(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""


@pytest.fixture(scope="session", params=BACKENDS)
def loops(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pythons: dict[str, Path]) -> Path:
    """A run with several models, fit in a loop, callbacks of the user's own, and *_on_batch calls."""
    folder = tmp_path_factory.mktemp(f"loops-{request.param}")
    (folder / "loops.py").write_text(LOOPS)
    (folder / "beside.py").write_text(BESIDE)
    done = runner.trace("loops.py", "--backend", request.param, cwd=folder)
    assert done.code == 0, done.err
    return folder


def test_fit_in_a_loop_is_counted_call_by_call(loops: Path) -> None:
    """Three calls on one model and one on another."""
    fit = next(p for p in runner.report(loops)["phases"] if p["name"] == "fit")

    assert fit["count"] == 4


def test_steps_of_every_kind_of_loop_are_counted(loops: Path) -> None:
    """3 x 4 + 2 x 2 steps of fit, 5 train_on_batch; predict in 4 batches and one predict_on_batch."""
    counts = {
        (row["loop"], row["kind"]): row["n"]
        for row in runner.sql(
            loops,
            "SELECT loop, kind, sum(count)::INT AS n FROM steps JOIN spans ON loop_id = span_id GROUP BY ALL",
        )
    }

    assert counts["train", "fit"] == 16
    assert counts["train", "on_batch"] == 5
    assert counts["test", "on_batch"] == 1
    assert counts["predict", "predict"] == 4
    assert counts["predict", "on_batch"] == 1


def test_validation_and_the_users_callback_are_told_apart(loops: Path) -> None:
    """Evaluate inside a callback belongs to the callbacks; validation has its own phase; saving too."""
    found = runner.phases(runner.report(loops))

    assert found["fit.validation"] > 0
    assert found["fit.callbacks"] > 0
    assert found["save"] > 0
    assert "evaluate" in found  # test_on_batch


def test_lines_of_a_callback_inside_fit_are_counted(loops: Path) -> None:
    """Both epochs called `work(2000)` of the module beside the script; its loop ran 4,000 times."""
    rows = runner.sql(
        loops, "SELECT line, hits FROM lines WHERE file = 'beside.py' AND function = 'work' ORDER BY line"
    )

    assert [row["hits"] for row in rows if row["line"] == 5] == [4000]


def test_spans_know_the_line_that_called(loops: Path) -> None:
    """Each fit names the line of the script that called it."""
    lines = LOOPS.splitlines()
    rows = runner.sql(loops, "SELECT DISTINCT file, line FROM spans WHERE kind = 'fit' ORDER BY line")

    assert [(row["file"], "fit(" in lines[row["line"] - 1]) for row in rows] == [("loops.py", True)] * 2


def test_keras_that_is_imported_but_never_fitted_says_so(tmp_path: Path, pythons: dict[str, Path]) -> None:
    """No steps, no loops, and no error."""
    runner.write(tmp_path, "script.py", "import keras\nprint(keras.__version__)")

    done = runner.trace("script.py", "--backend", "mxnet", cwd=tmp_path)

    assert done.code == 0
    content = runner.report(tmp_path)
    assert content["steps"] is None
    text = runner.run([*runner.DLPROF, "report", "run"], cwd=tmp_path).out
    assert "no training was seen" in text


def test_an_interpreter_of_the_users_own_is_used_as_it_is(tmp_path: Path, pythons: dict[str, Path]) -> None:
    """`--python` with a Keras of its own and its default backend: nothing is installed there."""
    runner.write(tmp_path, "train.py", LOOPS.replace("import beside\n", "").replace("beside.work(2000)", "pass"))
    before = sorted(path.name for path in pythons["tensorflow"].parent.parent.glob("lib/python*/site-packages/*"))

    done = runner.trace("train.py", "--python", str(pythons["tensorflow"]), cwd=tmp_path)

    assert done.code == 0, done.err
    content = runner.report(tmp_path)
    assert content["keras_version"] == "3.15.1"
    assert content["steps"]["input_inside_step"] is True  # known from Keras' own word, not from the command line
    assert (
        sorted(path.name for path in pythons["tensorflow"].parent.parent.glob("lib/python*/site-packages/*")) == before
    )


MODERN = """
import numpy as np
import keras
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(3)
x = np.random.RandomState(0).rand(96, 6).astype("float32")
y = x.sum(axis=1, keepdims=True)


@keras.saving.register_keras_serializable()
class Scale(layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape):
        self.weight = self.add_weight(shape=(input_shape[-1],), initializer="ones")

    def call(self, inputs):
        return inputs * self.weight * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


class Custom(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(4, activation="relu")
        self.out = layers.Dense(1)

    def call(self, inputs, training=False):
        return self.out(self.hidden(inputs))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = keras.losses.mean_squared_error(y, self(x, training=True))
            loss = ops.mean(loss)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        return x[16 * index : 16 * index + 16], y[16 * index : 16 * index + 16]


def generator():
    while True:
        yield x[:16], y[:16]


def show(name, history):
    print(name, ["%.7f" % value for value in history.history["loss"]])


deferred = keras.Sequential([layers.Dense(8, activation="relu"), Scale(), layers.Dense(1)])
deferred.compile("adam", "mse", metrics=["mae"])
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
show("deferred", deferred.fit(data, epochs=2, verbose=0, validation_data=data))
custom = Custom()
custom.compile("sgd")
show("custom", custom.fit(x, y, batch_size=32, epochs=2, verbose=0, shuffle=False))
show("dataset", deferred.fit(Batches(), epochs=1, verbose=0, shuffle=False))
show("generator", deferred.fit(generator(), steps_per_epoch=3, epochs=1, verbose=0))
eager = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
eager.compile("sgd", "mse", run_eagerly=True)
show("eager", eager.fit(x, y, batch_size=32, epochs=1, verbose=0, shuffle=False))
fast = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
fast.compile("sgd", "mse", steps_per_execution=3)
seen = []
watch = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(sorted(logs)))
show("several steps at once", fast.fit(x, y, batch_size=16, epochs=1, verbose=0, shuffle=False, callbacks=[watch]))
deferred.save("model.keras")
loaded = keras.models.load_model("model.keras")
print(np.allclose(loaded.predict(x, verbose=0), deferred.predict(x, verbose=0)), seen)
for features, labels in data:
    loaded.train_on_batch(features, labels)
print("%.6f" % loaded.evaluate(x, y, verbose=0)[0], deferred.count_params(), custom.summary is not None)
try:
    deferred.fit(x[:, :2], y, verbose=0)
except Exception as error:
    print(type(error).__name__)
"""


@pytest.fixture(scope="session")
def modern(tmp_path_factory: pytest.TempPathFactory, pythons: dict[str, Path]) -> dict[str, Any]:
    """What Keras 3 scripts do beyond the MLP, with and without dlprof."""
    folder = tmp_path_factory.mktemp("modern")
    (folder / "modern.py").write_text(MODERN)
    env = {"KERAS_BACKEND": "tensorflow", "KERAS_HOME": str(folder / "home"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    bare = runner.run([str(pythons["tensorflow"]), "modern.py"], cwd=folder, env=env)
    assert bare.code == 0, bare.err
    return {"folder": folder, "bare": bare, "traced": runner.trace("modern.py", "--backend", "tensorflow", cwd=folder)}


def test_all_that_keras_3_scripts_do_gives_the_same_results(modern: dict[str, Any]) -> None:
    """Deferred build, own layers and train steps, datasets, generators, eager and several steps at once, saving."""
    assert modern["traced"].out == modern["bare"].out, modern["traced"].err
    assert modern["traced"].code == 0


def test_no_hook_failed_on_the_way(modern: dict[str, Any]) -> None:
    """The health section names no hook."""
    slugs = [entry["slug"] for entry in runner.report(modern["folder"])["health"]]

    assert "hook-failed" not in slugs


def test_several_steps_at_once_count_as_steps(modern: dict[str, Any]) -> None:
    """96 samples in batches of 16, three steps per execution: two rows of three steps."""
    rows = runner.sql(
        modern["folder"], "SELECT step, count FROM steps WHERE loop = 'train' AND count > 1 ORDER BY step"
    )

    assert rows == [{"step": 0, "count": 3}, {"step": 3, "count": 3}]


def test_data_saving_and_validation_have_their_phases(modern: dict[str, Any]) -> None:
    """tf.data in user code is data; save and load_model are save."""
    found = runner.phases(runner.report(modern["folder"]))

    assert {"data", "save", "fit.validation", "predict"} <= set(found)


def test_a_model_of_keras_mxnet_can_be_saved_and_loaded(tmp_path: Path, pythons: dict[str, Path]) -> None:
    """The shim of the environment bridges what h5py changed; also without dlprof."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import numpy as np
        import keras
        model = keras.models.Sequential([keras.layers.Dense(4, input_shape=(3,))])
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 3)), np.zeros((8, 4)), verbose=0)
        model.save("model.h5")
        loaded = keras.models.load_model("model.h5")
        loaded.load_weights("model.h5")
        print(np.allclose(loaded.predict(np.ones((2, 3))), model.predict(np.ones((2, 3)))))
        """,
    )

    env = {"KERAS_BACKEND": "mxnet", "KERAS_HOME": str(tmp_path / "home")}
    bare = runner.run([str(pythons["mxnet"]), "script.py"], cwd=tmp_path, env=env)
    traced = runner.trace("script.py", "--backend", "mxnet", cwd=tmp_path)

    assert (bare.out, bare.code) == ("True\n", 0), bare.err
    assert (traced.out, traced.code) == ("True\n", 0), traced.err
    assert runner.phases(runner.report(tmp_path))["save"] > 0


# -- kernels -------------------------------------------------------------------------------------------


LAYERS = {"dense_1", "dropout_1", "dense_2", "dropout_2", "dense_3"}


def kernels(mlp: dict[str, Any], by: str) -> dict[str, Any]:
    """`dlprof kernels run --by BY --json`."""
    return runner.asked("kernels", "run", "--by", by, cwd=mlp["folder"])  # type: ignore[no-any-return]


def test_kernels_name_the_same_five_layers_on_every_backend(mlp: dict[str, Any]) -> None:
    """Forward and backward for those with weights, and the optimiser under one name."""
    found = {(row["layer"], row["direction"]) for row in kernels(mlp, "layer")["rows"]}

    assert {layer for layer, _ in found if layer} >= LAYERS
    assert found >= {
        (layer, direction) for layer in LAYERS for direction in ("forward", "backward") if "dense" in layer
    }
    assert ("rm_sprop", "update") in found


def test_nearly_all_kernel_time_has_an_owner(mlp: dict[str, Any]) -> None:
    """At least 95 % belongs to a layer, the optimiser, the loss or the metrics; XLA's own is named so."""
    content = kernels(mlp, "layer")

    assert content["unattributed_ns"] <= 0.05 * content["all_ns"]
    assert content["dropped_events"] == 0


def test_kernel_time_adds_up_and_fits_into_the_cores(mlp: dict[str, Any]) -> None:
    """Every additive grouping has the same sum, and no more than cores times wall time of the windows."""
    sums = {by: sum(row["total_ns"] for row in kernels(mlp, by)["rows"]) for by in ("layer", "category", "device")}
    content = kernels(mlp, "layer")

    assert len(set(sums.values())) == 1
    assert sums["layer"] == content["all_ns"] > 0
    assert content["all_ns"] <= content["window_ns"] * (runner.report(mlp["folder"])["machine"]["cores"] or 1)
    assert all(row["union_ns"] <= content["window_ns"] for row in content["rows"])


def test_the_parts_of_a_step_sum_to_the_step(mlp: dict[str, Any]) -> None:
    """To the nanosecond, traced and scaled to a plain step; and kernels are among them.

    On JAX these two short epochs both hold traced steps, so there is nothing to scale to: null.
    """
    split = runner.report(mlp["folder"])["step_split"]

    assert sum(part["window_ns"] for part in split["parts"]) == split["window_step_ns"]
    if split["plain_step_ns"] is None:
        assert mlp["backend"] == "jax"
        assert {part["plain_ns"] for part in split["parts"]} == {None}
    else:
        assert sum(part["plain_ns"] for part in split["parts"]) == split["plain_step_ns"]
    assert split["engine"] == mlp["backend"]
    assert next(part["window_ns"] for part in split["parts"] if part["name"] == "kernels") > 0


def test_kernels_belong_to_the_steps_of_their_window(mlp: dict[str, Any]) -> None:
    """Each traced training step has kernels, and they lie in the phase fit.steps."""
    window = runner.sql(mlp["folder"], "SELECT first_step, steps FROM kernel_windows WHERE loop = 'train'")[0]
    rows = runner.sql(
        mlp["folder"],
        "SELECT DISTINCT step FROM kernels JOIN kernel_windows w USING (\"window\") WHERE w.loop = 'train' "
        "AND step IS NOT NULL AND kind = 'operator' ORDER BY step",
    )

    assert [row["step"] for row in rows] == list(range(window["first_step"], window["first_step"] + window["steps"]))


def test_the_tracer_is_in_the_overhead_ledger(mlp: dict[str, Any]) -> None:
    """With its cost, and how that is known."""
    probe = next(p for p in runner.report(mlp["folder"])["probes"] if p["name"] == "kernels")

    assert probe["state"] == "on"
    assert probe["cost_ns"] > 0
    assert "traced" in probe["cost_source"]


def test_traces_for_tensorboard_are_those_of_the_run(mlp: dict[str, Any], tmp_path: Path) -> None:
    """TensorFlow's and JAX's own files, in the plug-in's layout; the others have none, but scalars all the same."""
    done = runner.ask("export", "run", "--to", "tensorboard", "-o", str(tmp_path), cwd=mlp["folder"])
    files = sorted(path.relative_to(tmp_path).parts[:4] for path in tmp_path.rglob("*.xplane.pb"))
    windows = ("window-000", "window-001") if mlp["backend"] in ("tensorflow", "jax") else ()

    assert done.code == 0
    assert files == [("run", "plugins", "profile", window) for window in windows]
    assert len(list((tmp_path / "run").glob("events.out.tfevents.*"))) == 1


FREED = """
    import gc, weakref
    import numpy as np
    import keras

    class Odd(keras.layers.Layer):
        kinds = {"plain": "odd"}

        def __init__(self):
            super().__init__()
            self.kind = "plain"

        @property
        def name(self):
            return self.kinds[self.kind]  # no such attribute before the base class is done

        @name.setter
        def name(self, value):
            pass

        def call(self, inputs):
            return inputs

    def trained():
        model = keras.Sequential([keras.layers.Dense(2), Odd()])
        model.compile("sgd", "mse")
        model.fit(np.zeros((8, 3)), np.zeros((8, 2)), verbose=0)
        return weakref.ref(model)

    model = trained()
    keras.backend.clear_session()
    gc.collect()
    print("freed" if model() is None else "held")
"""


@pytest.mark.backend("torch")
def test_a_model_that_the_script_drops_is_freed(tmp_path: Path, pythons: dict[str, Path]) -> None:
    """As without dlprof; and a layer whose name cannot be asked for while it is made costs no phase."""
    script = str(runner.write(tmp_path, "tune.py", FREED))
    env = {"KERAS_BACKEND": "torch", "KERAS_HOME": str(tmp_path / "home")}
    bare = runner.run([str(pythons["torch"]), script], cwd=tmp_path, env=env)
    traced = runner.trace(script, "--backend", "torch", cwd=tmp_path)

    assert (bare.out, traced.out) == ("freed\n", "freed\n"), (bare.err, traced.err)
    content = runner.report(tmp_path)
    assert [one for one in content["health"] if one["slug"] == "hook-failed"] == []
    assert runner.phases(content)["fit"] > 0
