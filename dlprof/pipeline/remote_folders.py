"""Folders of ranks that lie elsewhere, copied into one of ours: over ssh, or from an object store.

What comes is a stranger's: it is only put below a folder that nobody else can write to, under names that cannot lead
out of it; whether it is a run that may be opened is looked at afterwards, as of any other folder.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dlprof import safe_files
from dlprof.errors import BadDataError, NoInputError, UnavailableError, UsageError
from dlprof.rundir import writing_into

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+")
_HOST = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?(?:[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+\]):(?P<path>.+)")
_LEFT_OUT = "payload"
"""Folder of a run that nothing is read from."""
_CHUNK = 1 << 20


HERE = "file://"
"""What a URL of this machine begins with: a folder like any other, in which no link is followed."""


def is_url(source: str) -> bool:
    """Whether a source is a place in an object store, such as `s3://bucket/run`."""
    return _URL.fullmatch(source) is not None


def is_elsewhere(source: str) -> bool:
    """Whether a source does not lie on this machine; a folder of that name that is here comes first."""
    if source.startswith(HERE) or Path(source).exists():
        return False
    return is_url(source) or _HOST.fullmatch(source) is not None


def fetch(source: str, target: Path) -> None:
    """Copy a folder that lies elsewhere; what an earlier attempt left in `target` is gone on with.

    Args:
        source: `host:path`, `user@host:path`, or a URL.
        target: The folder that takes its content; made if it is not there.

    Raises:
        UnavailableError: What copies it cannot be had, or the copy failed.
        NoInputError: There is nothing.
        BadDataError: A name in it leads elsewhere.
        UsageError: The source makes no sense.
    """
    with writing_into(target):
        target.mkdir(parents=True, exist_ok=True)
    if is_url(source):
        _from_store(source, target)
    else:
        _over_ssh(source, target)


def _over_ssh(source: str, target: Path) -> None:
    rsync, scp = shutil.which("rsync"), shutil.which("scp")
    found = _HOST.fullmatch(source)
    if found is None:
        raise UsageError(f"{source} is no host:path.")
    if rsync is not None:
        # Names come as they are, not through a shell; links and devices stay there.
        kinds = ["--no-links", "--no-devices", "--no-specials", f"--exclude={_LEFT_OUT}/"]
        _copied(
            [rsync, "-rts", "--partial", "--chmod=D700,F600", *kinds, "--", f"{source.rstrip('/')}/", f"{target}/"],
            source,
        )
    elif scp is not None:
        # The content of the folder: by its name scp would make one more folder, in a second attempt inside the first.
        _copied([scp, "-r", "-q", "-p", "--", f"{source.rstrip('/')}/.", str(target)], source)
    else:
        raise UnavailableError(
            f"{source} cannot be fetched: neither rsync nor scp is here.", hint="copy it yourself, and name the copy"
        )


def _copied(command: Sequence[str], source: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = lines[0][:200] if lines else f"exit code {done.returncode}"
        raise UnavailableError(
            f"{source} cannot be fetched: {why}", hint="the same command again goes on where this one ended"
        )


def _from_store(source: str, target: Path) -> None:
    try:
        core: Any = importlib.import_module("fsspec.core")
    except ImportError as error:
        raise UnavailableError(
            f"{source} cannot be fetched: fsspec is not installed.", hint="pip install 'dlprof[remote]'"
        ) from error
    try:
        store, root = core.url_to_fs(source)
        found = store.find(root, detail=True)
        files = {_below(name, root, source): (name, told.get("size")) for name, told in sorted(found.items())}
        for short, (name, size) in files.items():
            if _LEFT_OUT not in short.split("/")[:-1]:
                _download(store, name, target / short, size)
    except (BadDataError, NoInputError):
        raise
    except Exception as error:  # of any store's own kind
        why = str(error).strip().partition("\n")[0][:200] or type(error).__name__
        raise UnavailableError(
            f"{source} cannot be fetched: {why}", hint="the same command again goes on where this one ended"
        ) from error
    if not files:
        raise NoInputError(f"There is nothing at {source}.")


def _below(name: str, root: str, source: str) -> str:
    """The name of a file from the folder on."""
    short = name.lstrip("/").removeprefix(root.strip("/")).lstrip("/")
    try:
        return "/".join(safe_files.parts_of(short))
    except safe_files.RefusedError as error:
        raise BadDataError(f"{source} is not fetched: {error}.") from error


def _download(store: Any, name: str, path: Path, size: int | None) -> None:
    if path.is_file() and size is not None and path.stat().st_size == size:
        return
    with writing_into(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with store.open(name, "rb") as content, safe_files.new_file(path) as out:
        shutil.copyfileobj(content, out, _CHUNK)
