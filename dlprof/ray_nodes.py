"""A cluster of Ray, and folders that come back from its nodes: they are unpacked under names that cannot lead out."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import tarfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from dlprof import safe_files
from dlprof.errors import UnavailableError, UsageError
from dlprof.rundir import writing_into

_SCHEME = "ray://"


def address_of(text: str, others: str = "") -> str | None:
    """What `--on` says of a cluster.

    Args:
        text: `ray`, or `ray://ADDRESS`.
        others: What else the option takes, for the error.

    Returns:
        The address, as `ray.init` takes it; None: that which Ray finds.

    Raises:
        UsageError: It says something else.
    """
    if text != "ray" and not text.startswith(_SCHEME):
        raise UsageError(f"--on must be {others}ray or {_SCHEME}ADDRESS, not {text}.")
    return None if text == "ray" else text


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """The module `ray`, connected to a cluster; what Ray prints in words of its own goes to standard error.

    Args:
        address: Of the cluster, as `ray.init` takes it; None: that which Ray finds.

    Raises:
        UnavailableError: Ray is not installed, or there is no cluster.
    """
    with contextlib.redirect_stdout(sys.stderr):
        ray = _connect(address)
        try:
            yield ray
        finally:
            ray.shutdown()


def _connect(address: str | None) -> Any:
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise UnavailableError("Ray is not installed.", hint="pip install 'dlprof[ray]'") from error
    try:
        ray.init(address=address or "auto", log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, ValueError, RuntimeError) as error:
        why = str(error).strip().partition("\n")[0]
        raise UnavailableError(
            f"There is no cluster of Ray: {why}", hint="ray start --head, or --on ray://HOST"
        ) from error
    return ray


def cores(node: Any) -> float:
    """Cores that one of `ray.nodes()` has for tasks; 0: none."""
    return float(node.get("Resources", {}).get("CPU", 0))


def last_line(error: Exception) -> str:
    """What an error of Ray's says, in a few words: that of a task is a whole traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1][:160].rstrip(".")


def pack(folder: Path, places: Collection[str]) -> bytes:
    """Files and folders of these names in a folder, as a packed tar."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz", compresslevel=1) as tar:
        for name in places:
            if (folder / name).exists():
                tar.add(folder / name, name)
    return target.getvalue()


def unpack(packed: bytes, folder: Path, places: Collection[str]) -> None:
    """Put regular files of these names, or below them, into a folder."""
    if not packed:
        return
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar, writing_into(folder):
        for member in tar:
            content = tar.extractfile(member) if member.isfile() else None
            if content is not None and member.name.split("/")[0] in places:
                safe_files.write(folder, member.name, content.read())
