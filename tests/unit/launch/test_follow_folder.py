"""The folder that makes Pythons below a program follow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dlprof.launch import follow_folder
from dlprof.rundir import RunDir
from dlprof.schema.process_config import ProcessConfig


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """A run folder with its raw artifacts."""
    made = RunDir(tmp_path / "run")
    made.raw.mkdir(parents=True)
    return made


def python(folder: Path, code: str, *flags: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A Python below it."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, *flags, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_a_python_without_an_engine_loads_nothing_of_the_probe(run: RunDir, tmp_path: Path) -> None:
    """It is counted, and sees nothing of the folder."""
    folder = follow_folder.stage(run, ProcessConfig(raw="", status="", script=""))
    code = (
        "import json, os, subprocess, sys\n"
        "print(sorted(name for name in sys.modules if 'dlprof' in name or 'follow' in name))\n"
        "print(os.environ.get('PYTHONPATH'), [each for each in sys.path if 'payload' in each])"
    )
    done = python(folder, code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("[]\nNone []\n", "")
    assert follow_folder.counts(run) == (1, 0)
    assert list((run.path / "children").iterdir()) == []


def test_one_with_an_engine_has_a_folder_of_its_own(run: RunDir, tmp_path: Path) -> None:
    """Its stream, what it is, and the exit code that it left; its streams are as without."""
    (tmp_path / "chainer.py").write_text("__version__ = '0'\n")
    folder = follow_folder.stage(run, ProcessConfig(raw="", status="", script=""))
    done = python(folder, "import sys, chainer; print(chainer.__version__); sys.exit(5)", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (5, "0\n", "")
    (child,) = (run.path / "children").iterdir()
    assert child.name == "001-c"
    assert sorted(file.name for file in child.iterdir()) == ["child.json", "raw"]
    assert (child / "raw/exit").read_bytes() == b"\5\0\0\0"
    assert (child / "raw/inproc.wire").stat().st_size > 100
    assert (child / "raw/inproc.status").read_bytes().strip() == b""


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_isolated_pythons_are_left_alone(run: RunDir, tmp_path: Path, flag: str) -> None:
    """They look at no such variable, or load no such module."""
    (tmp_path / "chainer.py").write_text("")
    folder = follow_folder.stage(run, ProcessConfig(raw="", status="", script=""))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import chainer; print('on')"
    done = python(folder, code, flag, cwd=tmp_path)
    assert done.stdout == "on\n"
    assert follow_folder.counts(run) == (0, 0)


def test_a_folder_that_is_gone_harms_nobody(run: RunDir, tmp_path: Path) -> None:
    """The program is over, and something that it left running starts a Python."""
    folder = follow_folder.stage(run, ProcessConfig(raw="", status="", script=""))
    (folder / "seen").unlink()
    (folder / "config.json").unlink()
    (tmp_path / "chainer.py").write_text("")
    done = python(folder, "import chainer; print('on')", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("on\n", "")
    assert follow_folder.counts(RunDir(tmp_path / "none")) == (0, 0)
