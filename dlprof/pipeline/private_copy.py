"""A copy of what a run's tables are made of, for a run folder that this user may not write to, or somebody else may."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from pathlib import Path

from dlprof import safe_files
from dlprof.errors import BadDataError
from dlprof.rundir import RunDir, writing_into

_CHUNK = 1 << 20


def of(folder: RunDir) -> RunDir:
    """The raw artifacts and the manifest in a folder of this process, which is removed at its end.

    Whoever owns the run's folder can put links into it while it is read; here nobody can.

    Raises:
        BadDataError: Something in it is no regular file, or cannot be read.
        CannotCreateError: There is no room for a copy.
    """
    above = Path(tempfile.mkdtemp(prefix="dlprof-"))
    atexit.register(shutil.rmtree, above, ignore_errors=True)
    copy = RunDir(above / (folder.path.name or "run"), shown=folder.place)
    with writing_into(above):
        copy.raw.mkdir(parents=True)
    for name in _files(folder):
        _copy(folder, copy, name)
    return copy


def _files(folder: RunDir) -> list[str]:
    found = ["manifest.json"]
    for place, _, files in os.walk(folder.raw):  # not into links; a name that changes meanwhile is refused below
        found += [os.path.relpath(os.path.join(place, name), folder.path) for name in files]  # noqa: PTH118
    return found


def _copy(folder: RunDir, copy: RunDir, name: str) -> None:
    try:
        source = safe_files.opened(folder.path, name)
    except OSError as error:
        raise BadDataError(f"{folder.place} cannot be read: {error}.") from error
    target = copy.path / name
    with source, writing_into(copy.path):
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as out:
            shutil.copyfileobj(source, out, _CHUNK)
        target.chmod(stat.S_IRUSR | stat.S_IWUSR)
