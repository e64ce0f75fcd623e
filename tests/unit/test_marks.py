"""Marks of programs that are no Python script, and the script that stands in for another without Keras."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dlprof.backends import registry
from dlprof.config import TraceConfig
from dlprof.errors import NoInputError, UsageError
from dlprof.launch import target
from dlprof.launch.mark_file import MarkFile


def test_lines_get_the_time_at_which_they_were_written(tmp_path: Path) -> None:
    """Also half lines, when their end comes, and the last one without an end."""
    file = MarkFile(tmp_path)
    before = time.perf_counter_ns()
    with file.path.open("a") as out:
        out.write("begin fit\nst")
        out.flush()
        time.sleep(0.05)
        out.write("ep\nend fit")
    file.stop()

    rows = [json.loads(line) for line in (tmp_path / "marks.jsonl").read_text().splitlines()]
    assert [text for _, text in rows] == ["begin fit", "step", "end fit"]
    assert before < rows[0][0] < rows[1][0] <= rows[2][0]


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A script with Keras, and its stand-ins for two frameworks."""
    (tmp_path / "native").mkdir()
    for name in ("mlp.py", "other.py", "native/mlp_torch.py", "native/cnn_torch.py", "native/loops_torch.py"):
        (tmp_path / name).touch()
    return tmp_path


def test_a_native_backend_runs_the_script_without_keras(scripts: Path) -> None:
    """It has the same name, and that of the framework, in the folder `native` beside."""
    config = TraceConfig(script=str(scripts / "mlp.py"), backend="native-torch")

    assert target.without_keras(config).script == str(scripts / "native" / "mlp_torch.py")


def test_a_model_that_a_native_backend_does_not_have_is_refused(scripts: Path) -> None:
    """With those that it has: running the one with Keras would be another thing than was asked for."""
    config = TraceConfig(script=str(scripts / "other.py"), backend="native-torch")

    with pytest.raises(UsageError, match="There is no other for native-torch") as caught:
        target.without_keras(config)

    assert caught.value.hint == "it has: cnn, mlp"


@pytest.mark.parametrize(("script", "backend"), [("other.py", "native-jax"), ("mlp.py", "torch"), ("mlp.py", None)])
def test_any_other_script_runs_as_it_is(scripts: Path, script: str, backend: str | None) -> None:
    """A native script of the user's own, or a backend of Keras."""
    config = TraceConfig(script=str(scripts / script), backend=backend)

    assert target.without_keras(config) == config


def test_native_backends_share_the_environment_of_the_framework() -> None:
    """And have no KERAS_BACKEND."""
    spec = registry.get("native-torch")

    assert (spec.environment_of, spec.keras_backend, spec.lock) == ("torch", "", registry.get("torch").lock)


def test_a_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Or that may not be run."""
    (tmp_path / "plain").touch()

    for program, said in (("no-such-program", "was not found on PATH"), (str(tmp_path / "plain"), "may not be run")):
        with pytest.raises(NoInputError, match=said):
            target.resolve(TraceConfig(program=program), report=print)


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("model.fit(x, y)", True),
        ("for _ in range(3):\n    history = model.train_on_batch(x, y)", True),
        ("def train():\n    model.fit(x, y)", False),
        ("if TRAIN:\n    model.fit(x, y)", False),
        ("model.predict(x)", False),
        ("this is no Python", False),
    ],
)
def test_a_script_that_surely_trains_is_refused_on_openvino(tmp_path: Path, text: str, refused: bool) -> None:
    """Before anything is made or run; what may never be reached is left to Keras."""
    script = tmp_path / "train.py"
    script.write_text(text)
    config = TraceConfig(script=str(script), backend="openvino")

    if not refused:
        target.check_training(config, registry.get("openvino"))
        return
    with pytest.raises(UsageError, match="line 1, calls .* but Keras on openvino cannot train"):
        target.check_training(config, registry.get("openvino"))
