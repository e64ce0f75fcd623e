"""Callbacks that hold the training up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    KERNELS,
    Call,
    Planted,
    diagnosed,
    in_callbacks,
    pick,
    sampled,
    slugs,
)
from tests.unit.runs import S


def planted() -> Planted:
    """A callback of the user's stands in its line for the second of all callbacks."""
    return Planted(
        {
            **sampled((7, 8, [*FIT, ("on_batch_end", "keras/src/callbacks.py", 9), ("on_batch_end", "train.py", 33)])),
            **runs.window(KERNELS),
        }
    )


def test_a_slow_callback_is_named_with_its_line(tmp_path: Path) -> None:
    """Its time is that of the phase."""
    finding = pick(planted().diagnosis(tmp_path), "slow-callback")

    assert (finding.at_stake_ns, finding.file, finding.line) == (S, "train.py", 33)
    assert finding.claim.startswith("Callbacks, most of all on_batch_end in train.py, hold the training up: 1.00 s")


@pytest.mark.parametrize(
    ("hook", "advice"),
    [
        ("on_batch_end", "Do that work once an epoch instead of at each batch"),
        ("on_train_batch_begin", "Do that work once an epoch instead of at each batch"),
        ("on_epoch_end", "It is done at the beginning or the end of epochs: do it every few epochs or once"),
        ("on_train_begin", "It is done once in a training, as it begins or ends"),
    ],
)
def test_the_advice_follows_how_often_a_callback_is_called(hook: str, advice: str, tmp_path: Path) -> None:
    """By the method that Keras calls, whatever that one calls in turn."""
    calls = [
        (f"CallbackList.{hook}", "keras/src/callbacks/callback_list.py", 9),
        (f"Own.{hook}", "train.py", 33),
        ("on_predict_batch_end", "train.py", 40),
    ]
    stood = sampled((7, 8, [*FIT, *calls]))

    assert pick(diagnosed(tmp_path / "r", **in_callbacks() | stood), "slow-callback").next_step.startswith(advice)


@pytest.mark.parametrize(
    "calls",
    [
        [("on_train_batch_end", "keras/src/callbacks/callback_list.py", 9), ("wait", "<python>/threading.py", 5)],
        [("CallbackList.on_batch_end", "keras/callbacks.py", 119), ("median", "numpy/lib/function_base.py", 3816)],
        [
            ("CallbackList.on_batch_end", "keras/callbacks.py", 117),
            ("BaseLogger.on_batch_end", "keras/callbacks.py", 239),
        ],
    ],
)
def test_what_keras_does_in_every_fit_is_no_callback_of_the_users(calls: list[Call], tmp_path: Path) -> None:
    """Its list of callbacks, its sums, and threads of a pool that wait; of Keras 2 the median of its own times."""
    stood = sampled((7, 8, [*FIT, *calls]))

    assert "slow-callback" not in slugs(diagnosed(tmp_path / "r", **in_callbacks() | stood))


def test_a_callback_that_copies_weights_is_told_to_change_them_where_they_are(tmp_path: Path) -> None:
    """For most of its time it stands in methods of Keras that bring them to the host, and back."""
    own = [("on_train_batch_end", "keras/src/callbacks/callback_list.py", 9), ("on_train_batch_end", "train.py", 33)]
    tables = in_callbacks(
        *own, ("Layer.set_weights", "keras/src/layers/layer.py", 740), ("assign", "keras/src/x.py", 9)
    )
    finding = pick(diagnosed(tmp_path / "r", **tables), "slow-callback")

    assert finding.next_step.startswith("get_weights and set_weights copy weights to the host and back")
    assert finding.fix == "kernel_constraint=... of the layer, or variable.assign(...), in place of set_weights"
