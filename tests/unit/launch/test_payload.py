"""The copy of the probe in the run folder, and the private home of Keras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dlprof.engines import registry as engines
from dlprof.engines.base import EngineSpec
from dlprof.errors import CannotCreateError
from dlprof.launch import payload
from dlprof.rundir import RunDir
from dlprof.schema.process_config import ProcessConfig


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """An empty run folder."""
    (tmp_path / "run" / "raw").mkdir(parents=True)
    return RunDir(tmp_path / "run")


def config(run: RunDir) -> ProcessConfig:
    """What the probe is told."""
    return ProcessConfig(raw=str(run.raw), status=str(payload.status_file(run)), script="/a.py", argv=("a.py", "-x"))


def test_the_probe_is_a_copy_and_what_it_is_told_lies_in_the_run_folder(run: RunDir) -> None:
    """Nothing is installed."""
    start, told = payload.stage(run, config(run))

    assert Path(start).parts[-3:] == ("dlprof_probes", "inproc", "entry")
    assert sorted(file.name for file in Path(start).glob("*.py")) == ["__main__.py", "sitecustomize.py"]
    assert Path(told) == run.payload / "config.json"
    content = json.loads(Path(told).read_text())
    assert (content["script"], content["argv"], content["raw"]) == ("/a.py", ["a.py", "-x"], str(run.raw))


def test_room_for_the_last_words_is_reserved_and_blank(run: RunDir) -> None:
    """So that a full disk cannot keep them back."""
    payload.stage(run, config(run))

    assert payload.status_file(run).stat().st_size == 1024
    assert payload.failure(run) is None


@pytest.mark.parametrize(
    ("words", "told"), [('{"failed": "it broke"}   ', "it broke"), ("half a line", "half a line"), ("[]", "[]")]
)
def test_the_last_words_are_the_reason(run: RunDir, words: str, told: str) -> None:
    """As they are where they are no JSON."""
    payload.status_file(run).write_text(words)

    assert payload.failure(run) == told


def test_the_copy_is_taken_away_again(run: RunDir) -> None:
    """What was recorded stays."""
    payload.stage(run, config(run))
    payload.remove(run)

    assert [path.name for path in run.path.iterdir()] == ["raw"]


def test_a_run_folder_that_cannot_be_written_is_one_sentence(run: RunDir) -> None:
    """Before the script starts."""
    run.payload.write_text("in the way")

    with pytest.raises(CannotCreateError, match="Cannot write to"):
        payload.stage(run, config(run))


def test_an_engine_of_a_plug_in_is_copied_beside_those_of_dlprof(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is told where it is."""
    (tmp_path / "toy.py").write_text("ENGINE = None\n")
    toy = EngineSpec(name="my-toy", title="Toy", module="toy", distributions=("toy",), probe=tmp_path / "toy.py")
    monkeypatch.setattr(engines, "plugged_in", lambda: (toy,))

    _, told = payload.stage(run, config(run))

    plugins = json.loads(Path(told).read_text())["engine_plugins"]
    assert list(plugins) == ["my_toy"]
    assert Path(plugins["my_toy"]).read_text() == "ENGINE = None\n"
    assert run.payload in Path(plugins["my_toy"]).parents


@pytest.fixture
def keras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home of Keras, with data sets and settings."""
    home = tmp_path / "keras"
    (home / "datasets").mkdir(parents=True)
    (home / "keras.json").write_text("{}")
    monkeypatch.setenv("KERAS_HOME", str(home))
    return home


@pytest.mark.parametrize(("own", "names"), [(True, ["datasets", "keras.json"]), (False, ["datasets"])])
def test_the_users_settings_are_for_interpreters_of_their_own(
    run: RunDir, keras: Path, own: bool, names: list[str]
) -> None:
    """Data sets are shared with all."""
    home = payload.make_keras_home(run, own=own)

    assert sorted(path.name for path in home.iterdir()) == names
    assert (home / "datasets").resolve() == keras / "datasets"


def test_what_was_downloaded_goes_to_the_users_home(run: RunDir, keras: Path) -> None:
    """It is not downloaded twice."""
    home = payload.make_keras_home(run, own=True)
    (home / "models").mkdir()
    (home / "models" / "weights.h5").touch()

    payload.remove_keras_home(run)

    assert (keras / "models" / "weights.h5").is_file()
    assert not home.exists()


SPEC = EngineSpec(name="my-abacus", title="Abacus", module="abacus", distributions=("abacus",))


def staged(run: RunDir) -> dict[str, Any]:
    """The configuration that the process gets."""
    return json.loads(Path(payload.stage(run, config(run))[1]).read_text())  # type: ignore[no-any-return]


def test_without_plug_ins_nothing_is_added(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dlprof's own engines are in the payload anyway."""
    monkeypatch.setattr(engines, "plugged_in", lambda: (SPEC,))

    assert staged(run)["engine_plugins"] == {}


def test_a_half_that_is_not_there_keeps_its_path(run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process notes that it cannot be loaded; the script runs all the same."""
    monkeypatch.setattr(engines, "plugged_in", lambda: (replace(SPEC, probe=tmp_path / "gone.py"),))

    assert staged(run)["engine_plugins"] == {"my_abacus": str(tmp_path / "gone.py")}


def test_a_cell_loads_it_from_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is copied for the process that runs already."""
    monkeypatch.setattr(engines, "plugged_in", lambda: (replace(SPEC, probe=tmp_path / "half.py"),))

    assert payload.engine_plugins() == {"my_abacus": str(tmp_path / "half.py")}


@pytest.mark.parametrize(("given", "rest"), [(None, ""), ("", ""), ("/a:/b", ":/a:/b")])
def test_the_entry_is_first_on_the_path_of_the_process(given: str | None, rest: str) -> None:
    """The process takes it away again; an empty PYTHONPATH is as good as none."""
    assert payload.python_path("/copy/entry", given) == f"/copy/entry{rest}"
