"""A copy of a run has nothing of what was to be left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.errors import CannotCreateError
from dlprof.pipeline import redacting
from dlprof.pipeline.opening import open_run
from dlprof.redaction import Part
from dlprof.rundir import RunDir
from dlprof.store.run import Run
from tests.unit import runs

MANIFEST: dict[str, Any] = {
    "script_folder": "/home/ada/secret",
    "machine": {"host": "box7", "cores": 2},
    "command": {"script": "/home/ada/secret/train.py", "argv": ["--data", "/home/ada/x"]},
    "config": {"python": "/home/ada/venv/bin/python"},
    "gpus": [{"gpu": 0, "name": "H100", "uuid": "GPU-1234"}],
}


def make(folder: Path) -> Run:
    """A run that knows a user, a machine, a source line and a command."""
    lines = [{"file": "train.py", "function": "f", "line": 3, "hits": 1, "time_ns": 5, "source": "key = 'x1'"}]
    processes = [{"pid": 42, "role": "main", "command": "/usr/bin/python train.py --data /home/ada/x"}]
    health = [{"slug": "left", "severity": "info", "message": "box7 left /home/ada/tmp/x.log", "count": 1}]
    rows = {"lines": lines, "processes": processes, "health": health, "phases": runs.phases(fit_steps=9)}
    named = {name: [{**row, "host": "box7"} for row in table] for name, table in rows.items() if name != "health"}
    return runs.make(folder, runs.manifest(**MANIFEST), **{**rows, **named})


def everything(folder: Path) -> str:
    """All texts of a run."""
    run = Run(RunDir(folder), RunDir(folder).read_manifest())
    return "\n".join([*redacting._strings(run), (folder / "manifest.json").read_text()])


def test_a_copy_tells_neither_place_nor_person_nor_text(tmp_path: Path) -> None:
    """Wherever in the run it stood."""
    done = redacting.redact(make(tmp_path / "r"), tmp_path / "copy", tuple(Part))

    told = everything(tmp_path / "copy")
    assert [word for word in ("ada", "secret", "box7", "x1", "--data", "GPU-1234", "venv") if word in told] == []
    assert done.names == {"box7": "host", "ada": "user"}


def test_figures_and_names_of_the_code_stay(tmp_path: Path) -> None:
    """A report of the copy says what one of the run says."""
    run = make(tmp_path / "r")
    redacting.redact(run, tmp_path / "copy", tuple(Part))

    copy = Run(RunDir(tmp_path / "copy"), RunDir(tmp_path / "copy").read_manifest())
    assert copy.rows("phases") == [{**row, "host": "host"} for row in run.rows("phases")]
    assert [(row["file"], row["line"], row["time_ns"], row["source"]) for row in copy.rows("lines")] == [
        ("train.py", 3, 5, None)
    ]


@pytest.mark.parametrize(
    ("kept", "word"),
    [(Part.PATHS, "secret"), (Part.HOST, "box7"), (Part.USER, "ada"), (Part.SOURCE, "x1"), (Part.ARGUMENTS, "--data")],
)
def test_what_is_kept_stays(tmp_path: Path, kept: Part, word: str) -> None:
    """Each part for itself."""
    hidden = tuple(part for part in Part if part is not kept and not (kept is Part.USER and part is Part.PATHS))
    redacting.redact(make(tmp_path / "r"), tmp_path / "copy", hidden)

    assert word in everything(tmp_path / "copy")


def test_the_copy_says_what_was_taken_out(tmp_path: Path) -> None:
    """In its health section, after what was there."""
    redacting.redact(make(tmp_path / "r"), tmp_path / "copy", (Part.HOST, Part.SOURCE))

    copy = Run(RunDir(tmp_path / "copy"), RunDir(tmp_path / "copy").read_manifest())
    assert [(row["slug"], row["message"]) for row in copy.rows("health")] == [
        ("left", "host left /home/ada/tmp/x.log"),
        ("redacted", "Taken out of this copy: host, source."),
    ]


def test_the_copy_is_for_its_owner_and_has_no_raw_artifacts(tmp_path: Path) -> None:
    """They hold everything."""
    redacting.redact(make(tmp_path / "r"), tmp_path / "copy", tuple(Part))

    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == ["manifest.json", "tables"]
    assert oct((tmp_path / "copy").stat().st_mode & 0o777) == "0o700"


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    """Nothing in it is touched."""
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "x").write_text("mine")

    with pytest.raises(CannotCreateError, match="is not empty"):
        redacting.redact(make(tmp_path / "r"), tmp_path / "copy", tuple(Part))

    assert (tmp_path / "copy" / "x").read_text() == "mine"


def test_the_tables_of_a_copy_are_known_to_be_all(tmp_path: Path) -> None:
    """Whoever opens it is told of no doubts; a table that is damaged afterwards is noticed."""
    redacting.redact(make(tmp_path / "r"), tmp_path / "copy", tuple(Part))

    assert [row["slug"] for row in open_run(str(tmp_path / "copy")).rows("health")] == ["left", "redacted"]

    (tmp_path / "copy" / "tables" / "lines.parquet").write_bytes(b"damaged")
    assert "lines" in open_run(str(tmp_path / "copy")).lost
