"""Nothing in a stranger's run folder has dlprof read or write a file outside, hang, fail, or steer a terminal."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import dlprof
from dlprof.errors import DlprofError
from tests.hostile import folders
from tests.hostile.folders import CANARY, Trick
from tests.unit import runs

_QUICK = ("absolute at manifest.json.part", "absolute at tables/steps.parquet", "pipe at raw/lines.json",
          "zero at raw/sources/train.py", "absolute at confirm", "name 2 in lines", "texts: table")  # fmt: skip
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as dlprof makes them."""
    return folders.good(tmp_path_factory.mktemp("good") / "run")


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lies in a folder outside."""
    return folders.outside(tmp_path_factory.mktemp("things") / "outside")


@pytest.fixture
def victim(things: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder outside; at the end it is as it was, and nobody has read its files."""
    folder = shutil.copytree(things, tmp_path / "outside")
    files = sorted(folder.iterdir())
    for file in files:
        os.utime(file, (1, 1_600_000_000))  # last read before it was written: the next to read it leaves its time
    told = [(file, file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_mode) for file in _reread(files)]
    yield folder
    seen = [file.name for file in files if file.stat().st_atime_ns != 10**9 and _atime_is_kept(folder)]
    assert seen == []
    assert sorted(folder.iterdir()) == files
    assert [(file, file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_mode) for file in files] == told


def _reread(files: list[Path]) -> Iterator[Path]:
    """The files, whose times of reading are set back behind the caller."""
    for file in files:
        yield file
        os.utime(file, (1, 1_600_000_000))


def _atime_is_kept(folder: Path) -> bool:
    """Whether the file system says when a file was read."""
    probe = folder.parent / "probe"
    probe.write_text("x")
    os.utime(probe, (1, 1_600_000_000))
    probe.read_text()
    return probe.stat().st_atime_ns != 10**9


def commands(run: Path, out: Path) -> Iterator[tuple[object, ...]]:
    """What opens a run, reads what lies in it, and writes into it."""
    yield "report", run, "--rebuild", "--full"
    yield "report", run, "--json"
    yield "view", run, "--no-open"
    yield "diagnose", run, "--confirm", "--yes"
    yield "runs", run.parent
    yield "runs", run.parent, "--html", out / "runs.html"
    yield "export", run, "--to", "tensorboard", "-o", out / "tensorboard"


def more(run: Path, out: Path) -> Iterator[tuple[object, ...]]:
    """All other commands, for a trick that lies in what is read."""
    yield "report", run, "--html", out / "page.html"
    yield "lines", run
    yield "kernels", run
    yield "diagnose", run, "--evidence"
    yield "compare", run, run
    yield "gate", run, run, "--anyway"
    yield "sql", run, "SELECT * FROM health"
    yield "sql", run, "SELECT * FROM lines", "--format", "markdown"
    yield "sql", run, "SELECT * FROM spans", "--format", "csv"
    yield "export", run, "--to", "json", "-o", out / "run.json"
    yield "export", run, "--to", "csv", "-o", out / "csv"


def notebook(run: Path) -> str:
    """What a notebook shows of it."""
    try:
        return dlprof.open(str(run))._repr_html_()
    except DlprofError as error:
        assert error.exit_code != 70
        return error.message


def _marked(trick: Trick) -> object:
    """A few of them are quick tests."""
    return pytest.param(trick, id=trick.name, marks=() if trick.name in _QUICK else pytest.mark.slow)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("trick", [_marked(trick) for trick in folders.tricks()])
def test_a_trick_does_no_harm(
    trick: Trick,
    good: Path,
    victim: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No file outside is read or written; nothing hangs, nothing is taken for a bug, no terminal is steered."""
    monkeypatch.setenv("DLPROF_DATA", str(tmp_path / "data"))
    run, out = tmp_path / "runs" / "run", tmp_path / "out"
    shutil.copytree(good, run)
    monkeypatch.chdir(run.parent)
    trick.play(run, victim)
    out.mkdir()

    for words in (*commands(run, out), *(more(run, out) if trick.opens else ())):
        code = runs.dlprof(*words)
        said = "".join(capsys.readouterr())
        assert code != 70, (words, said)
        assert not _STEERING.search(said.replace("\r\n", "\n")), words
        assert CANARY not in said, words
    shown = notebook(run)
    assert CANARY not in shown
    assert "<script>own" not in shown
    assert not [path for path in (*_written(out), *_written(run)) if CANARY.encode() in path.read_bytes()]


def _written(folder: Path) -> Iterator[Path]:
    """Files of a folder that are no links, and of a size that can be read."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 30:
                yield path


@pytest.mark.parametrize("name", ["manifest.json", "raw/lines.json"])
def test_the_canaries_would_be_seen(name: str, victim: Path, tmp_path: Path) -> None:
    """A reader that follows links finds the secret: the tests above can fail."""
    link = tmp_path / Path(name).name
    link.symlink_to(victim / "secret.json")

    assert CANARY in link.read_text()
    for file in victim.iterdir():
        os.utime(file, (1, 1_600_000_000))
