"""What follows children is handed on to what a program starts, and the program does not see it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dlprof_probes.inproc import pass_on

FILE = Path(pass_on.__file__)
OURS = "/of/dlprof"
OF_WORKERS = "/of/dlprof-workers"
_BEGIN = f"""
import importlib.util, os, subprocess, sys
spec = importlib.util.spec_from_file_location("pass_on", {str(FILE)!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
handed = module.PassOn({OURS!r}, {OF_WORKERS!r})
handed.install()
SHOW = [sys.executable, "-S", "-c", "import os; print(os.environ.get('PYTHONPATH'))"]
"""


def shown(code: str, given: str = OURS) -> list[str]:
    """What a Python prints that has begun with this PYTHONPATH and hands the folder on."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", _BEGIN + code],
        env={**os.environ, "PYTHONPATH": given},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_program_sees_what_it_was_given() -> None:
    """Its own folders, in their order."""
    assert shown("print(os.environ['PYTHONPATH'])", f"{OURS}:/a:/b") == ["/a:/b"]
    assert shown("print('PYTHONPATH' in os.environ)") == ["False"]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("subprocess.run(SHOW)", OURS),
        ("subprocess.run(SHOW, close_fds=False)", OURS),
        ("subprocess.run(SHOW, env=dict(os.environ, PYTHONPATH='/own'))", f"{OURS}:/own"),
        ("subprocess.run(SHOW, env={})", OURS),
        ("os.environ['PYTHONPATH'] = '/own'; subprocess.run(SHOW)", f"{OURS}:/own"),
        ("os.waitpid(os.posix_spawn(SHOW[0], SHOW, {b'PYTHONPATH': b'/own'}), 0)", f"{OURS}:/own"),
        ("os.execv(SHOW[0], SHOW)", OURS),
        ("os.execve(SHOW[0], SHOW, {'PYTHONPATH': '/own'})", f"{OURS}:/own"),
    ],
)
def test_whatever_starts_a_child_hands_it_on(start: str, expected: str) -> None:
    """Also with an environment that the program makes itself."""
    assert shown(start) == [expected]


@pytest.mark.parametrize(
    ("words", "worker"),
    [
        (
            ["python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()", "--multiprocessing-fork"],
            True,
        ),
        (["python", "-m", "joblib.externals.loky.backend.popen_loky_posix"], True),
        (["python", "/venv/lib/python3.11/site-packages/torch/_inductor/compile_worker/__main__.py"], True),
        (["python", "-m", "package.train"], False),
        (["python", "-u", "train.py"], False),
        (["sh", "run.sh"], False),
    ],
)
def test_workers_of_a_traced_process_are_told_from_programs(words: list[str], worker: bool) -> None:
    """They are part of its run: no run of their own."""
    assert pass_on._is_worker([word.encode() for word in words]) is worker


def test_workers_of_a_traced_process_are_handed_another_one() -> None:
    """Those of any other process are handed the same: they may be what trains."""
    worker = "subprocess.run([*SHOW, '--multiprocessing-fork'])"
    assert shown(f"handed.own_workers = True; {worker}") == [OF_WORKERS]
    assert shown(worker) == [OURS]


def test_no_environment_is_that_of_this_process() -> None:
    """As `subprocess` starts programs from Python 3.13 on: C's, while the program has changed nothing."""
    handed = pass_on.PassOn(OURS, OF_WORKERS)
    handed._environ, handed._left = {b"PYTHONPATH": b"/a", b"HOME": b"/h"}, b"/a"
    assert handed._mapping(["python", "train.py"], None) is None

    handed._environ[b"PYTHONPATH"] = b"/own"
    assert handed._mapping(["python", "train.py"], None) == {b"PYTHONPATH": b"/of/dlprof:/own", b"HOME": b"/h"}

    handed.own_workers = True
    given = handed._mapping(["python", "--multiprocessing-fork"], None)
    assert given == {b"PYTHONPATH": b"/of/dlprof-workers:/own", b"HOME": b"/h"}


def test_errors_of_a_start_are_pythons_own() -> None:
    """Wrong arguments are told by who takes them."""
    code = "\ntry:\n    subprocess.run(['/no/such'], env={'a': 1})\nexcept TypeError as error:\n    print(error)"
    assert shown(code) == ["expected str, bytes or os.PathLike object, not int"]
