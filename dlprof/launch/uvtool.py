"""Running uv, with pip's settings honoured and its failures put into one sentence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from dlprof.errors import CannotCreateError, DlprofError, UnavailableError
from dlprof.launch import pip_settings

_FAILURES: tuple[tuple[str, type[DlprofError], str, str], ...] = (
    (
        r"(?i)no space left|disk quota",
        CannotCreateError,
        "the disk is full",
        "free some space, or set DLPROF_DATA to a folder on another disk",
    ),
    (
        r"(?i)hash mismatch",
        UnavailableError,
        "a package of the index is not the one that was locked (hash mismatch)",
        "check which index pip is set to use: pip config list",
    ),
    (
        r"(?i)error sending request|dns error|failed to fetch|connection (refused|reset)|timed? ?out|network",
        UnavailableError,
        "the package index cannot be reached",
        "check the network, or point pip to your index: pip config set global.index-url URL",
    ),
    (
        r"(?i)no solution found|no wheels? with a matching|not found in the (package )?(registry|provided)",
        UnavailableError,
        "the package index has no package for this machine and Python",
        "check which index pip is set to use: pip config list",
    ),
    (
        r"(?i)permission denied|read-only file system",
        CannotCreateError,
        "the folder cannot be written to",
        "set DLPROF_DATA to a folder that you may write to",
    ),
)


def find() -> str:
    """Path of the uv program.

    Raises:
        UnavailableError: It is not installed.
    """
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found:
        return found
    raise UnavailableError(
        "uv, which makes the managed environments, is not installed.", hint=f"{sys.executable} -m pip install uv"
    )


def run(arguments: Sequence[str], *, what: str, show: bool = False) -> None:
    """Run uv.

    Args:
        arguments: Its arguments.
        what: What this does, for the error: `install the backend mxnet`.
        show: Let uv show its progress on standard error.

    Raises:
        UnavailableError: The index, or a package on it, cannot be had.
        CannotCreateError: There is no room, or no right to write.
    """
    settings = pip_settings.read(os.environ, pip_settings.config_files(os.environ))
    environment = {**os.environ, **pip_settings.as_uv_environment(settings, os.environ)}
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"):
        environment.pop(name, None)
    # Standard error goes through us, so that the reason of a failure is known; it is shown as it comes.
    process = subprocess.Popen(
        [find(), *arguments], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    said = _follow(process, show)
    if process.wait() != 0:
        raise _failure(said, what)


def _follow(process: subprocess.Popen[str], show: bool) -> str:
    lines: list[str] = []
    assert process.stderr is not None  # noqa: S101
    for line in process.stderr:
        lines.append(line)
        if show:
            print(f"  {line.rstrip()}", file=sys.stderr, flush=True)
    return "".join(lines)


def _failure(said: str, what: str) -> DlprofError:
    for pattern, kind, reason, hint in _FAILURES:
        if re.search(pattern, said):
            return kind(f"Cannot {what}: {reason}.", hint=hint)
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "uv gave no reason")
    return UnavailableError(f"Cannot {what}: {last}", hint="dlprof doctor")
