"""What models hold in memory, by arithmetic: parameters and slots of the optimiser are exact on each backend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPT = """
    import sys
    import numpy as np
    import keras
    from keras import layers as L
    Sequential = keras.models.Sequential

    def made(name, shape, *layers):
        keras.backend.set_floatx(name.split("_")[1])
        if hasattr(keras, "config"):
            keras.config.set_dtype_policy(name.split("_")[1])
        model = Sequential([make(**({"input_shape": shape} if n == 0 else {})) for n, make in enumerate(layers)], name=name)
        model.compile(keras.optimizers.SGD(0.01, momentum=0.9), "mse")
        data = np.ones((32,) + shape, keras.backend.floatx())
        model.fit(data, np.zeros((32, 2), keras.backend.floatx()), batch_size=16, epochs=1, verbose=0)

    for kind in sys.argv[1:]:
        made("mlp_" + kind, (3,), lambda **a: L.Dense(5, name="a1_" + kind, **a), lambda: L.Dense(2, name="a2_" + kind))
        made("cnn_" + kind, (8, 8, 1), lambda **a: L.Conv2D(4, (3, 3), name="b1_" + kind, **a), L.Flatten,
             lambda: L.Dense(2, name="b2_" + kind))
        if kind == "float16":
            continue  # no orthogonal matrix is made of it
        made("lstm_" + kind, (6, 3), lambda **a: L.LSTM(4, name="c1_" + kind, **a), lambda: L.Dense(2, name="c2_" + kind))
"""
VALUES = {"a1": 20, "a2": 12, "b1": 40, "b2": 290, "c1": 128, "c2": 10}
"""3 x 5 + 5, 5 x 2 + 2; 3 x 3 x 4 + 4, 6 x 6 x 4 x 2 + 2; 4 gates of 4 x (3 + 4) + 4, 4 x 2 + 2."""
SIZES = {"float16": 2, "float32": 4, "float64": 8}
TYPES = {
    "tensorflow": ("float16", "float32", "float64"),
    "torch": ("float16", "float32", "float64"),
    "jax": ("float16", "float32"),
    "mxnet": ("float32", "float64"),
}
HELD = (
    "SELECT layer, kind, how, sum(bytes)::BIGINT AS bytes FROM memory_owners "
    "WHERE kind IN ('parameters', 'optimizer', 'gradients') AND layer IS NOT NULL GROUP BY ALL"
)


@pytest.mark.parametrize("backend", TYPES)
def test_parameters_and_slots_are_exact(tmp_path: Path, backend: str) -> None:
    """Of a multilayer perceptron, a convolution and an LSTM, in each type; SGD has one momentum for each value."""
    runner.write(tmp_path, "script.py", SCRIPT)

    done = runner.trace("script.py", "--backend", backend, "--", *TYPES[backend], cwd=tmp_path)

    assert done.code == 0, done.err
    found = {(row["layer"], row["kind"], row["how"]): row["bytes"] for row in runner.sql(tmp_path, HELD)}
    expected = {
        (f"{layer}_{kind}", held, how): count * SIZES[kind]
        for kind in TYPES[backend]
        for layer, count in VALUES.items()
        if not (kind == "float16" and layer.startswith("c"))
        for held, how in (("parameters", "exact"), ("optimizer", "exact"), ("gradients", "estimate"))
    }
    assert found == expected


def test_a_loop_of_torch_has_gradients_and_slots_as_arrays(tmp_path: Path) -> None:
    """Adam has two moments; its counter of steps is a value of 4 bytes for each parameter."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2))
        optimizer = torch.optim.Adam(net.parameters())
        for step in range(20):
            loss = net(torch.ones(4, 3)).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    )

    done = runner.trace("script.py", "--backend", "torch", cwd=tmp_path)

    assert done.code == 0, done.err
    assert {(row["layer"], row["kind"], row["how"]): row["bytes"] for row in runner.sql(tmp_path, HELD)} == {
        ("0", "parameters", "exact"): 80,
        ("0", "gradients", "exact"): 80,
        ("0", "optimizer", "exact"): 168,
        ("1", "parameters", "exact"): 48,
        ("1", "gradients", "exact"): 48,
        ("1", "optimizer", "exact"): 104,
    }


