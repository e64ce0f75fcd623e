"""What a user must know, and agree to, before the script of a run is run again: a run may come from a stranger."""

from __future__ import annotations

import os
import platform
import re
import shlex
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from dlprof import safe_files
from dlprof.errors import UsageError
from dlprof.ingest.file_names import FileNames
from dlprof.launch import seal
from dlprof.rundir import SOURCE_MOST
from dlprof.store.run import Run

_PASSED_ON = frozenset({
    "KERAS_BACKEND", "OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "MKL_NUM_THREADS", "KMP_BLOCKTIME",
    "KMP_AFFINITY", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "TF_ENABLE_ONEDNN_OPTS", "TF_XLA_FLAGS",
    "TF_CPP_MIN_LOG_LEVEL", "MXNET_ENGINE_TYPE", "MXNET_CPU_WORKER_NTHREADS", "MXNET_EXEC_BULK_EXEC_TRAIN",
    "MXNET_SUBGRAPH_BACKEND", "CUDA_VISIBLE_DEVICES", "MALLOC_ARENA_MAX",
})  # fmt: skip
"""Variables of a run that its trials get: threads and switches of engines. None that loads code or names a file."""
_HARMLESS = re.compile(r"(?!.*dump)[\w ,.:=+-]{0,200}", re.ASCII | re.IGNORECASE)
_ROOT = 0
FOLDER = "confirm"
"""Of the trials, in the folder of their run."""


def environment(kept: Mapping[str, str]) -> dict[str, str]:
    """Those of a run's variables that its trials get."""
    return {name: value for name, value in kept.items() if name in _PASSED_ON and _HARMLESS.fullmatch(value)}


def script_of(run: Run) -> Path:
    """The script of a run on this machine; it may not be there."""
    return Path(run.manifest.script_folder) / Path(run.manifest.command.script or "").name


def refuse(run: Run) -> None:
    """Refuse to run again what is not this user's, or not of this machine.

    Raises:
        UsageError: It is so; the sentence says what.
    """
    host, place = run.manifest.machine.host, run.folder.place
    if host != platform.node():
        raise _refusal(run, f"it was made on {host or 'a machine without a name'}, and this is {platform.node()}")
    if place.stat().st_uid != os.geteuid():
        raise _refusal(run, "its folder belongs to another user")
    if (run.folder.path / FOLDER).is_symlink():
        raise _refusal(run, f"{FOLDER}/ in its folder is a link")
    if run.manifest.command.script:
        _refuse_file(run, "script", script_of(run))
    if run.manifest.backend.source == "python":
        _refuse_file(run, "interpreter", Path(str(run.manifest.config.get("python"))))


def _refuse_file(run: Run, what: str, path: Path) -> None:
    try:
        state = path.stat()
    except (OSError, ValueError):
        raise _refusal(run, f"its {what} {path} is not there any more") from None
    if not stat.S_ISREG(state.st_mode):
        raise _refusal(run, f"its {what} {path} is no file")
    if state.st_uid not in (_ROOT, os.geteuid()):
        raise _refusal(run, f"its {what} {path} belongs to another user")
    if state.st_mode & stat.S_IWOTH:
        raise _refusal(run, f"its {what} {path} may be changed by everybody")


def _refusal(run: Run, why: str) -> UsageError:
    return UsageError(f"{run.name} cannot be run again: {why}.")


def doubts(run: Run) -> list[str]:
    """What speaks against running it without asking; `--yes` does not answer these."""
    found = []
    if not seal.is_from_here(run.manifest):
        found.append("nothing shows that your dlprof made this run: if somebody sent it, its maker chose what will run")
    if run.manifest.command.script:
        found += _about_script(run)
    return found


def _about_script(run: Run) -> list[str]:
    script = script_of(run)
    kept = run.folder.source_name(FileNames(run.manifest.script_folder).short(str(script)))
    try:
        then = safe_files.read(run.folder.path, f"raw/{kept}", SOURCE_MOST)
    except OSError:
        return [f"the run holds no copy of {script}: whether it is what ran is not known"]
    try:
        return [] if safe_files.read_path(script.resolve(), SOURCE_MOST) == then else [f"{script} has changed since"]
    except OSError as error:
        return [f"{script} cannot be read: {error.strerror}"]


def plan(run: Run, command: Sequence[str]) -> list[str]:
    """What will be run, as lines: the script or module, the interpreter, arguments, folder and variables."""
    manifest = run.manifest
    traced = manifest.command
    kept = environment(manifest.environment)
    left = sorted(set(manifest.environment) - set(kept))
    interpreter = {"managed": f"the managed environment of {manifest.backend.name}"}.get(
        manifest.backend.source or "", str(manifest.config.get("python") or command[0])
    )
    lines = [
        f"script: {f'-m {traced.module}' if traced.module else script_of(run)}",
        f"interpreter: {interpreter}",
        f"arguments: {shlex.join(traced.argv) or 'none'}",
        f"folder: {Path.cwd()}",
        f"variables: {shlex.join(f'{name}={value}' for name, value in sorted(kept.items())) or 'none of the run'}",
    ]
    return [*lines, f"not passed on: {', '.join(left)}"] if left else lines
