"""Managed environments: one locked environment per backend, made on first use.

They live in the user's data folder under a name that contains the digest of all that they are made of,
so that a new lock makes a new environment and never changes one that a run is using. An environment
counts as made when its marker file is there, which is written last: one that was killed half-way is
made again. A lock file keeps two runs from making the same one at once; the installer holds it too, so
that one left alone by a killed run is waited for.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import glob
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from dlprof.errors import DlprofError, NoInputError, Report, UnavailableError, UsageError
from dlprof.launch import interpreters, pip_settings
from dlprof.launch.data_folder import MARKER, clear, data_folder, keeping, locked
from dlprof.launch.installing import Installer, Recipe, make, site_packages
from dlprof.launch.interpreters import InterpreterFacts

_LAYOUT = "1"
"""Changes when environments are made in another way, so that old ones are not taken for new."""


@dataclass(frozen=True)
class Environment:
    """A managed environment.

    Attributes:
        name: The backend.
        path: Its folder.
        digest: Of the lock, the files added and the interpreter.
        state: `installed`, `not installed`, `damaged` (something of it is missing), or `stale` (of an earlier lock).
        version: Python's, for example `3.11`; None where it is not known.
    """

    name: str
    path: Path
    digest: str
    state: str
    version: str | None

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.path / "bin" / "python"

    def size_bytes(self) -> int | None:
        """Bytes on disk; None when it is not there."""
        if not self.path.is_dir():
            return None
        return sum(_size(file) for file in self.path.rglob("*"))


def _size(file: Path) -> int:
    try:
        status = file.lstat()
    except FileNotFoundError:  # an installation that goes on moves its files about
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def expected(spec: BackendSpec, interpreter: InterpreterFacts) -> Environment:
    """The environment that `spec` asks for on `interpreter`, whether it is there or not."""
    version = f"{interpreter.version[0]}.{interpreter.version[1]}"
    content = hashlib.sha256(f"{_LAYOUT} {version} {interpreter.platform}".encode())
    try:
        for file in (lock_of(spec), *spec.site_files, spec.finish, spec.build_lock):
            content.update(file.read_bytes() if file else b"")
    except OSError as error:
        raise UnavailableError(
            f"The backend {spec.name} cannot be made: {error.filename} cannot be read.",
            hint="install dlprof, or the plug-in that brings this backend, again",
        ) from error
    digest = content.hexdigest()[:12]
    path = _folder() / f"{spec.environment_of or spec.name}-py{version.replace('.', '')}-{digest}"
    return Environment(spec.name, path, digest, _state(path), version)


def interpreter_for(spec: BackendSpec) -> InterpreterFacts:
    """The interpreter that the environment of `spec` is made with.

    Raises:
        UnavailableError: There is none; the error tells how to get one.
    """
    try:
        return interpreters.find(spec.python)
    except UnavailableError as error:
        text = f"{error.message} The backend {spec.name} needs it."
        raise UnavailableError(text, hint=spec.how_to_get_python or error.hint) from error


def lock_of(spec: BackendSpec) -> Path:
    """The lock that `spec` is installed by here: the lighter one where pip is set up to find its wheel."""
    if spec.lighter_lock is not None:
        settings = pip_settings.read(os.environ, pip_settings.config_files(os.environ))
        for folder in settings.get("find-links", "").split():
            if any(Path(folder).glob(f"{glob.escape(spec.lighter_wheel)}*.whl")):
                return spec.lighter_lock
    return spec.lock


def _is_whole(path: Path) -> bool:
    """Whether an environment was made to its end, and the interpreter that it leads to is still there."""
    return (path / MARKER).is_file() and (path / "bin" / "python").exists()


def _state(path: Path) -> str:
    if not _is_whole(path):
        return "not installed"
    return "damaged" if missing(path) else "installed"


def missing(path: Path) -> list[str]:
    """What was in the site-packages of an environment when it was made, and is no more: names of the top level."""
    try:
        known = json.loads((path / MARKER).read_text(encoding="utf-8")).get("packages", [])
    except (OSError, ValueError, AttributeError):
        return [MARKER]
    here = {name for folder in site_packages(path) for name in os.listdir(folder)}  # noqa: PTH208  (names are enough)
    return sorted(set(known) - here)


def damage(path: Path) -> list[str]:
    """Every file of an environment that is gone, or not what its package says; takes seconds for a large one."""
    found = missing(path)
    for folder in site_packages(path):
        for record in folder.glob("*.dist-info/RECORD"):
            with record.open(newline="", encoding="utf-8") as rows:
                found += [
                    name
                    for name, digest, size in csv.reader(rows)
                    if size and _counts(name) and not _is_as_recorded(folder / name, digest, int(size))
                ]
    return list(dict.fromkeys(found))


def _counts(name: str) -> bool:
    """Whether a file is the package's own: compiled ones are made here, and installers rewrite what is said of it."""
    return not name.endswith(".pyc") and ".dist-info/" not in name


