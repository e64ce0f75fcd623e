"""The folder that makes Pythons below a program follow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dlprof.launch import follow_folder
from dlprof.rundir import RunDir
from dlprof.schema.process_config import ProcessConfig, decode_facts


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


C10D = """
def init_process_group(backend, rank):
    if rank < 0:
        raise ValueError("no such rank")
    print("group", backend, rank)
"""
"""A stand-in for the module of torch that makes ranks."""
WORKER = """
import sys
sys.argv = ["train.py", "--epochs", "3"]  # as multiprocessing gives it to a worker
import torch.distributed as dist
"""


def stand_in(folder: Path) -> None:
    """A package `torch` that has what makes ranks, and takes it out of its module as torch does."""
    (folder / "torch/distributed").mkdir(parents=True)
    (folder / "torch/__init__.py").write_text("__version__ = '0'\n")
    (folder / "torch/distributed/__init__.py").write_text("from .distributed_c10d import *\n")
    (folder / "torch/distributed/distributed_c10d.py").write_text(C10D)


def worker(run: RunDir, tmp_path: Path, code: str) -> subprocess.CompletedProcess[str]:
    """A worker of a traced process, which loads torch and does that."""
    stand_in(tmp_path)
    folder = follow_folder.stage(run, ProcessConfig(raw="", status="", script=""))
    return python(folder.with_name("follow-workers"), WORKER + code, cwd=tmp_path)


def test_a_worker_that_is_no_rank_is_left_alone(run: RunDir, tmp_path: Path) -> None:
    """It is part of the run of who started it: it is not even counted."""
    done = worker(run, tmp_path, "print('loads data')")
    assert (done.stdout, done.stderr) == ("loads data\n", "")
    assert follow_folder.counts(run) == (0, 0)
    assert list((run.path / "children").iterdir()) == []


def test_a_worker_that_makes_itself_a_rank_has_a_folder_of_its_own(run: RunDir, tmp_path: Path) -> None:
    """Once, with the command of the program; what makes the rank is torch's own again."""
    code = (
        "dist.init_process_group('gloo', rank=1)\n"
        "dist.init_process_group('gloo', rank=1)\n"
        "print(hasattr(dist.init_process_group, '__wrapped__'))"
    )
    done = worker(run, tmp_path, code)
    assert (done.stdout, done.stderr) == ("group gloo 1\ngroup gloo 1\nFalse\n", "")
    (child,) = (run.path / "children").iterdir()
    assert child.name == "001-train"
    told = decode_facts((child / "child.json").read_bytes())
    assert told is not None
    assert (told.command[1:], told.worker, told.engine) == (("train.py", "--epochs", "3"), True, "torch")
    assert follow_folder.counts(run) == (1, 0)


def test_a_forked_child_that_makes_itself_a_rank_has_one_too(run: RunDir, tmp_path: Path) -> None:
    """Its parent is traced, and goes on as the run that it was."""
    stand_in(tmp_path)
    folder = follow_folder.stage(run, ProcessConfig(raw="", status="", script=""))
    code = (
        "import os, torch.distributed as dist\n"
        "if os.fork() == 0:\n"
        "    dist.init_process_group('gloo', rank=1)\n"
        "    os._exit(3)\n"
        "print(os.waitstatus_to_exitcode(os.wait()[1]))"
    )
    done = python(folder, code, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "group gloo 1\n3\n", "")
    facts = [decode_facts((run.path / "children" / name / "child.json").read_bytes()) for name in ("001-c", "002-c")]
    assert [told is not None and told.worker for told in facts] == [False, True]
    assert (run.path / "children/002-c/raw/exit").read_bytes() == b"\3\0\0\0"


def test_a_traceback_of_a_rank_that_cannot_begin_is_as_without(run: RunDir, tmp_path: Path) -> None:
    """It has the lines of the program and of torch, and no others."""
    code = "import traceback\ntry:\n    dist.init_process_group('gloo', rank=-1)\nexcept ValueError:\n    traceback.print_exc()"
    done = worker(run, tmp_path, code)
    files = [line.split('"')[1] for line in done.stderr.splitlines() if line.startswith("  File ")]
    assert [Path(file).name for file in files] == ["<string>", "distributed_c10d.py"]
