"""Scenarios that come with dlprof."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError, NoInputError, UnavailableError
from dlprof.shipped import scenarios


def relative(copied: scenarios.Copied, target: Path) -> set[str]:
    """Names of the files of a copy."""
    return {path.relative_to(target).as_posix() for path in copied.files}


def test_scripts_are_scenarios_and_their_helpers_are_not() -> None:
    """By their names, each with what it says of itself."""
    found = {one.name: one for one in scenarios.all_scenarios()}

    assert set(found) == {"cifar", "cnn", "delays", "lenet", "lstm", "mlp", "resnet50", "transformer"}
    assert found["mlp"].about.startswith("The classic Keras MLP on MNIST-shaped data")
    assert set(found["mlp"].without_keras) >= {"torch", "jax", "tensorflow1"}
    assert found["transformer"].without_keras == ()


def test_a_scenario_is_copied_with_all_that_it_imports(tmp_path: Path) -> None:
    """Helpers beside it, its twins without Keras, and theirs."""
    copied = scenarios.copy("mlp", tmp_path)

    names = relative(copied, tmp_path)
    assert copied.script == tmp_path / "mlp.py"
    assert {"mlp.py", "workload.py", "inputs.py", "native/mlp_torch.py", "native/training_torch.py"} <= names
    assert "native/common.py" in names
    assert "cnn.py" not in names
    assert copied.written == len(names)


def test_a_scenario_without_twins_brings_none(tmp_path: Path) -> None:
    """Three files in all."""
    assert relative(scenarios.copy("transformer", tmp_path), tmp_path) == {"transformer.py", "workload.py", "inputs.py"}


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    """And is no error."""
    scenarios.copy("mlp", tmp_path)

    assert scenarios.copy("mlp", tmp_path).written == 0


def test_a_file_that_the_user_changed_is_not_replaced_and_nothing_else_is_written(tmp_path: Path) -> None:
    """Unless it is forced."""
    (tmp_path / "workload.py").write_text("mine\n")

    with pytest.raises(CannotCreateError, match=r"workload\.py is there, and has other text"):
        scenarios.copy("mlp", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["workload.py"]

    assert scenarios.copy("mlp", tmp_path, force=True).written > 1
    assert (tmp_path / "workload.py").read_text() != "mine\n"


@pytest.mark.parametrize(
    ("name", "script", "some"),
    [
        ("faults", "faults", {"faults/README.md", "faults/assembled.toml", "mlp.py"}),
        ("outside", "outside", {"outside/truth.json"}),
        (
            "studies",
            "studies",
            {"studies/ranks.toml", "ranks/ddp_torch.py", "mlp.py", "native/lenet_gluon.py", "inputs.py"},
        ),
        ("all", ".", {"outside/truth.json", "faults/common.py", "native/common.py", "lstm.py"}),
    ],
)
def test_a_set_is_copied_whole(name: str, script: str, some: set[str], tmp_path: Path) -> None:
    """With its truths; no compiled files come along."""
    copied = scenarios.copy(name, tmp_path)

    names = relative(copied, tmp_path)
    assert copied.script == tmp_path / script
    assert some <= names
    assert [path for path in names if "__pycache__" in path] == []


def test_what_comes_with_the_sources_only_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a wheel, which has no problems of others."""
    (tmp_path / "workload.py").touch()
    monkeypatch.setattr(scenarios, "_PLACES", (tmp_path,))

    with pytest.raises(UnavailableError, match="comes with the sources of dlprof, not with an installed one"):
        scenarios.copy("outside", tmp_path / "copies")


def test_the_truths_of_a_copy_name_scripts_that_are_there(tmp_path: Path) -> None:
    """`dlprof exam` finds all that it runs."""
    from dlprof.trials.exam import truths

    scenarios.copy("faults", tmp_path)

    assert len(truths.load(tmp_path / "faults")) > 20


def test_the_matrices_of_a_copy_name_scripts_that_are_there(tmp_path: Path) -> None:
    """Wherever the copy lies; with the twins of backends without Keras."""
    from dlprof.bench import matrix

    scenarios.copy("studies", tmp_path / "mine")

    loaded = [matrix.load(path) for path in sorted((tmp_path / "mine" / "studies").glob("*.toml"))]
    assert [one.name for one in loaded] == [
        "frameworks", "keras-backends", "keras-native", "ranks", "tensorflow-mxnet", "theano-tensorflow",
    ]  # fmt: skip


def test_a_scenario_that_there_is_not_is_said_with_the_nearest(tmp_path: Path) -> None:
    """And nothing is made."""
    with pytest.raises(NoInputError, match=r"There is no scenario mpl; did you mean mlp\?"):
        scenarios.copy("mpl", tmp_path / "new")

    assert not (tmp_path / "new").exists()


def test_an_installation_without_them_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where they are only asked about, there are none."""
    monkeypatch.setattr(scenarios, "_PLACES", (tmp_path,))

    assert scenarios.known() == []
    with pytest.raises(UnavailableError, match="installed without its scenarios"):
        scenarios.folder()


def test_a_copy_finds_its_helpers(tmp_path: Path) -> None:
    """Python compiles it and what it imports of the scenarios."""
    scenarios.copy("mlp", tmp_path)

    code = "import inputs, pathlib; print(pathlib.Path(inputs.__file__).name)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout == "inputs.py\n"