def test_a_script_that_runs_out_of_its_address_space_says_so(tmp_path: Path) -> None:
    """With its line, and the limit that it had set itself."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import resource
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, used + 300_000_000))
        kept = []
        while True:
            kept.append(bytearray(20_000_000))
        """,
    )

    done = runner.trace("script.py", "--backend", "torch", cwd=tmp_path)

    assert done.code == 1
    assert "MemoryError" in done.err
    assert "The run was ended for want of memory." in runner.report(tmp_path)["verdict"]
    finding = next(one for one in runner.report(tmp_path)["findings"] if one["slug"] == "out-of-memory")
    assert (finding["file"], finding["line"]) == ("script.py", 7)


def test_what_autograd_keeps_of_a_step_is_told_to_the_byte(tmp_path: Path) -> None:
    """A batch of 16 x 3 and two activations of 16 x 5, of 4 bytes each; two weights are parameters."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import numpy as np
        import keras
        from keras import layers as L

        model = keras.Sequential([L.Input((3,)), L.Dense(5, activation="tanh"), L.Dense(5, activation="tanh")])
        model.compile("sgd", loss=lambda y, x: keras.ops.sum(x))
        model.fit(np.ones((64, 3), "float32"), np.zeros((64, 1), "float32"), batch_size=16, epochs=1, verbose=0)
        """,
    )

    done = runner.trace("script.py", "--backend", "torch", cwd=tmp_path)

    assert done.code == 0, done.err
    (told,) = runner.report(tmp_path)["memory"]["engines"]
    assert told["step_bytes"] == 16 * (3 + 5 + 5) * 4


GIVEN = """
    import numpy as np
    import keras
    from keras import layers as L

    model = keras.Sequential([L.Input((1000,)), L.Dense(1)])
    model.compile("sgd", "mse")
    targets = np.zeros((30_000, 1), "float32")
    rows = np.ones((30_000, 1000), "float32")
    model.fit(rows, targets, batch_size=64, epochs=2, verbose=0)
"""
"""120 MB of an array, made right before it is given."""


def test_tensors_that_fit_makes_of_all_the_data_are_a_second_copy(tmp_path: Path) -> None:
    """Keras on TensorFlow makes tensors of all of it."""
    runner.write(tmp_path, "script.py", GIVEN)

    often = ("--cores-hz", "50", "--budget", "off")
    done = runner.trace("script.py", "--backend", "tensorflow", *often, cwd=tmp_path)

    assert done.code == 0, done.err
    found = next(one for one in runner.report(tmp_path)["findings"] if one["slug"] == "double-copy")
    assert (found["file"], found["line"]) == ("script.py", 10)
    assert "a copy of all the float32 data that it was given (120 MB)" in found["claim"]


def test_floats_of_another_type_that_fit_converts_are_a_second_copy(tmp_path: Path) -> None:
    """240 MB of float64, which Keras makes float32 of, on PyTorch too."""
    runner.write(tmp_path, "script.py", GIVEN.replace('1000), "float32"', '1000), "float64"'))

    often = ("--cores-hz", "50", "--budget", "off")
    done = runner.trace("script.py", "--backend", "torch", *often, cwd=tmp_path)

    assert done.code == 0, done.err
    found = next(one for one in runner.report(tmp_path)["findings"] if one["slug"] == "double-copy")
    assert "a copy of all the float64 data that it was given (240 MB) as float32" in found["claim"]


@pytest.mark.parametrize("hertz", ["1", "50"])
def test_data_made_right_before_the_call_are_no_copy_of_fit_s(tmp_path: Path, hertz: str) -> None:
    """PyTorch takes the array as it is. Between two samples a second apart the script makes it, and calls."""
    runner.write(tmp_path, "script.py", GIVEN.replace("epochs=2", "epochs=6"))

    done = runner.trace("script.py", "--backend", "torch", "--cores-hz", hertz, "--budget", "off", cwd=tmp_path)

    assert done.code == 0, done.err
    assert "double-copy" not in {one["slug"] for one in runner.report(tmp_path)["findings"]}


STEP = """
    import sys
    import numpy as np
    import keras
    from keras import layers as L

    model = keras.Sequential(
        [L.Input((64,)), L.Dense(64, "relu", name="one"), L.Dense(64, "relu", name="two"), L.Dense(1, name="three")]
    )
    model.compile("sgd", "mse")
    model.fit(np.ones((40960, 64), "float32"), np.zeros((40960, 1), "float32"), batch_size=2048, epochs=1, verbose=0)
"""


