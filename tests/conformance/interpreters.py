"""What a case runs on, and the two commands that run it."""

from __future__ import annotations

import os
import shutil
import sys
from functools import cache
from pathlib import Path

from dlprof.backends import registry
from dlprof.errors import DlprofError
from dlprof.launch import data_folder, environments
from tests.conformance.case import Case
from tests.conformance.place import Place


class MissingError(Exception):
    """There is no such interpreter here: the case is skipped."""


def command(case: Case, place: Place, *, traced: bool) -> list[str]:
    """The bare command, or the traced one; the first word is a path.

    Raises:
        MissingError: What it runs on is not here.
    """
    if case.world.mounts and os.geteuid() != 0:
        raise MissingError("only root mounts something")
    name = case.packed or case.called or case.script
    script = str(place.work / name) if case.world.folder_gone else name
    what = ["-m", case.module] if case.module else [script]
    if not traced:
        return [python(case), *what, *case.arguments]
    return [*dlprof(as_module=case.as_module), "trace", *what, *_flags(case, place), "--", *case.arguments]


def _flags(case: Case, place: Place) -> list[str]:
    on = ["--backend", case.backend] if case.backend else ["--python", python(case)] if case.python else []
    quiet = [] if case.reported else ["--no-report"]
    return [*on, "-o", str(place.run), "--no-progress", *quiet, *case.flags]


def dlprof(*, as_module: bool = False) -> list[str]:
    """As pip installs it, or as a module."""
    if as_module:
        return [sys.executable, "-m", "dlprof"]
    return [sys.executable, str(Path(__file__).parent / "command" / "run_dlprof.py")]


def environment(case: Case, *, traced: bool) -> dict[str, str]:
    """Variables that the command needs: those of a managed environment are set by dlprof itself."""
    # What is fetched once is kept where it is kept for all runs.
    cache = os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache" / "uv"))
    made = {"DLPROF_DATA": str(data_folder.data_folder()), "UV_CACHE_DIR": cache}
    if case.backend:  # in the home of a case there is none
        made["DLPROF_PYTHONS"] = str(Path(python(case)).resolve())
    if not case.backend or traced:
        return made
    spec = registry.get(case.backend)
    return {**made, **spec.environment, **({"KERAS_BACKEND": spec.keras_backend} if spec.keras_backend else {})}


def python(case: Case) -> str:
    """Path of the interpreter.

    Raises:
        MissingError: It is not here.
    """
    if case.backend:
        return _managed(case.backend)
    return _installed(case.python) if case.python else sys.executable


@cache
def _managed(backend: str) -> str:
    try:
        return str(environments.ensure(registry.get(backend), report=print).python)
    except DlprofError as error:
        raise MissingError(str(error)) from error


@cache
def _installed(version: str) -> str:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [*sorted((root / "versions").glob(f"{version}.*/bin/python")), shutil.which(f"python{version}")]
    real = [str(path) for path in found if path and "shims" not in str(path)]
    if not real:
        raise MissingError(f"there is no Python {version}")
    return real[0]
