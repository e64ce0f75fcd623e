"""The folder that makes Pythons below a program follow: in front on PYTHONPATH, in the run folder while it goes on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from dlprof.engines import registry
from dlprof.launch import probe_copy
from dlprof.rundir import CHILDREN, RunDir, make_private, writing_into
from dlprof.schema import process_config
from dlprof.schema.process_config import ProcessConfig

MOST = 64
"""Pythons that are followed below one program, over its whole life; more are only counted."""
_KERAS = ("keras", "tf_keras")
_FOLDER, _TAKEN = "follow", "taken"
_SEEN, _PASSED_OVER = "seen", "passed-over"
_SETTINGS = '''\
"""What Pythons below this run are told. Made by dlprof; it goes when the run is over."""

import os

PACKAGE = {package!r}
CHILDREN = {children!r}
TAKEN = {taken!r}
CONFIG = {config!r}
ENGINES = {engines!r}
MOST = {most!r}
CONDUCTOR = {conductor!r}
WORKERS = {workers!r}
ONLY_RANKS = {only_ranks!r}


def seen():
    _count({seen!r})


def passed_over():
    _count({passed_over!r})


def _count(path):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(file, b".")
    finally:
        os.close(file)
'''


def stage(run: RunDir, config: ProcessConfig) -> Path:
    """Make it.

    Args:
        run: The run folder.
        config: What each probe is told; each child puts its own folders there.

    Returns:
        The folder, for the front of PYTHONPATH.

    Raises:
        CannotCreateError: The run folder cannot be written to.
    """
    with writing_into(run.path):
        folder = run.payload / _FOLDER
        (folder / _TAKEN).mkdir(parents=True)
        make_private(run.path / CHILDREN)
        package = probe_copy.place(run.payload)
        probe = package / "dlprof_probes" / "inproc"
        for name in (_SEEN, _PASSED_OVER):
            (folder / name).touch()
        (folder / "config.json").write_bytes(process_config.encode(config))
        workers = _of_workers(folder)
        workers.mkdir()
        for entry in (folder, workers):
            shutil.copyfile(probe / "entry" / "below" / "sitecustomize.py", entry / "sitecustomize.py")
            shutil.copyfile(probe / "pass_on.py", entry / "dlprof_pass_on.py")
            text = _settings(run, folder, package, only_ranks=entry == workers)
            (entry / "follow_settings.py").write_text(text, encoding="utf-8")
    return folder


def _of_workers(folder: Path) -> Path:
    """The same for workers of a traced process: only those are followed that make themselves ranks of a training.

    Args:
        folder: As `stage` returns it.
    """
    return folder.with_name(f"{folder.name}-workers")


def _settings(run: RunDir, folder: Path, package: Path, *, only_ranks: bool) -> str:
    modules = {spec.module for spec in registry.all_specs().values()}
    return _SETTINGS.format(
        package=str(package),
        children=str(run.path / CHILDREN),
        taken=str(folder / _TAKEN),
        config=str(folder / "config.json"),
        engines=tuple(sorted({*modules, *_KERAS})),
        most=MOST,
        conductor=os.getpid(),
        workers=str(_of_workers(folder)),
        only_ranks=only_ranks,
        seen=str(folder / _SEEN),
        passed_over=str(folder / _PASSED_OVER),
    )


def counts(run: RunDir) -> tuple[int, int]:
    """How many Pythons began below the program, and how many that loaded an engine were not followed."""
    seen, passed_over = (_size(run.payload / _FOLDER / name) for name in (_SEEN, _PASSED_OVER))
    return seen, passed_over


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
