"""Finding interpreters, and asking them what they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dlprof.engines import registry as engines
from dlprof.engines.base import EngineSpec
from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.launch import interpreters


def program(path: Path, text: str) -> Path:
    """A shell script that can be started."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def python(path: Path, version: str, implementation: str = "cpython", packages: str = "{}") -> Path:
    """A stand-in that answers as the interpreter of a version would."""
    numbers = version.replace(".", ",")
    return program(
        path,
        f'echo \'DLPROF{{"version": [{numbers}], "implementation": "{implementation}", "platform": "p", '
        f'"prefix": "/", "packages": {packages}}}\'',
    )


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No interpreter on PATH, in pyenv's and uv's folders, and dlprof's own too old for everything."""
    own = python(tmp_path / "own", "3.6.1")
    monkeypatch.setattr(sys, "_base_executable", str(own))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "DLPROF_PYTHONS"):
        monkeypatch.delenv(name, raising=False)
    interpreters._ask.cache_clear()
    return tmp_path


def test_the_interpreter_of_dlprof_comes_first(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is there."""
    own = python(nowhere / "mine", "3.11.7")
    python(nowhere / "bin" / "python3.12", "3.12.1")
    monkeypatch.setattr(sys, "_base_executable", str(own))

    assert interpreters.find(">=3.11").path == own


@pytest.mark.parametrize(
    "place",
    [
        "bin/python3.11",
        "bin/python3",
        "home/.pyenv/versions/3.11.7/bin/python3",
        "home/.local/share/uv/python/cpython-3.11.7-linux/bin/python3",
    ],
)
def test_path_pyenv_and_uv_are_looked_through(nowhere: Path, place: str) -> None:
    """Each of the places where interpreters usually are."""
    made = python(nowhere / place, "3.11.7")

    assert interpreters.find(">=3.11,<3.13").path == made


@pytest.mark.parametrize("place", ["x/some-python", "x/bin/python3.11", "x/3.11.7/bin/python3"])
def test_dlprof_pythons_names_programs_and_folders(nowhere: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """A program itself, a prefix, or a folder of prefixes; it outweighs PATH."""
    made = python(nowhere / place, "3.11.7")
    python(nowhere / "bin" / "python3.11", "3.11.2")
    named = made if place == "x/some-python" else nowhere / "x"
    monkeypatch.setenv("DLPROF_PYTHONS", f"{nowhere}/missing{os.pathsep}{named}")

    assert interpreters.find(">=3.11,<3.13").path == made


@pytest.mark.parametrize(
    "broken",
    ["exit 1", "echo DLPROFnonsense", "echo pyenv: python3.12: command not found >&2; exit 127", "kill -9 $$"],
)
def test_a_candidate_that_does_not_answer_is_passed_over(nowhere: Path, broken: str) -> None:
    """Such as a shim of pyenv that leads nowhere."""
    program(nowhere / "bin" / "python3.12", broken)
    good = python(nowhere / "bin" / "python3.11", "3.11.7")

    assert interpreters.find(">=3.11").path == good


def test_a_candidate_that_hangs_is_passed_over(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a short while."""
    monkeypatch.setattr(interpreters, "_SECONDS_EACH", 0.5)
    program(nowhere / "bin" / "python3.12", f"exec {sys.executable} -c 'import time; time.sleep(1000)'")
    good = python(nowhere / "bin" / "python3.11", "3.11.7")

    assert interpreters.find(">=3.11").path == good


def test_another_implementation_is_passed_over(nowhere: Path) -> None:
    """The wheels of the locks are for CPython."""
    python(nowhere / "bin" / "python3.12", "3.12.1", "pypy")
    good = python(nowhere / "bin" / "python3.11", "3.11.7")

    assert interpreters.find(">=3.11").path == good


def test_none_found_says_where_it_was_looked_for_and_what_to_do(nowhere: Path) -> None:
    """One sentence and a command."""
    with pytest.raises(UnavailableError) as caught:
        interpreters.find(">=3.11,<3.13")

    assert caught.value.message.startswith("No Python >=3.11,<3.13 was found on PATH")
    assert str(caught.value.hint).startswith("uv python install 3.11")


def test_a_folder_is_answered_with_the_program_in_it(tmp_path: Path) -> None:
    """The hint names the flag as it should have been."""
    with pytest.raises(UsageError) as caught:
        interpreters.inspect(tmp_path)

    assert caught.value.hint == f"--python {tmp_path}/bin/python"


def test_a_missing_file_is_no_interpreter(tmp_path: Path) -> None:
    """It is said with its name, and what to give."""
    with pytest.raises(NoInputError) as caught:
        interpreters.inspect(tmp_path / "python")

    assert caught.value.message == f"There is no interpreter {tmp_path}/python."
    assert str(caught.value.hint).startswith("--python PATH/bin/python, ")


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(
    ("typed", "hint"),
    [("torch-py311", "--backend torch, "), ("native-torch", "--backend native-torch, "), ("pyhton", "--python PATH/")],
)
def test_the_name_of_a_managed_environment_is_no_interpreter(typed: str, hint: str) -> None:
    """It is given as a backend; of other words only an example can be told."""
    with pytest.raises(NoInputError, match="no program on PATH has that name") as caught:
        interpreters.inspect(typed)

    assert str(caught.value.hint).startswith(hint)


def test_another_program_is_no_interpreter() -> None:
    """What it prints of itself would tell nothing."""
    with pytest.raises(UsageError) as caught:
        interpreters.inspect("/bin/ls")

    assert str(caught.value.hint).startswith("--python PATH/bin/python, ")


def test_a_file_of_such_a_name_that_is_no_program_is_no_interpreter(tmp_path: Path) -> None:
    """The hint is a command that shows why."""
    file = tmp_path / "python3"
    file.write_text("hello")

    with pytest.raises(UsageError) as caught:
        interpreters.inspect(file)

    assert caught.value.hint == f"{file} --version"


def test_a_python_that_is_too_old_is_told_so(tmp_path: Path) -> None:
    """With its version."""
    old = python(tmp_path / "python2", "2.7.18")

    with pytest.raises(UsageError, match=r"is Python 2\.7\.18; dlprof traces Python 3\.6 and newer"):
        interpreters.inspect(old)


def test_facts_of_this_interpreter() -> None:
    """The real script, run by the real interpreter."""
    facts = interpreters.inspect(sys.executable)

    assert facts.version == sys.version_info[:3]
    assert facts.prefix == sys.prefix
    assert facts.implementation == "cpython"
    assert facts.packages["numpy"] is not None


def test_a_link_into_a_virtual_environment_is_not_resolved(tmp_path: Path) -> None:
    """Resolved, it would lead to the interpreter outside."""
    link = tmp_path / "link"
    link.symlink_to(sys.executable)

    assert interpreters.inspect(link).path == link


def test_an_empty_folder_with_the_name_of_a_framework_is_not_the_framework(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as is left when a package was removed; a real one on PYTHONPATH counts."""
    (tmp_path / "theano" / "gof").mkdir(parents=True)
    (tmp_path / "cntk").mkdir()
    (tmp_path / "cntk" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    interpreters._ask.cache_clear()

    found = interpreters.inspect(sys.executable).packages

    interpreters._ask.cache_clear()
    assert "theano" not in found
    assert found["cntk"] is None


def test_what_a_site_prints_at_start_does_not_hide_the_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sitecustomize that greets."""
    (tmp_path / "sitecustomize.py").write_text("print('welcome')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    interpreters._ask.cache_clear()

    facts = interpreters.inspect(sys.executable)

    interpreters._ask.cache_clear()
    assert facts.version == sys.version_info[:3]


def test_a_path_that_names_the_standard_library_too_is_no_hindrance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a program hands its whole import path on; a `json.py` on it is not loaded."""
    (tmp_path / "json.py").write_text("raise SystemExit(3)\n")
    library = str(Path(os.__file__).parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), library, f"{library}/lib-dynload"]))
    interpreters._ask.cache_clear()

    facts = interpreters.inspect(sys.executable)

    interpreters._ask.cache_clear()
    assert facts.version == sys.version_info[:3]


def test_an_interpreter_is_asked_for_the_modules_of_all_engines() -> None:
    """Those of plug-ins too; TensorFlow's two lives share their module."""
    asked = interpreters.asked_for()

    assert {spec.module for spec in engines.all_specs().values()} < set(asked)
    assert asked["tensorflow"] == ("tensorflow", "tensorflow-cpu", "tensorflow-gpu")
    assert list(asked)[:2] == ["keras", "tf_keras"]


def test_an_engine_of_a_plug_in_is_seen_in_an_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its module; the registry of packages does not know its version."""
    toy = EngineSpec(name="toy", title="Toy", module="toy_engine", distributions=("toy-engine",))
    (tmp_path / "toy_engine.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(engines, "plugged_in", lambda: (toy,))
    interpreters._ask.cache_clear()

    found = interpreters.inspect(sys.executable).packages

    interpreters._ask.cache_clear()
    assert "toy_engine" in found
    assert found["toy_engine"] is None