def test_a_step_of_tensorflow_is_accounted_for_by_its_allocators_records(tmp_path: Path) -> None:
    """Layers give 2,048 x 64 values of 4 bytes; what is there of them at the peak is told to the byte, by layer."""
    runner.write(tmp_path, "script.py", STEP)

    done = runner.trace("script.py", "--backend", "tensorflow", cwd=tmp_path, env={"TF_ENABLE_ONEDNN_OPTS": "0"})

    assert done.code == 0, done.err
    memory = runner.report(tmp_path)["memory"]
    (told,) = memory["engines"]
    rows = [one for one in memory["owners"] if one["kind"] in ("activations", "gradients", "workspace")]
    exact = {one["layer"]: one["bytes"] for one in rows if one["how"] == "exact"}
    assert exact["one"] == 2048 * 64 * 4
    assert sum(exact.values()) < told["step_bytes"] < 10 * 2048 * 64 * 4
    assert sum(one["bytes"] for one in rows) == pytest.approx(told["step_bytes"], rel=0.05)


def test_temporaries_of_jax_are_those_of_the_step_and_not_of_a_larger_program(tmp_path: Path) -> None:
    """XLA's plan of Keras' own step, asked by the script; before the training another program had 40 MB of them."""
    runner.write(
        tmp_path,
        "script.py",
        """
    import jax
    larger = jax.jit(lambda x: (x @ x).sum() + (x.T @ x).max())
    larger(jax.numpy.ones((2000, 2000)))
        """
        + STEP
        + """
    parts = model.trainable_variables, model.non_trainable_variables, model.optimizer.variables, model.metrics_variables
    state = tuple([one.value for one in part] for part in parts)
    batch = np.ones((2048, 64), "float32"), np.zeros((2048, 1), "float32")
    step = jax.jit(model.train_step, donate_argnums=0).lower(state, batch).compile()
    print(step.memory_analysis().temp_size_in_bytes)
        """,
    )

    done = runner.trace("script.py", "--backend", "jax", cwd=tmp_path)

    assert done.code == 0, done.err
    (told,) = runner.report(tmp_path)["memory"]["engines"]
    assert told["step_bytes"] == int(done.out.split()[-1])


SLICES = """
import torch

torch.manual_seed(0)
layers = torch.nn.ModuleList([torch.nn.Linear(48, 96), torch.nn.Linear(96, 96)])
optimizer = torch.optim.SGD(layers.parameters(), lr=0.01)
for _ in range(9):
    x = torch.rand(500, 24, 48)
    for layer in layers:
        drive = layer(x)
        state, states = torch.zeros_like(drive[0]), []
        for time in range(len(drive)):
            state = 0.7 * state + drive[time]
            states.append(state)
        x = torch.tanh(torch.stack(states))
    optimizer.zero_grad()
    x.mean().backward()
    optimizer.step()
"""
"""Each gradient of a slice is an array as large as the whole, 4.6 MB: 4.6 GB of them are made and freed in a step."""


def test_what_a_traced_step_frees_can_be_used_again(tmp_path: Path) -> None:
    """Records of the tracer lie behind each of these arrays: where nobody asks for what is free it takes 6 to 10 GB."""
    runner.write(tmp_path, "script.py", SLICES)

    done = runner.trace("script.py", "--backend", "torch", cwd=tmp_path)

    assert done.code == 0, done.err
    told = runner.report(tmp_path)["memory"]
    assert told["kernel_peak_bytes"] - told["peak_bytes"] < 1_200_000_000


def test_automatic_casts_keep_floats_of_16_bits_for_the_way_back(tmp_path: Path) -> None:
    """Rows of 64 numbers and both weights, which are cast, and what is between; the weights themselves have 32 bits."""
    runner.write(
        tmp_path,
        "script.py",
        """
        import torch
        net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 8))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(20):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = net(torch.rand(100, 64)).square().mean()
            loss.backward()
            optimizer.step()
        """,
    )

    done = runner.trace("script.py", "--backend", "native-torch", cwd=tmp_path)

    assert done.code == 0, done.err
    (span,) = runner.sql(tmp_path, "SELECT detail FROM spans WHERE kind = 'fit'")
    told = json.loads(span["detail"])
    kept = told["saved_floats"]
    assert told["training"]["weights"]["dtype"] == "float32"
    assert kept["bfloat16"] > sum(size for kind, size in kept.items() if kind != "bfloat16")
