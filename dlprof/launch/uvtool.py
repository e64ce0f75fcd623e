"""Running uv, with pip's settings honoured and its failures put into one sentence."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence

from dlprof.errors import CannotCreateError, DlprofError, UnavailableError
from dlprof.launch import pip_settings

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
_INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL")
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
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
        r"(?i)invalid peer certificate|certificate verify failed|self-signed certificate",
        UnavailableError,
        "the certificate of the package index is not trusted on this machine",
        "pip config set global.cert PATH, with the certificates of your network",
    ),
    (
        r"(?i)401 unauthorized|403 forbidden|407 proxy",
        UnavailableError,
        "the package index, or the proxy before it, refuses access",
        "check the address and the credentials that pip is set to use: pip config list",
    ),
    (
        r"(?i)index lookups were disabled",
        UnavailableError,
        "pip is set to use no index, and its find-links lack a package",
        "check no-index and find-links: pip config list",
    ),
    (
        r"(?i)error sending request|dns error|failed to fetch|connection (refused|reset)|\btimed? ?out\b|\bnetwork\b",
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


def run(arguments: Sequence[str], *, what: str, show: bool = False, holding: Sequence[int] = ()) -> None:
    """Run uv.

    It ends when dlprof does, whatever ends that.

    Args:
        arguments: Its arguments.
        what: What this does, for the error: `install the backend mxnet`.
        show: Let uv show its progress on standard error.
        holding: Open files that uv keeps open too: the lock of a folder is free only when uv is gone.

    Raises:
        UnavailableError: The index, or a package on it, cannot be had.
        CannotCreateError: There is no room, or no right to write.
    """
    settings = pip_settings.read(os.environ, pip_settings.config_files(os.environ))
    command = [find(), *arguments, *_options(arguments, settings, os.environ)]
    # Standard error goes through us, so that the reason of a failure is known; it is shown as it comes.
    ours, its = _terminal_like_ours() if show and sys.stderr.isatty() else os.pipe()
    with open(ours, "rb", buffering=0):  # noqa: PTH123  (a descriptor, not a path)
        try:
            process = subprocess.Popen(
                command,
                env=_environment(settings),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=its,
                pass_fds=holding,
                preexec_fn=_end_with_parent,
            )
        except OSError as error:
            raise UnavailableError(f"Cannot {what}: {command[0]} does not start: {error.strerror}.") from error
        finally:
            os.close(its)
        try:
            said = _follow(ours, show)
            code = process.wait()
        finally:
            if process.poll() is None:  # Ctrl-C: what it writes to is about to be removed
                process.kill()
                process.wait()
    if code != 0:
        raise _failure(said, what)


def _options(arguments: Sequence[str], settings: Mapping[str, str], environ: Mapping[str, str]) -> list[str]:
    """Settings of pip that uv takes on the command line only; indexes named by uv's own variables win."""
    off = settings.get("no-index", "").lower() not in {"1", "true", "yes", "on", "y", "t"}
    if off or arguments[0] != "pip" or any(environ.get(name) for name in _INDEXES):
        return []
    return ["--no-index"]


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    environment = {**os.environ, **pip_settings.as_uv_environment(settings, os.environ)}
    # uv's older names for the indexes are still in use; the newer ones, made from pip's settings, would outweigh them.
    for old, new in (("UV_INDEX_URL", "UV_DEFAULT_INDEX"), ("UV_EXTRA_INDEX_URL", "UV_INDEX")):
        if os.environ.get(old) and new not in os.environ:
            environment.pop(new, None)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"):
        environment.pop(name, None)
    return environment


def _end_with_parent() -> None:
    """Between fork and exec: killed when dlprof is, so that none of it goes on alone."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _terminal_like_ours() -> tuple[int, int]:
    """Both ends of a new terminal of the size of ours: uv shows its progress bars on terminals only."""
    ours, its = pty.openpty()
    with contextlib.suppress(OSError, termios.error):
        termios.tcsetwinsize(its, termios.tcgetwinsize(sys.stderr.fileno()))
    return ours, its


def _follow(descriptor: int, show: bool) -> str:
    """All that is written to `descriptor`, shown as it comes; without colours and the like."""
    said = bytearray()
    while chunk := _read(descriptor):
        said += chunk
        if show:
            with contextlib.suppress(OSError):  # nobody looks any more: no reason to stop
                sys.stderr.buffer.write(chunk)
                sys.stderr.flush()
    return _COLOURS.sub("", said.decode("utf-8", "replace"))


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how a terminal says that its other end is closed
        return b""


def _failure(said: str, what: str) -> DlprofError:
    for pattern, kind, reason, hint in _FAILURES:
        if re.search(pattern, said):
            return kind(f"Cannot {what}: {reason}.", hint=hint)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith("error:")), lines[-1] if lines else "uv gave no reason")
    return UnavailableError(f"Cannot {what}: {first.removeprefix('error:').strip()}", hint="dlprof doctor")
