"""Training loops that scripts wrote themselves: found without marks, and the scripts run as they do without dlprof."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.backends import registry as backends
from dlprof.launch import environments
from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPTS = Path(__file__).parent / "own_loops"


def traced(tmp_path: Path, script: str, backend: str) -> dict[str, Any]:
    """The report of a script, which has printed what it prints bare."""
    path = SCRIPTS / f"{script}.py"
    done = runner.trace(str(path), "--backend", backend, cwd=tmp_path)
    spec = backends.get(backend)
    python = environments.ensure(spec, report=print).python
    bare = runner.run([str(python), str(path)], cwd=tmp_path, env=dict(spec.environment))
    assert (done.code, done.out) == (bare.code, bare.out), done.err
    return runner.report(tmp_path)


def places(content: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Name, line, runs, epochs and steps of each loop; all of them are inferred, in the script."""
    found = content["loops"]
    assert {one["how"] for one in found} == {"inferred"}
    return [tuple(one[name] for name in ("name", "line", "runs", "epochs", "steps")) for one in found]


@pytest.mark.parametrize(
    ("script", "backend", "expected"),
    [
        ("jax_steps", "native-jax", [("fit", 27, 1, 3, 18), ("evaluate", 29, 3, None, 3), ("fit", 39, 1, 1, 5)]),
        ("jax_evaluated", "native-jax", [("fit", 30, 1, 3, 18), ("evaluate", 34, 3, None, 12), ("fit", 39, 1, 4, 8)]),
        ("tensorflow_tape", "native-tensorflow", [("fit", 22, 1, 2, 16), ("fit", 27, 1, 1, 5), ("fit", 52, 1, 1, 4)]),
        (
            "tensorflow_evaluated",
            "native-tensorflow",
            [("fit", 41, 1, 2, 12), ("evaluate", 45, 2, None, 8), ("fit", 51, 1, 1, 3)],
        ),
        ("tensorflow_session", "native-tensorflow", [("fit", 27, 1, 3, 12), ("fit", 33, 1, 1, 6)]),
        ("tensorflow_session", "native-tensorflow1", [("fit", 27, 1, 3, 12), ("fit", 33, 1, 1, 6)]),
        ("gluon_mlp", "native-gluon", [("fit", 16, 1, 2, 12)]),
        ("gluon_evaluated", "native-gluon", [("fit", 17, 2, 3, 15), ("evaluate", 29, 2, None, 6)]),
        (
            "mxnet_module",
            "native-gluon",
            [("fit", 45, 1, 2, 16), ("evaluate", 45, 2, None, 4), ("evaluate", 46, 1, None, 2), ("fit", 55, 1, 3, 18)],
        ),
        ("chainer_loop", "native-chainer", [("fit", 13, 1, 2, 12), ("fit", 34, 1, 3, 18)]),
        ("theano_functions", "native-lasagne", [("fit", 15, 1, 3, 15)]),
        ("keras_torch_loop", "torch", [("fit", 16, 1, 2, 12)]),
        (
            "keras_torch_evaluated",
            "torch",
            [
                ("fit", 17, 1, 3, 18),
                *[("evaluate", line, 3, None, steps) for line, steps in ((21, 6), (23, 6), (27, 3))],
            ],
        ),
        ("torch_by_hand", "native-torch", [("fit", 25, 1, 3, 30), ("fit", 32, 1, 1, 8), ("fit", 42, 1, 2, 12)]),
        (
            "tensorflow_by_hand",
            "native-tensorflow",
            [("fit", 18, 1, 3, 30), ("fit", 33, 1, 1, 8), ("fit", 40, 1, 2, 12)],
        ),
        ("gluon_by_hand", "native-gluon", [("fit", 20, 1, 3, 30), ("fit", 31, 1, 2, 12), ("fit", 39, 1, 1, 5)]),
        ("jax_by_hand", "native-jax", [("fit", 22, 1, 3, 30), ("fit", 28, 1, 2, 12)]),
    ],
)
def test_steps_and_epochs_of_other_engines(
    tmp_path: Path, script: str, backend: str, expected: list[tuple[Any, ...]]
) -> None:
    """The same for each."""
    assert places(traced(tmp_path, script, backend)) == expected


def test_updates_in_a_graph_of_torch_compile_are_steps_and_its_breaks_are_told(tmp_path: Path) -> None:
    """One for each call of the graph that holds the update. The breaks are those that the script prints."""
    content = traced(tmp_path, "torch_compiled_step", "native-torch")

    assert places(content) == [("fit", 22, 1, 2, 16)]
    assert [entry["slug"] for entry in content["health"] if entry["slug"] == "update-compiled"] == []
    assert [(one["reason"], one["count"], one["file"], one["line"]) for one in content["graph_breaks"]] == [
        ("Unsupported Tensor.backward() call", 1, "torch_compiled_step.py", 15),
        ("Call to `torch._dynamo.graph_break()`", 1, "torch_compiled_step.py", 16),
        ("Call to `torch._dynamo.graph_break()`", 1, "torch/optim/optimizer.py", 79),
        ("Attempted to inline function marked as skipped", 1, "torch_compiled_step.py", 17),
    ]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("torch_mlp", [("fit", 11, 1, 3, 30), ("evaluate", 24, 3, None, 12)]),
        ("torch_gan", [("fit", 15, 1, 2, 12)]),
        (
            "torch_evaluated",
            [
                ("evaluate", 34, 4, None, 4),
                ("fit", 32, 1, 1, 40),
                ("fit", 41, 1, 1, 12),
                ("evaluate", 47, 12, None, 12),
            ],
        ),
        ("torch_accumulated", [("fit", 13, 1, 2, 6)]),
        ("torch_folds", [("fit", 15, 3, 6, 30)]),
        ("torch_compiled", [("fit", 11, 1, 1, 20)]),
        ("torch_lbfgs", [("fit", 18, 1, 1, 7), ("fit", 24, 1, 1, 3)]),
    ],
)
def test_steps_and_epochs_of_torch(tmp_path: Path, script: str, expected: list[tuple[Any, ...]]) -> None:
    """As many as the script says in its first line, with the line of its loop."""
    assert places(traced(tmp_path, script, "native-torch")) == expected


def test_sequences_of_which_all_is_computed_anew_for_each_word_are_told(tmp_path: Path) -> None:
    """Two texts of 2 to 41 words; not the training, a text with a state, and lengths that are far apart."""
    traced(tmp_path, "torch_written", "native-torch")

    told = runner.sql(tmp_path, "SELECT name, file, line, detail FROM spans WHERE kind = 'growing_input'")

    assert [(one["name"], one["file"], one["line"]) for one in told] == [("Words", "torch_written.py", 20)] * 2
    facts = [json.loads(one["detail"])["growing"] for one in told]
    assert [(one["calls"], one["first"], one["last"], one["turns"]) for one in facts] == [(40, 2, 41, 38)] * 2
