"""The runs of `dlprof demo`: one script on two backends, traced and redacted by `.ci/demo`, kept in one archive."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from dlprof import rundir
from dlprof.errors import CannotCreateError, UnavailableError
from dlprof.rundir import RunDir, writing_into

FOLDER = "dlprof-demo"
"""Where the runs go if nothing else is said."""
ARCHIVE = Path(__file__).with_name("demo.zip")
_MANIFEST = "manifest.json"
_OTHER = "dlprof demo OTHER_FOLDER"


@dataclass(frozen=True)
class Unpacked:
    """What became of the archive.

    Attributes:
        runs: The runs, by name.
        written: How many of their files were not there before, as they should be.
    """

    runs: tuple[RunDir, ...]
    written: int


def unpack(target: Path) -> Unpacked:
    """Put the runs into a folder; what is there of them already, whole, stays.

    Args:
        target: The folder; made if it is not there.

    Raises:
        UnavailableError: This dlprof was installed without the runs.
        CannotCreateError: The folder holds something else, or cannot be written to.
    """
    try:
        archive = zipfile.ZipFile(ARCHIVE)
    except FileNotFoundError:
        raise UnavailableError(
            "This dlprof was installed without the demo's runs.", hint="pip install --force-reinstall dlprof"
        ) from None
    with archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
    names = sorted({PurePosixPath(name).parts[0] for name in files})
    _refuse_other(target, names)
    written = 0
    with writing_into(target, mend=_OTHER):
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            rundir.make_private(target / name)
        for name, content in files.items():
            written += _write(target / name, content)
    return Unpacked(tuple(RunDir((target / name).absolute()) for name in names), written)


def _refuse_other(target: Path, names: list[str]) -> None:
    """Refuse a folder that holds something, but not these runs: a user's own files stay as they are.

    Raises:
        CannotCreateError: It does.
    """
    with writing_into(target, mend=_OTHER):
        full = rundir.holds_something(target)
    if full and not all((target / name / _MANIFEST).is_file() for name in names):
        raise CannotCreateError(f"{target} is there, and is not the folder of the demo.", hint=_OTHER)


def _write(path: Path, content: bytes) -> bool:
    """Write a file unless it is there already, with this content; returns whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True
