"""Settings that are tried, as they are typed."""

from __future__ import annotations

from typing import Any

import pytest

from dlprof.analysis.training import Training
from dlprof.errors import UsageError
from dlprof.trials import settings


def training(**changes: Any) -> Training:
    """What a run says of its training."""
    told = {"settings": {}, "optimizer": {}, "weights": {}, "data": (), "threads": {}, "flags": {}, "batch_size": 128,
            "samples": 1000, "losses": (), "random": (), "file": None, "line": None}  # fmt: skip
    return Training(**{**told, **changes})


def test_settings_go_to_keras_or_to_the_engine() -> None:
    """By the names of the overrides."""
    (change,) = settings.changes(["batch_size=256", "run_eagerly=off"])

    assert change.title == "batch_size=256 run_eagerly=false"
    assert change.remedy.overrides == {"batch_size": 256, "run_eagerly": False}
    assert change.remedy.environment == {}


@pytest.mark.parametrize(
    ("trained", "loaders", "proposed"),
    [
        (training(settings={"floatx": "float32"}), (), "--set batch_size=256"),
        (training(settings={"floatx": "float32"}, batch_size=256), (), "--set batch_size=512"),
        (training(), ("DataLoader",), "--set num_workers=2"),
        (training(), (), "--set threads=1"),
        (None, (), "--set threads=1"),
    ],
)
def test_what_is_proposed_can_be_tried(trained: Training | None, loaders: tuple[str, ...], proposed: str) -> None:
    """Only Keras takes the size of a batch, and only PyTorch's loader a number of workers."""
    assert settings.example(trained, loaders) == proposed


def test_values_are_tried_one_after_the_other_in_each_combination() -> None:
    """Two of one setting and two of another are four changes."""
    made = settings.changes(["batch_size=64,128", "threads=1,2"])

    assert [change.title for change in made] == [
        "batch_size=64 threads=1",
        "batch_size=64 threads=2",
        "batch_size=128 threads=1",
        "batch_size=128 threads=2",
    ]


def test_threads_are_told_to_libraries_too() -> None:
    """They read variables before the engine can be told."""
    (change,) = settings.changes(["threads=2"])

    assert change.remedy.overrides == {"threads": 2}
    assert change.remedy.environment == {
        "OMP_NUM_THREADS": "2",
        "MKL_NUM_THREADS": "2",
        "TF_NUM_INTRAOP_THREADS": "2",
    }


def test_loaders_get_their_settings_together() -> None:
    """Of every line, as none is named."""
    (change,) = settings.changes(["num_workers=0", "persistent_workers=true"])

    assert change.remedy.overrides == {"loader": {"num_workers": 0, "persistent_workers": True}}


@pytest.mark.parametrize(
    ("word", "overrides"), [("dtype=float64", {"floatx": "float64"}), ("dtype=mixed_bfloat16", {"policy": "mixed_bfloat16"})]
)  # fmt: skip
def test_a_type_is_that_of_floats_or_a_policy(word: str, overrides: dict[str, str]) -> None:
    """Every Keras knows the one, newer ones the other."""
    (change,) = settings.changes([word])

    assert change.remedy.overrides == overrides


def test_a_variable_may_hold_commas() -> None:
    """It is one value."""
    (change,) = settings.changes(["env:KMP_AFFINITY=granularity=fine,compact"])

    assert change.remedy.environment == {"KMP_AFFINITY": "granularity=fine,compact"}
    assert change.settings == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Nothing is to be changed."),
        (["batch_size"], "--set takes NAME=VALUE, not batch_size."),
        (["bach_size=3"], "bach_size is no setting that can be tried; did you mean batch_size?"),
        (["batch_size=0"], "batch_size takes a number of rows, not 0."),
        (["batch_size=64,"], "batch_size takes a number of rows, not nothing."),
        (["jit_compile=maybe"], "jit_compile takes true or false, not maybe."),
        (["env:A B=1"], "env:A B does not name an environment variable."),
        (["env:DLPROF_DATA=x"], "DLPROF_DATA is a variable of dlprof's own: it cannot be tried."),
        (["threads=1", "threads=2"], "threads is set twice."),
        (["batch_size=1,2,3,4", "threads=1,2,3,4"], "These are 16 combinations, and 12 are tried at most."),
    ],
)
def test_what_is_no_setting_is_refused_with_the_reason(words: list[str], said: str) -> None:
    """In a sentence."""
    with pytest.raises(UsageError) as refused:
        settings.changes(words)

    assert refused.value.message == said


@pytest.mark.parametrize("told", [None, training()])
def test_a_setting_of_keras_needs_a_training_of_keras(told: Training | None) -> None:
    """Elsewhere, as in a loop of the script's own, it would be tried in vain."""
    made = settings.changes(["batch_size=4"])

    with pytest.raises(UsageError, match="nothing was trained by Keras in r"):
        settings.refuse(made, told, "r")
    settings.refuse(made, training(settings={"floatx": "float32"}), "r")
    settings.refuse(settings.changes(["threads=1"]), told, "r")


@pytest.mark.parametrize(
    ("name", "value", "told", "taken"),
    [
        ("batch_size", 256, {"batch_size": 256}, True),
        ("batch_size", 256, {}, False),
        ("batch_size", 256, {"batch_size": None}, None),
        ("threads", 1, {"threads": {"usable_cores": 2, "tensorflow": 1}}, True),
        ("threads", 1, {"threads": {"usable_cores": 1}}, None),
        ("jit_compile", True, {"settings": {"jit_compile": False}}, False),
        ("dtype", "mixed_bfloat16", {"settings": {"policy": "mixed_bfloat16", "floatx": "float32"}}, True),
        ("dtype", "mixed_bfloat16", {"settings": {"floatx": "float32"}}, False),
        ("dtype", "float64", {"settings": {"floatx": "float64"}}, True),
        ("num_workers", 2, {}, None),
    ],
)
def test_whether_a_setting_was_taken_is_read_from_the_training(
    name: str, value: Any, told: dict[str, Any], taken: bool | None
) -> None:
    """Not from what was asked for; None where the record does not tell."""
    assert settings.taken(name, value, training(**told)) is taken
