"""line_profiler for interpreters of the user's own that have none, or an old one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dlprof.backends.base import LOCKS
from dlprof.errors import Report
from dlprof.launch import data_folder
from dlprof.launch.interpreters import InterpreterFacts


def line_profiler_for(interpreter: InterpreterFacts, *, report: Report) -> Path | None:
    """Folder that holds a line_profiler for an interpreter of the user's own; None: it has one.

    Nothing is installed into the user's environment: the folder is put on the path only while the
    probe imports line_profiler.

    Raises:
        UnavailableError: It cannot be had for this interpreter.
        CannotCreateError: The data folder cannot be written to.
    """
    own = interpreter.packages.get("line_profiler")
    if own and own.split(".")[0].isdigit() and int(own.split(".")[0]) >= 5:
        return None
    lock = LOCKS / "line_profiler.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    version = f"{interpreter.version[0]}{interpreter.version[1]}"
    path = data_folder.data_folder() / "tools" / f"line_profiler-cp{version}-{interpreter.platform}-{digest}"
    if not (path / data_folder.MARKER).is_file():
        with data_folder.locked(path, report) as held:
            if not (path / data_folder.MARKER).is_file():
                report(f"line_profiler: fetching it for Python {interpreter.version_text} (once)")
                _fetch(lock, interpreter, path, held)
    return path


def _fetch(lock: Path, interpreter: InterpreterFacts, path: Path, held: int) -> None:
    from dlprof.launch import installing  # noqa: PLC0415  (once for each version of Python)

    with data_folder.keeping(path):
        data_folder.clear(path)
    where = ["--python", str(interpreter.path), "--target", str(path), "-r", str(lock)]
    what = f"fetch line_profiler for Python {interpreter.version_text}"
    installing.Installer(held, show=False).run([*installing.LOCKED, "--no-deps", *where], what)
    with data_folder.keeping(path):
        data_folder.mark(path, {"python": interpreter.version_text})
