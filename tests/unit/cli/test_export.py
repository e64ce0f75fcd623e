"""`dlprof export`: where files go, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlprof.export.formats import FORMATS, SERVICES
from tests.unit import ranked_runs
from tests.unit.export.run_of_everything import whole
from tests.unit.runs import dlprof, make

FILES = [name for name, shape in FORMATS.items() if not shape.folder]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run, from a folder of the user's."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return whole(tmp_path / "run").folder.path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_to_the_name_of_the_run(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The path is printed; how to open it is said beside."""
    assert dlprof("export", run, "--to", name) == 0

    printed = capsys.readouterr()
    assert printed.out == f"run{FORMATS[name].ending}\n"
    assert FORMATS[name].viewer.format(path=f"run{FORMATS[name].ending}") in printed.err
    assert Path(f"run{FORMATS[name].ending}").is_dir() == FORMATS[name].folder
    assert [path.name for path in Path().iterdir()] == [f"run{FORMATS[name].ending}"]


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_replaced_without_force(name: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second export is refused, and made with --force."""
    assert dlprof("export", run, "--to", name, "-o", "out") == 0

    assert dlprof("export", run, "--to", name, "-o", "out") == 73
    assert "--force" in capsys.readouterr().err
    assert dlprof("export", run, "--to", name, "-o", "out", "--force") == 0


@pytest.mark.parametrize("name", FORMATS)
def test_the_run_itself_is_never_written_to(name: str, run: Path) -> None:
    """Not even with --force."""
    before = sorted(path.name for path in (run / "tables").iterdir())

    assert dlprof("export", run, "--to", name, "-o", run / "tables", "--force") == 73

    assert sorted(path.name for path in (run / "tables").iterdir()) == before


@pytest.mark.parametrize("name", FILES)
def test_a_folder_is_not_replaced_by_a_file(name: str, run: Path) -> None:
    """Not even with --force."""
    Path("out").mkdir()

    assert dlprof("export", run, "--to", name, "-o", "out", "--force") == 73


def test_a_file_is_not_replaced_by_a_folder(run: Path) -> None:
    """Not even with --force."""
    Path("out").write_text("mine")

    assert dlprof("export", run, "--to", "csv", "-o", "out", "--force") == 73
    assert Path("out").read_text() == "mine"


@pytest.mark.parametrize("name", FORMATS)
def test_texts_go_to_standard_output_and_nothing_else_does(
    name: str, run: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What a terminal cannot show is refused as a wrong command line."""
    code = dlprof("export", run, "--to", name, "-o", "-")

    assert code == (0 if FORMATS[name].text else 64)
    assert bool(capfdbinary.readouterr().out) == FORMATS[name].text
    assert not list(Path().iterdir())


def test_an_export_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No half file, and the old one as it was."""
    monkeypatch.chdir(tmp_path)
    run = make(tmp_path / "run")
    Path("out").write_text("mine")

    assert dlprof("export", run.folder.path, "--to", "pprof", "-o", "out", "--force") == 66

    assert Path("out").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


def test_a_place_that_is_not_there_is_one_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And the exit code of what cannot be written."""
    assert dlprof("export", run, "--to", "json", "-o", "nowhere/out.json") == 73

    assert capsys.readouterr().err.startswith("dlprof: error: Cannot write to nowhere: no such file")


def test_an_unknown_format_is_a_wrong_command_line(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And all that there are are named."""
    with pytest.raises(SystemExit) as ended:
        dlprof("export", run, "--to", "svg")

    assert ended.value.code == 64
    said = capsys.readouterr().err
    assert (
        said.splitlines()[-1]
        == f"dlprof export: error: --to cannot be svg; did you mean csv? (one of {', '.join({**FORMATS, **SERVICES})})"
    )


def test_json_on_standard_output_is_one_object(run: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Nothing else is printed there."""
    dlprof("export", run, "--to", "json", "-o", "-")

    assert json.loads(capfdbinary.readouterr().out)["report"]["run"] == "run"


def test_ranks_go_into_one_trace_of_perfetto_and_into_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other formats hold a process."""
    monkeypatch.chdir(tmp_path)
    ranked_runs.make(tmp_path / "ddp", {0: 5, 1: 12})
    assert dlprof("export", "ddp", "--to", "perfetto", "-o", "ddp.pftrace") == 0
    assert (tmp_path / "ddp.pftrace").stat().st_size > 1000
    assert dlprof("export", "ddp", "--to", "chrome") == 64
    assert "name a rank: ddp/rank-000" in capsys.readouterr().err
