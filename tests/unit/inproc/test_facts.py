"""What a comparison must know of a training: settings, optimiser, initial weights, data, threads, switches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlprof_probes.inproc import facts

from tests.stand_ins import keras_versions


class Engine:
    """An engine with what facts ask of it."""

    def __init__(
        self, module: str = "engine", *, threads: Any = None, switches: Any = (), is_session_based: bool = False
    ) -> None:
        self.module = module
        self.switches = switches
        self.is_session_based = is_session_based
        self._threads = threads

    def threads(self, _module: Any) -> Any:
        return self._threads() if callable(self._threads) else self._threads


def engines(*loaded: Engine) -> Any:
    """Engines that are loaded."""
    return SimpleNamespace(loaded=lambda: [(engine, "module of " + engine.module) for engine in loaded])


@pytest.fixture
def keras() -> Iterator[ModuleType]:
    """A Keras of this process."""
    with keras_versions.loaded("3") as module:
        yield module


@pytest.fixture
def model(keras: Any) -> Any:
    """Two weights: a kernel of 3 x 2 halves and a bias of 2 zeros."""
    inputs = keras.Input(shape=(3,))
    made = keras.Model(inputs, keras.layers.Dense(2)(inputs))
    made.compile(keras.optimizers.SGD(0.5), "mse", steps_per_execution=2)
    return made


def test_weights_are_read_before_the_first_training_only(model: Any) -> None:
    """Those of later ones are no initial ones, and reading them takes time."""
    assert facts.of_training(model, engines(), values=False)["weights"] == {"count": 8, "dtype": "float32"}


def test_facts_of_a_training(model: Any) -> None:
    """Of Keras, of compile, of the optimiser and of the weights."""
    told = facts.of_training(model, engines())

    del told["threads"]
    assert told == {
        "floatx": "float32",
        "layout": "channels_last",
        "policy": "float32",
        "run_eagerly": False,
        "jit_compile": False,
        "steps_per_execution": 2,
        "loss": "mse",
        "optimizer": {"class": "SGD", "learning_rate": 0.5},
        "weights": {"count": 8, "dtype": "float32", "sums": [[6, 3.0, 1.5], [2, 0.0, 0.0]]},
        "flags": {},
    }


def test_values_of_weights_are_not_read_where_that_makes_a_session(model: Any) -> None:
    """When it is made is the script's own business."""
    told = facts.of_training(model, engines(Engine(is_session_based=True)))

    assert told["weights"] == {"count": 8, "dtype": "float32"}
    assert told["optimizer"] == {"class": "SGD"}


