"""Staging the in-process probe: what it is told in the run folder, and a copy of it; never an installation."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from pathlib import Path

from msgspec import structs

from dlprof.engines import registry
from dlprof.launch import probe_copy
from dlprof.rundir import RunDir, writing_into
from dlprof.schema import process_config
from dlprof.schema.process_config import ProcessConfig

STATUS_BYTES = 1024
"""Space reserved for the probe's last words, so that a full disk cannot keep them back."""
_SHARED = ("datasets", "models")


def stage(run: RunDir, config: ProcessConfig) -> list[str]:
    """Have a copy of the probe ready, and write its configuration into the run folder.

    Returns:
        Arguments that start the script under the probe, to be put behind the interpreter.

    Raises:
        CannotCreateError: The run folder cannot be written to.
    """
    with writing_into(run.path):
        run.payload.mkdir(parents=True, exist_ok=True)
        package = probe_copy.place(run.payload) / "dlprof_probes"
        plugins = _copy_plugins(run.payload / "plugged_in")
        reserve_status(run)
        file = run.payload / "config.json"
        file.write_bytes(process_config.encode(structs.replace(config, engine_plugins=plugins)))
    return [str(package / "inproc" / "entry"), str(file)]


def python_path(entry: str, given: str | None) -> str:
    """PYTHONPATH of the traced process: it finds there what runs the script with no frame of the probe below it.

    Args:
        entry: What `stage` gave first.
        given: PYTHONPATH that the script is to have, which it does; None or empty: none.
    """
    return os.pathsep.join([entry, *([given] if given else [])])


def engine_plugins() -> dict[str, str]:
    """Name of each engine that a plug-in brings into the traced process, to the path of its file there."""
    specs = registry.all_specs().values()
    return {re.sub(r"\W", "_", spec.name): str(spec.probe.absolute()) for spec in specs if spec.probe is not None}


def _copy_plugins(folder: Path) -> dict[str, str]:
    """Copy those files; one that is not there keeps its path, and the process notes that it cannot be loaded."""
    paths = engine_plugins()
    for name, path in paths.items():
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError, PermissionError, IsADirectoryError):
            paths[name] = str(shutil.copyfile(path, folder / f"{name}.py"))
    return paths


def status_file(run: RunDir) -> Path:
    """The file for the probe's last words."""
    return run.raw / "inproc.status"


def reserve_status(run: RunDir) -> None:
    """Make the file for the probe's last words, at its full size."""
    status_file(run).write_bytes(b" " * STATUS_BYTES)


def remove(run: RunDir) -> None:
    """Take what was staged away again."""
    shutil.rmtree(run.payload, ignore_errors=True)


def failure(run: RunDir) -> str | None:
    """The probe's last words, if it failed; None otherwise."""
    try:
        text = status_file(run).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
    try:
        return str(json.loads(text)["failed"]) if text else None
    except (ValueError, KeyError, TypeError):
        return text


def make_keras_home(run: RunDir, own: bool) -> Path:
    """A private KERAS_HOME, so that no other Keras of the user is disturbed, nor disturbs.

    Downloaded data sets and models stay where the user's Keras keeps them. The folder is removed with
    `remove_keras_home`.

    Args:
        run: The run folder.
        own: The interpreter is the user's own: settings are copied in.
    """
    theirs = _users_keras_home()
    home = run.path / "keras_home"
    with writing_into(run.path):
        home.mkdir()
        for name in _SHARED:
            if (theirs / name).is_dir():
                (home / name).symlink_to(theirs / name)
        if own and (theirs / "keras.json").is_file():
            shutil.copyfile(theirs / "keras.json", home / "keras.json")
    return home


def remove_keras_home(run: RunDir) -> None:
    """Remove the private KERAS_HOME; what was downloaded into it goes to the user's own."""
    home, theirs = run.path / "keras_home", _users_keras_home()
    for name in _SHARED:
        if (home / name).is_dir() and not (home / name).is_symlink() and not (theirs / name).exists():
            with contextlib.suppress(OSError):
                theirs.mkdir(parents=True, exist_ok=True)
                shutil.move(home / name, theirs / name)
    shutil.rmtree(home, ignore_errors=True)


def _users_keras_home() -> Path:
    # As Keras finds it: where nobody knows a home (a user of a container that has no name), below the current folder.
    return Path(os.environ.get("KERAS_HOME") or os.path.expanduser("~/.keras")).absolute()  # noqa: PTH111
