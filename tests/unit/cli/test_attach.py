"""`dlprof attach`, on processes that wait."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.runs import dlprof

LOOP = "import sys\nprint('on', flush=True)\nwhile True:\n    sum(range(1000))\n"


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A script that goes on for ever."""
    (tmp_path / "loop.py").write_text(LOOP)
    started = subprocess.Popen([sys.executable, str(tmp_path / "loop.py")], stdout=subprocess.PIPE)
    assert started.stdout is not None
    started.stdout.readline()
    yield started
    started.kill()
    started.communicate()


@pytest.mark.slow
def test_a_process_that_runs_is_a_run_like_any_other(
    tmp_path: Path, busy: subprocess.Popen[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes on after that."""
    assert dlprof("attach", busy.pid, "--seconds", 3, "-o", tmp_path / "run", "--no-report") == 0
    assert busy.poll() is None
    capsys.readouterr()
    assert dlprof("report", tmp_path / "run", "--json") == 0

    told = json.loads(capsys.readouterr().out)
    (main,) = told["processes"]
    assert (main["pid"], main["role"], told["source"]) == (busy.pid, "main", "attached")
    assert {line["file"] for line in main["top"]} == {"loop.py"}
    assert "loop.py:" in told["verdict"]
    assert "it went on after that" in told["health"][0]["message"]
    assert (told["exit"]["code"], told["exit"]["signal"], told["exit"]["exception"]) == (None, None, None)


@pytest.mark.slow
def test_a_process_that_ends_meanwhile_is_no_failure(tmp_path: Path, busy: subprocess.Popen[bytes]) -> None:
    """Its run ends with it."""
    command = [
        sys.executable,
        "-m",
        "dlprof",
        "attach",
        str(busy.pid),
        "-o",
        str(tmp_path / "run"),
        "--probes",
        "cores",
    ]
    looking = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert looking.stderr is not None
    assert f"looking at process {busy.pid}" in looking.stderr.readline()
    busy.kill()
    busy.wait()
    _, said = looking.communicate(timeout=60)

    assert looking.returncode == 0, said
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert "it ended meanwhile" in manifest["health"][0]["message"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["0x10"], 64, "is no number of a process"),
        (["99999999999"], 64, "is no number of a process"),
        ([str(2**30)], 66, "There is no process"),
        ([str(2**30), "--seconds", "0"], 64, "--seconds must be more than 0"),
    ],
)
def test_what_is_no_process_is_refused(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is made."""
    assert dlprof("attach", *words) == code
    assert said in capsys.readouterr().err


def test_nothing_to_measure_is_refused(
    busy: subprocess.Popen[bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before there is a run folder."""
    assert dlprof("attach", busy.pid, "--probes", "none", "-o", tmp_path / "run") == 64
    assert "dlprof trace" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
