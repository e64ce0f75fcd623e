"""Packages that a probe needs in an interpreter that lacks them: fetched once, and installed into no environment.

They lie in dlprof's data folder, one folder for each version of Python, and are on the path only while they are loaded.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from dlprof.backends.base import LOCKS
from dlprof.errors import Report
from dlprof.launch import data_folder
from dlprof.launch.interpreters import InterpreterFacts


def of(name: str, interpreter: InterpreterFacts, *, report: Report) -> Path:
    """Folder that holds what the lock of that name has for an interpreter.

    Args:
        name: The lock's, `line_profiler` or `memray`.
        interpreter: What is to load it.
        report: Takes a line where it has to be fetched.

    Raises:
        UnavailableError: It cannot be had for this interpreter.
        CannotCreateError: The data folder cannot be written to.
    """
    lock = LOCKS / f"{name}.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    version = f"{interpreter.version[0]}{interpreter.version[1]}"
    path = data_folder.data_folder() / "tools" / f"{name}-cp{version}-{interpreter.platform}-{digest}"
    if not (path / data_folder.MARKER).is_file():
        with data_folder.locked(path, report) as held:
            if not (path / data_folder.MARKER).is_file():
                report(f"{name}: fetching it for Python {interpreter.version_text} (once)")
                _fetch(name, lock, interpreter, path, held)
    return path


def _fetch(name: str, lock: Path, interpreter: InterpreterFacts, path: Path, held: int) -> None:
    from dlprof.launch import installing  # noqa: PLC0415  (once for each version of Python)

    with data_folder.keeping(path):
        data_folder.clear(path)
    where = ["--python", str(interpreter.path), "--target", str(path), "-r", str(lock)]
    what = f"fetch {name} for Python {interpreter.version_text}"
    installing.Installer(held, show=False).run([*installing.LOCKED, "--no-deps", *where], what)
    with data_folder.keeping(path):
        data_folder.mark(path, {"python": interpreter.version_text})
