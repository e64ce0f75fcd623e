"""What of a plug-in's engine reaches the traced process."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dlprof.engines import registry
from dlprof.engines.base import EngineSpec
from dlprof.launch import payload
from dlprof.rundir import RunDir
from dlprof.schema.process_config import ProcessConfig

SPEC = EngineSpec(name="my-abacus", title="Abacus", module="abacus", distributions=("abacus",))


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """A new run folder."""
    folder = RunDir(tmp_path / "run")
    folder.raw.mkdir(parents=True)
    return folder


def staged(run: RunDir) -> dict[str, Any]:
    """The configuration that the process gets."""
    config = ProcessConfig(raw=str(run.raw), status=str(payload.status_file(run)), script="train.py")
    return json.loads(Path(payload.stage(run, config)[1]).read_text())  # type: ignore[no-any-return]


def test_without_plug_ins_nothing_is_added(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dlprof's own engines are in the payload anyway."""
    monkeypatch.setattr(registry, "plugged_in", lambda: (SPEC,))

    assert staged(run)["engine_plugins"] == {}


def test_a_plug_ins_half_is_copied_beside_dlprofs_own(
    run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a name that a module can have."""
    (tmp_path / "half.py").write_text("ENGINE = None\n")
    monkeypatch.setattr(registry, "plugged_in", lambda: (replace(SPEC, probe=tmp_path / "half.py"),))

    plugins = staged(run)["engine_plugins"]

    copy = run.payload / "dlprof_probes" / "inproc" / "engines" / "plugged_in" / "my_abacus.py"
    assert plugins == {"my_abacus": str(copy)}
    assert copy.read_text() == "ENGINE = None\n"


def test_a_half_that_is_not_there_keeps_its_path(run: RunDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process notes that it cannot be loaded; the script runs all the same."""
    monkeypatch.setattr(registry, "plugged_in", lambda: (replace(SPEC, probe=tmp_path / "gone.py"),))

    assert staged(run)["engine_plugins"] == {"my_abacus": str(tmp_path / "gone.py")}


def test_a_cell_loads_it_from_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is copied for the process that runs already."""
    monkeypatch.setattr(registry, "plugged_in", lambda: (replace(SPEC, probe=tmp_path / "half.py"),))

    assert payload.engine_plugins() == {"my_abacus": str(tmp_path / "half.py")}