def _is_as_recorded(file: Path, recorded: str, size: int) -> bool:
    """Whether a file has the size and the digest (`sha256=…`, in the alphabet of URLs) that its package says."""
    kind, _, expected_digest = recorded.partition("=")
    try:
        if file.stat().st_size != size:
            return False
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, kind).digest()
    except (OSError, ValueError):  # it is not there, or the kind of digest is none that we know
        return False
    return base64.urlsafe_b64encode(digest).decode().rstrip("=") == expected_digest


def ensure(spec: BackendSpec, *, report: Report, show_progress: bool = False, repair: bool = False) -> Environment:
    """The environment of a backend, made now if it is not there.

    Args:
        spec: The backend.
        report: Takes one line for the user at each stage.
        show_progress: Let the installer's own progress show on standard error.
        repair: Look at every file of one that is there, and make it anew if something is missing.

    Raises:
        UnavailableError: No interpreter or package index can be had, or the environment is damaged.
        CannotCreateError: The data folder cannot be written to.
    """
    interpreter = interpreter_for(spec)
    environment = expected(spec, interpreter)
    if environment.state == "damaged" and not repair:
        what = ", ".join(missing(environment.path)[:3])
        raise UnavailableError(
            f"The environment of {spec.name} is damaged: {what} is missing.",
            hint=f"dlprof backends install {spec.name}",
        )
    if repair and environment.state != "not installed":
        _throw_away_if_damaged(environment, report)
        environment = expected(spec, interpreter)
    if environment.state != "installed":
        with locked(environment.path, report) as lock:
            if not _is_whole(environment.path):
                with _told(spec, interpreter, report):
                    recipe = Recipe(spec, lock_of(spec), interpreter, environment.digest)
                    make(recipe, environment.path, Installer(lock, show_progress))
    return Environment(spec.name, environment.path, environment.digest, "installed", environment.version)


def _throw_away_if_damaged(environment: Environment, report: Report) -> None:
    """Make an environment look as if it had never been made, if files of it are missing or changed."""
    found = damage(environment.path)
    if not found:
        return
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    report(f"{environment.name}: {', '.join(found[:3])}{more} missing or changed; it is made anew")
    with locked(environment.path, report), keeping(environment.path):
        (environment.path / MARKER).unlink(missing_ok=True)


@contextlib.contextmanager
def _told(spec: BackendSpec, interpreter: InterpreterFacts, report: Report) -> Iterator[None]:
    """Tell the user that the environment is being made, and how long it took."""
    start = time.monotonic()
    packages = sum(1 for line in lock_of(spec).read_text().splitlines() if "==" in line)
    report(
        f"{spec.name}: making its environment with Python {interpreter.version_text} (once; up to {packages} packages)"
    )
    yield
    report(f"{spec.name}: ready after {time.monotonic() - start:.0f} s")


def known() -> list[Environment]:
    """Every backend's environment as it should be, and all others that are still there, as stale."""
    found: list[Environment] = []
    for name, spec in sorted(registry.all_specs().items()):
        try:
            current = expected(spec, interpreter_for(spec))
        except DlprofError:
            current = Environment(name, _folder() / name, "", "no interpreter", None)
        found.append(current)
    return sorted([*found, *_stale({env.path for env in found})], key=lambda env: (env.name, env.state == "stale"))


def _stale(current: set[Path]) -> Iterator[Environment]:
    for path in _made():
        if path not in current:
            version, _, digest = path.name.rpartition("-py")[2].partition("-")
            yield Environment(_backend_of(path), path, digest, "stale", f"{version[:1]}.{version[1:]}")


def _made() -> list[Path]:
    """Folders of environments, whole or not; each is called NAME-pyVERSION-DIGEST."""
    return sorted(path for path in _folder().glob("*-py*-*") if path.is_dir())


def _backend_of(path: Path) -> str:
    return path.name.rpartition("-py")[0]


def path_of(name: str) -> Environment:
    """The environment of the backend `name`, which must be there.

    Raises:
        UsageError: There is no such backend.
        NoInputError: It is not installed.
    """
    spec = registry.get(name)
    environment = expected(spec, interpreter_for(spec))
    if environment.state != "installed":
        raise NoInputError(f"The backend {name} is not installed.", hint=f"dlprof backends install {name}")
    return environment


def remove(name: str) -> list[Path]:
    """Remove every environment of the backend `name`, stale ones too; returns what was removed.

    Raises:
        UsageError: There is no such backend, and nothing is left of one; or it runs in another one's environment.
        CannotCreateError: The data folder cannot be written to.
    """
    paths = [path for path in _made() if _backend_of(path) == name]
    if not paths and registry.get(name).environment_of:
        shared = registry.get(name).environment_of
        raise UsageError(f"{name} runs in the environment of {shared}.", hint=f"dlprof backends remove {shared}")
    for path in paths:
        with locked(path, lambda _line: None), keeping(path):
            clear(path)
            path.with_name(path.name + ".lock").unlink(missing_ok=True)
    return paths


def _folder() -> Path:
    return data_folder() / "environments"
