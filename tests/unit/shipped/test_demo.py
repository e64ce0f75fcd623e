"""The runs of `dlprof demo`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlprof.errors import CannotCreateError, UnavailableError
from dlprof.pipeline.opening import open_run
from dlprof.schema.tables import SCHEMA_VERSION
from dlprof.shipped import demo


def test_the_runs_are_unpacked_side_by_side(tmp_path: Path) -> None:
    """Each with its manifest and tables, for none but their owner to look into."""
    unpacked = demo.unpack(tmp_path / "demo")

    assert [run.path.name for run in unpacked.runs] == ["mxnet", "tensorflow"]
    assert all(run.manifest_path.is_file() and (run.tables / "phases.parquet").is_file() for run in unpacked.runs)
    assert [run.path.stat().st_mode & 0o777 for run in unpacked.runs] == [0o700, 0o700]
    assert unpacked.written > 20


def test_what_is_there_stays_and_what_is_damaged_comes_back(tmp_path: Path) -> None:
    """A page that was written beside is the user's."""
    first = demo.unpack(tmp_path)
    (tmp_path / "mxnet" / "report.html").write_text("page")
    (tmp_path / "mxnet" / "tables" / "phases.parquet").write_bytes(b"damaged")

    assert first.written > 20
    assert demo.unpack(tmp_path).written == 1
    assert demo.unpack(tmp_path).written == 0
    assert (tmp_path / "mxnet" / "report.html").read_text() == "page"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    """The demo says where else it could go."""
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(CannotCreateError, match="is there, and is not the folder of the demo"):
        demo.unpack(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_installation_without_the_runs_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one sentence."""
    monkeypatch.setattr(demo, "ARCHIVE", tmp_path / "demo.zip")

    with pytest.raises(UnavailableError, match="installed without the demo's runs"):
        demo.unpack(tmp_path / "demo")


@pytest.mark.parametrize("name", ["mxnet", "tensorflow"])
def test_a_run_of_the_demo_is_whole_and_of_this_schema(name: str, tmp_path: Path) -> None:
    """After a change of the schema `.ci/demo` makes them anew; nothing is said of doubts."""
    demo.unpack(tmp_path)

    run = open_run(str(tmp_path / name))

    assert (run.manifest.tables_version, run.manifest.state) == (SCHEMA_VERSION, "finished")
    assert run.backend == name
    assert (run.said, dict(run.lost)) == ((), {})
    assert {"steps", "kernel_ops", "lines", "stacks", "cores", "memory_owners"} <= {
        path.stem for path in run.folder.tables.glob("*.parquet")
    }


def test_nothing_in_the_archive_tells_where_it_was_made(tmp_path: Path) -> None:
    """No folder, no name of a machine; what is left of paths begins with the sign of what was taken out."""
    demo.unpack(tmp_path)
    for run in demo.unpack(tmp_path).runs:
        text = run.manifest_path.read_text()
        manifest = run.read_manifest()
        assert (manifest.machine.host, manifest.script_folder) == ("host", "")
        assert re.findall(r'"(?:~|/)[^"]*/[^"]*"', text) == []


def test_the_archive_is_small() -> None:
    """It is in every wheel."""
    assert demo.ARCHIVE.stat().st_size < 600_000
