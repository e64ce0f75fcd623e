"""What interpreters said of themselves, kept between runs: asking one takes as long as starting it, and more.

An answer holds while nothing of what it hangs on has changed: the program, the folders on its import path, the files of
the packages that were found, and the environment variables that Python reads.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from dlprof.launch.data_folder import data_folder
from dlprof.version import __version__

_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONUSERBASE", "HOME")
Stamp = tuple[int, int, int] | None
"""Time of the last change (ns), size and number of a file; None: it is not there."""


class Known(msgspec.Struct, frozen=True):
    """An answer, and what it hangs on."""

    asked: str
    answer: str
    stamps: Mapping[str, Stamp]


def recall(program: str, question: str) -> str | None:
    """What a program answered before; None: it was never asked that, or something has changed since."""
    try:
        known = msgspec.json.decode(_file(program).read_bytes(), type=Known)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    if known.asked != _asked(question) or known.stamps != _stamps(known.stamps):
        return None
    return known.answer


def keep(program: str, question: str, answer: str, watched: Sequence[str]) -> None:
    """Keep an answer. Where the data folder cannot be written to, the program is asked again next time.

    Args:
        program: The interpreter.
        question: What it was asked.
        answer: What it said.
        watched: Files and folders that the answer hangs on, beside the program and its `pyvenv.cfg`.
    """
    resolved = Path(program).resolve()
    own = [program, str(resolved), str(Path(program).absolute().parent.parent / "pyvenv.cfg")]
    known = Known(asked=_asked(question), answer=answer, stamps=_stamps([*own, *watched]))
    file = _file(program)
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_bytes(msgspec.json.encode(known))
        part.replace(file)


def _file(program: str) -> Path:
    name = hashlib.sha256(os.fsencode(Path(program).absolute())).hexdigest()[:16]
    return data_folder() / "interpreters" / f"{name}.json"


def _asked(question: str) -> str:
    return msgspec.json.encode([__version__, question, [os.environ.get(name) for name in _VARIABLES]]).decode()


def _stamps(paths: Sequence[str] | Mapping[str, Stamp]) -> dict[str, Stamp]:
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)  # noqa: PTH116  (for many, at each start)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
