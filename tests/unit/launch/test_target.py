"""What is to be run, and on what."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dlprof.backends import registry
from dlprof.config import TraceConfig
from dlprof.errors import NoInputError, UsageError
from dlprof.launch import target
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.launch.target import Target
from dlprof.schema.manifest import Backend


def on(packages: dict[str, str | None], backend: str | None = None, **environment: str) -> Target:
    """An interpreter with these packages, of a backend or of the user's own."""
    facts = InterpreterFacts(Path(sys.executable), (3, 11, 7), "cpython", "linux-x86_64", sys.prefix, packages)
    spec = registry.get(backend) if backend else None
    return Target(facts, spec, "managed" if spec else "python", environment, None, None)


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


@pytest.mark.parametrize(
    ("backend", "environment", "asynchronous", "inside"),
    [
        ("native-jax", {}, True, False),
        ("tensorflow1", {}, False, False),
        (None, {"KERAS_BACKEND": "jax"}, True, False),
        (None, {"KERAS_BACKEND": "tensorflow"}, False, True),
        (None, {}, False, False),
    ],
)
def test_the_manifest_says_how_steps_return(
    backend: str | None, environment: dict[str, str], asynchronous: bool, inside: bool
) -> None:
    """By the backend that was asked for, else by what Keras is told to use."""
    told = target.backend(on({}, backend, **environment))

    assert (told.name, told.asynchronous_dispatch, told.input_inside_step) == (backend, asynchronous, inside)


def test_a_program_has_no_backend() -> None:
    """Nothing is known of what it trains on."""
    assert target.backend(Target(None, None, "program", {}, None, None)) == Backend(source="program")


@pytest.mark.parametrize(
    ("packages", "backend", "missing"),
    [
        ({"keras": "3.15.0"}, None, False),
        ({"tf_keras": None}, None, False),
        ({"torch": "2.13"}, None, True),
        ({"torch": "2.13"}, "native-torch", False),
    ],
)
def test_an_interpreter_without_keras_is_warned_of(
    packages: dict[str, str | None], backend: str | None, missing: bool, tmp_path: Path
) -> None:
    """Unless none is wanted."""
    (tmp_path / "train.py").write_text("import keras\n")
    config = TraceConfig(script=str(tmp_path / "train.py"))

    assert (target.keras_missing(on(packages, backend), config) is not None) is missing


def test_a_script_that_does_not_name_keras_is_not_told_that_there_is_none(tmp_path: Path) -> None:
    """A module may import it, wherever it is."""
    (tmp_path / "train.py").write_text("import torch\n")

    assert target.keras_missing(on({}, None), TraceConfig(script=str(tmp_path / "train.py"))) is None
    assert target.keras_missing(on({}, None), TraceConfig(module="package.train")) is not None


def test_variables_that_change_how_fast_training_runs_are_kept() -> None:
    """And no others: they are the user's own affair."""
    assert target.kept_environment(on({}, None, OMP_NUM_THREADS="2", HOME="/root")) == {"OMP_NUM_THREADS": "2"}


def test_a_script_in_a_pipe_is_refused(tmp_path: Path) -> None:
    """As in `dlprof trace <(sed s/a/b/ train.py)`: dlprof would read it empty, and an empty script would run."""
    pipe = tmp_path / "train.py"
    os.mkfifo(pipe)

    with pytest.raises(NoInputError, match="is no file: a pipe gives its text once") as refused:
        target.check_script(TraceConfig(script=str(pipe)))

    assert refused.value.hint == "write the script to a file first, and trace that"


def test_a_script_from_standard_input_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `-` is no path that was misspelled."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(NoInputError) as refused:
        target.check_script(TraceConfig(script="-"))

    assert refused.value.hint == "write the script to a file first, and trace that; none is read from standard input"


def test_a_folder_with_a_main_is_a_script(tmp_path: Path) -> None:
    """Python runs it by that file; another folder is refused."""
    (tmp_path / "app").mkdir()
    with pytest.raises(UsageError, match="app is a folder, not a script"):
        target.check_script(TraceConfig(script=str(tmp_path / "app")))
    (tmp_path / "app" / "__main__.py").touch()

    target.check_script(TraceConfig(script=str(tmp_path / "app")))

    assert target.main_file(str(tmp_path / "app")) == tmp_path / "app" / "__main__.py"