def test_weights_are_summed_up_to_a_limit(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading those of a large model would take time."""
    monkeypatch.setattr(facts, "_VALUES_AT_MOST", 7)

    assert facts.of_training(model, engines())["weights"]["sums"] == [[6, 3.0, 1.5]]


def test_a_model_that_is_nothing_like_one_has_few_facts(keras: Any) -> None:
    """And raises nothing."""
    told = facts.of_training(SimpleNamespace(), engines())

    assert sorted(told) == ["flags", "floatx", "layout", "policy", "threads"]


@pytest.mark.parametrize(
    ("loss", "name"),
    [("mse", "mse"), (SimpleNamespace(name="huber"), "huber"), (keras_versions.loaded, "loaded"), ({"a": 1}, None)],
)
def test_a_loss_has_a_name(model: Any, loss: Any, name: str | None) -> None:
    """As text, as an object of Keras, or as a function."""
    model.loss = loss

    assert facts.of_training(model, engines()).get("loss") == name


def test_settings_of_the_optimiser_are_numbers(model: Any) -> None:
    """`lr` is the learning rate; what is no number, or none that is finite, is left out."""
    config = {"lr": np.float32(0.5), "nesterov": True, "name": "mine", "decay": float("nan"), "schedule": {"a": 1}}
    model.optimizer = SimpleNamespace(get_config=lambda: config)

    told = facts.of_training(model, engines())["optimizer"]

    assert told == {"class": "SimpleNamespace", "learning_rate": 0.5, "nesterov": True}


@pytest.mark.parametrize(
    ("told", "dtype"),
    [
        ("float32", "float32"),
        ("torch.float16", "float16"),
        ("<dtype: 'bfloat16'>", "bfloat16"),
        (np.float32, "float32"),
        (np.dtype("int64"), "int64"),
    ],
)
def test_types_have_one_name_in_all_engines(told: Any, dtype: str) -> None:
    """Or a comparison would call equal ones different."""

    class Array(list):  # type: ignore[type-arg]
        shape = (0,)

    Array.dtype = told  # type: ignore[attr-defined]

    assert facts.of_data([Array()]) == [{"shape": [0], "dtype": dtype}]


def test_shape_type_and_mean_of_data() -> None:
    """The mean is that of the first 16 rows."""
    rows = np.concatenate([np.ones(16), np.zeros(16)]).astype("float32")

    assert facts.of_data([rows, "no array", np.zeros((0, 3))]) == [
        {"shape": [32], "dtype": "float32", "mean": 1.0},
        None,
        {"shape": [0, 3], "dtype": "float64"},
    ]


def test_data_without_a_finite_mean_have_none() -> None:
    """NaN is no JSON."""
    assert facts.of_data([np.array([np.nan, 1.0])]) == [{"shape": [2], "dtype": "float64", "mean": None}]


def test_threads_are_those_that_each_engine_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the cores that the process may use; one that cannot tell is left out."""
    monkeypatch.setattr(facts, "_affinity", lambda _pid: {0, 1, 2})

    told = facts.threads(
        engines(Engine("a", threads="4"), Engine("b"), Engine("c", threads=lambda: 1 // 0), Engine("d", threads="x"))
    )

    assert told == {"usable_cores": 3, "a": 4}


def test_where_the_affinity_is_not_known_all_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every system tells it."""
    monkeypatch.setattr(facts, "_affinity", None)
    monkeypatch.setattr(facts, "_cpu_count", lambda: 6)

    assert facts.threads(engines()) == {"usable_cores": 6}


def test_switches_that_are_set_are_told() -> None:
    """With their value if that is plain; what raises is not set."""
    switches = (
        ("on", lambda _module: True),
        ("off", lambda _module: False),
        ("mode", lambda module: module),
        ("object", lambda _module: [1]),
        ("absent", lambda module: module.absent),
    )

    assert facts.flags(engines(Engine("a", switches=switches))) == {"on": True, "mode": "module of a", "object": True}


def test_of_a_keras_that_is_not_loaded_no_setting_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of the script's own is told none, and a policy where there is one."""
    for name in ("keras", "tf_keras"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    assert facts.settings_of_keras() == {"floatx": None, "layout": None, "policy": None}


@pytest.mark.parametrize(("policy", "told"), [(None, "float32"), ("mixed_float16", "mixed_float16")])
def test_to_read_the_policy_of_keras_3_sets_none(
    policy: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ask for it would: a floatx that the script sets afterwards changed nothing then."""

    def asked() -> None:
        raise AssertionError("Keras was asked")

    state = {"dtype_policy": SimpleNamespace(name=policy)} if policy else {}
    config = SimpleNamespace(floatx=lambda: "float32", image_data_format=lambda: "channels_last", dtype_policy=asked)
    monkeypatch.setitem(sys.modules, "keras", SimpleNamespace(config=config))
    monkeypatch.setitem(sys.modules, facts._STATE, SimpleNamespace(get_global_attribute=state.get))

    assert facts.settings_of_keras()["policy"] == told


def test_a_variable_of_keras_is_read_by_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy 2 warns of arrays of the variable itself; one that gives an array itself is asked for that."""
    asked: list[Any] = []
    monkeypatch.setitem(sys.modules, "keras", SimpleNamespace(ops=SimpleNamespace(convert_to_numpy=asked.append)))
    given = facts._numpy(SimpleNamespace(value=SimpleNamespace(numpy=lambda: "array")))
    facts._numpy(SimpleNamespace(value="tensor"))
    whole = SimpleNamespace(value=lambda: "a method of TensorFlow's own variables")
    facts._numpy(whole)

    assert (given, asked) == ("array", ["tensor", whole])
