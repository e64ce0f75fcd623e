"""Runs dlprof and plain Python as a user would, and reads what they leave."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

from dlprof.__main__ import main

DLPROF = [sys.executable, "-m", "dlprof"]


@dataclass
class Result:
    """What a program printed, and how it ended."""

    code: int
    out: str
    err: str


def run(command: list[str], *, cwd: Path, stdin: str = "", env: dict[str, str] | None = None) -> Result:
    """Run a program to its end."""
    done = subprocess.run(
        command,
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, **(env or {})},
    )
    return Result(done.returncode, done.stdout, done.stderr)


def ask(*words: str, cwd: Path) -> Result:
    """`dlprof WORDS`, in this process: what a program of its own would print, without its start. For what only reads."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "argv", ["dlprof", *words]),
    ):
        code = main()
    return Result(code, out.getvalue(), err.getvalue())


def asked(*words: str, cwd: Path) -> Any:
    """What `dlprof WORDS --json` tells."""
    done = ask(*words, "--json", cwd=cwd)
    assert done.code == 0, done.err
    return json.loads(done.out)


def trace(script: str, *flags: str, cwd: Path, stdin: str = "", env: dict[str, str] | None = None) -> Result:
    """`dlprof trace SCRIPT -o run …`; flags may hold `--` and arguments of the script."""
    command = [*DLPROF, "trace", script, "-o", "run", "--no-report", *flags]
    return run(command, cwd=cwd, stdin=stdin, env=env)


def write(folder: Path, name: str, text: str) -> Path:
    """Write a script."""
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def report(folder: Path, run_name: str = "run") -> dict[str, Any]:
    """`dlprof report RUN --json`."""
    return asked("report", run_name, cwd=folder)  # type: ignore[no-any-return]


def sql(folder: Path, query: str, run_name: str = "run") -> list[dict[str, Any]]:
    """`dlprof sql RUN QUERY` as rows."""
    done = ask("sql", run_name, query, "--format", "json", cwd=folder)
    assert done.code == 0, done.err
    return json.loads(done.out)  # type: ignore[no-any-return]


def phases(content: dict[str, Any]) -> dict[str, int]:
    """Duration of each phase (ns) by name."""
    return {phase["name"]: phase["dur_ns"] for phase in content["phases"]}


class Background:
    """dlprof while it runs, in a session of its own, as a terminal would start it."""

    def __init__(self, script: str, *flags: str, cwd: Path) -> None:
        self.cwd = cwd
        self.process = subprocess.Popen(
            [*DLPROF, "trace", script, "-o", "run", "--no-report", *flags],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, name: str, seconds: float = 120) -> None:
        """Wait until the script has made the file `name`, and the sidecars have had time to start."""
        end = time.monotonic() + seconds
        while not (self.cwd / name).exists():
            assert time.monotonic() < end, "the script did not begin"
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.02)
        time.sleep(0.7)

    def others(self) -> list[psutil.Process]:
        """Every process below dlprof."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def one(self, word: str, seconds: float = 60) -> psutil.Process:
        """The process below dlprof with `word` on its command line, as soon as it is there."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for process in self.others():
                with contextlib.suppress(psutil.Error):
                    if word in " ".join(process.cmdline()):
                        return process
            time.sleep(0.02)
        raise AssertionError(f"there is no {word}")

    def signal_group(self, number: int = signal.SIGINT) -> None:
        """What the terminal does at Ctrl-C: a signal to the whole foreground group."""
        os.killpg(self.process.pid, number)

    def end(self, timeout: float = 120) -> Result:
        """Wait for the end."""
        out, err = self.process.communicate(timeout=timeout)
        return Result(self.process.returncode, out, err)


def all_gone(processes: list[psutil.Process], seconds: float = 30) -> bool:
    """Whether every process has ended within some seconds."""
    _gone, alive = psutil.wait_procs(processes, timeout=seconds)
    return not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
