"""Runs a public script bare and traced, at one and the same path, and says what is not as it must be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.public import environments, inputs, sources
from tests.public.case import Case
from tests.public.check import Outcome, Told, complaints, told
from tests.public.tables import ENVIRONMENTS

LIMIT_S = 1200
_SPANS = "select kind, start_ns, dur_ns from spans where thread_id = (select thread_id from spans where kind = 'script' limit 1)"
_DLPROF = [sys.executable, "-m", "dlprof"]


@dataclass(frozen=True)
class Result:
    """What came of a case.

    Attributes:
        found: What is told of it; None: there was no report.
        wrong: What is not as it must be.
    """

    case: Case
    found: Told | None
    wrong: tuple[str, ...]


class Workplace:
    """Where scripts and environments lie.

    Args:
        folder: Everything is below it.
        clones: Folder of clones of repositories, or None.
        flags: More flags of `dlprof trace`.
    """

    def __init__(self, folder: Path, clones: Path | None, flags: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._clones = clones
        self._flags = flags

    def result(self, case: Case) -> Result:
        """Run a case both ways."""
        environment = ENVIRONMENTS[case.environment]
        interpreter = environments.make(case.environment, environment, self._folder / "envs")
        run_folder = self._folder / "runs" / case.name
        shutil.rmtree(run_folder, ignore_errors=True)
        run_folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            bare = self._run(case, interpreter, None)
            traced = self._run(case, interpreter, run_folder)
            found = _told(run_folder)
        except (sources.SourceError, RuntimeError, subprocess.TimeoutExpired) as error:
            return Result(case, None, (str(error),))
        return Result(case, found, tuple(complaints(case, bare, traced, found)))

    def _run(self, case: Case, interpreter: environments.Interpreter, run_folder: Path | None) -> Outcome:
        root = self._folder / "places" / case.name
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        script = sources.place(case, self._clones, root)
        folder = script.parent if case.folder is None else root / case.folder
        furnish(case, folder)
        command = [str(interpreter.python), str(script), *case.arguments]
        if run_folder is not None:
            flags = ["--python", str(interpreter.python), "-o", str(run_folder), "--no-report", *self._flags]
            command = [*_DLPROF, "trace", str(script), *flags, "--", *case.arguments]
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_S,
            stdin=subprocess.DEVNULL,
            env=variables(case, root, interpreter),
        )
        return Outcome(done.returncode, done.stdout, done.stderr)


def furnish(case: Case, folder: Path) -> None:
    """Make the folders and inputs of a case."""
    for name in case.folders:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for one in case.inputs:
        inputs.KINDS[one.kind](folder / one.path, *one.sizes)


def variables(case: Case, root: Path, interpreter: environments.Interpreter) -> dict[str, str]:
    """The environment of a script: it plots nothing, asks no network, and has a home of its own."""
    quiet = {"MPLBACKEND": "Agg", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "HOME": str(root / "home")}
    own = {name: value.replace("{root}", str(root)) for name, value in case.variables}
    (root / "home").mkdir(exist_ok=True)
    return {**os.environ, **quiet, "PYTHONPATH": str(root), **interpreter.variables, **own}


def _told(run_folder: Path) -> Told:
    spans = _asked("sql", str(run_folder), _SPANS, "--format", "json")
    report = _asked("report", str(run_folder), "--json")
    layers = _asked("kernels", str(run_folder), "--by", "layer", "--json")["rows"] if report["kernels"] else []
    return told(report, spans, layers)


def _asked(*arguments: str) -> Any:
    done = subprocess.run([*_DLPROF, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"dlprof {arguments[0]}: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout)
