"""Managed environments: one locked environment per backend, made on first use.

They live in the user's data folder under a name that contains the digest of all that they are made of,
so that a new lock makes a new environment and never changes one that a run is using. An environment
counts as made when its marker file is there, which is written last: one that was killed half-way is
made again. A lock file keeps two runs from making the same one at once.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from dlprof.errors import DlprofError, NoInputError
from dlprof.launch import interpreters, uvtool
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.rundir import writing_into

MARKER = "dlprof-environment.json"
_LAYOUT = "1"
"""Changes when environments are made in another way, so that old ones are not taken for new."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class Environment:
    """A managed environment.

    Attributes:
        name: The backend.
        path: Its folder.
        digest: Of the lock, the files added and the interpreter.
        state: `installed`, `not installed`, or `stale` (of an earlier lock).
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
        return sum(file.stat().st_size for file in self.path.rglob("*") if file.is_file() and not file.is_symlink())


def data_folder() -> Path:
    """Folder of all that dlprof keeps between runs: `DLPROF_DATA`, else the user's data folder."""
    return Path(os.environ.get("DLPROF_DATA") or platformdirs.user_data_dir("dlprof")).absolute()


def expected(spec: BackendSpec, interpreter: InterpreterFacts) -> Environment:
    """The environment that `spec` asks for on `interpreter`, whether it is there or not."""
    version = f"{interpreter.version[0]}.{interpreter.version[1]}"
    content = hashlib.sha256(f"{_LAYOUT} {version} {interpreter.platform}".encode())
    for file in (spec.lock, *spec.site_files):
        content.update(file.read_bytes())
    digest = content.hexdigest()[:12]
    path = _folder() / f"{spec.name}-py{version.replace('.', '')}-{digest}"
    state = "installed" if (path / MARKER).is_file() else "not installed"
    return Environment(spec.name, path, digest, state, version)


def ensure(spec: BackendSpec, *, report: Report, show_progress: bool = False) -> Environment:
    """The environment of a backend, made now if it is not there.

    Args:
        spec: The backend.
        report: Takes one line for the user at each stage.
        show_progress: Let the installer's own progress show on standard error.

    Raises:
        UnavailableError: No interpreter or package index can be had.
        CannotCreateError: The data folder cannot be written to.
    """
    interpreter = interpreters.find(spec.python)
    environment = expected(spec, interpreter)
    if environment.state != "installed":
        with _locked(environment.path, report):
            if not (environment.path / MARKER).is_file():
                _make(spec, interpreter, environment, report, show_progress)
    return Environment(spec.name, environment.path, environment.digest, "installed", environment.version)


def _make(
    spec: BackendSpec, interpreter: InterpreterFacts, environment: Environment, report: Report, show_progress: bool
) -> None:
    start = time.monotonic()
    path = environment.path
    packages = sum(1 for line in spec.lock.read_text().splitlines() if "==" in line)
    report(
        f"{spec.name}: making its environment with Python {interpreter.version_text} (once; up to {packages} packages)"
    )
    what = f"install the backend {spec.name}"
    with writing_into(path.parent):
        shutil.rmtree(path, ignore_errors=True)
    try:
        uvtool.run(["venv", "--no-project", "--no-config", "--python", str(interpreter.path), str(path)], what=what)
        install = ["pip", "install", "--no-config", "--require-hashes", "--only-binary", ":all:", "--compile-bytecode"]
        if spec.source_packages:
            install += [word for name in spec.source_packages for word in ("--no-binary", name)]
        uvtool.run([*install, "--python", str(environment.python), "-r", str(spec.lock)], what=what, show=show_progress)
        with writing_into(path):
            _add_site_files(spec, environment)
            (path / MARKER).write_text(
                json.dumps({"backend": spec.name, "digest": environment.digest, "python": environment.version})
            )
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    report(f"{spec.name}: ready after {time.monotonic() - start:.0f} s")


def _add_site_files(spec: BackendSpec, environment: Environment) -> None:
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    done = subprocess.run([str(environment.python), "-c", ask], capture_output=True, text=True, check=True)
    for file in spec.site_files:
        shutil.copyfile(file, Path(done.stdout.strip()) / file.name)


def known() -> list[Environment]:
    """Every backend's environment as it should be, and those of earlier locks that are still there."""
    found: list[Environment] = []
    for name, spec in sorted(registry.all_specs().items()):
        try:
            current = expected(spec, interpreters.find(spec.python))
        except DlprofError:
            current = Environment(name, _folder() / name, "", "no interpreter", None)
        found.append(current)
        found.extend(_stale(name, current.path))
    return found


def _stale(name: str, current: Path) -> Iterator[Environment]:
    folder = _folder()
    for path in sorted(folder.glob(f"{name}-py*")) if folder.is_dir() else ():
        if path != current and path.is_dir():
            yield Environment(name, path, path.name.rpartition("-")[2], "stale", None)


def path_of(name: str) -> Environment:
    """The environment of the backend `name`, which must be there.

    Raises:
        UsageError: There is no such backend.
        NoInputError: It is not installed.
    """
    spec = registry.get(name)
    environment = expected(spec, interpreters.find(spec.python))
    if environment.state != "installed":
        raise NoInputError(f"The backend {name} is not installed.", hint=f"dlprof backends install {name}")
    return environment


def remove(name: str) -> list[Path]:
    """Remove every environment of the backend `name`, stale ones too; returns what was removed.

    Raises:
        UsageError: There is no such backend.
    """
    registry.get(name)
    removed = []
    for path in sorted(_folder().glob(f"{name}-py*")) if _folder().is_dir() else ():
        if path.is_dir():
            with _locked(path, lambda _line: None), writing_into(path):
                (path / MARKER).unlink(missing_ok=True)
                shutil.rmtree(path)
            removed.append(path)
        elif path.suffix == ".lock":
            path.unlink(missing_ok=True)
    return removed


def _folder() -> Path:
    return data_folder() / "environments"


@contextlib.contextmanager
def _locked(path: Path, report: Report) -> Iterator[None]:
    """Hold the lock of the folder `path`; another run that makes it is waited for."""
    with writing_into(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path.with_name(path.name + ".lock"), "w")  # noqa: SIM115, PTH123
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"{path.name}: another run is making it; waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def line_profiler_for(interpreter: InterpreterFacts, *, report: Report) -> Path | None:
    """Folder that holds a line_profiler for an interpreter of the user's own; None: it has one.

    Nothing is installed into the user's environment: the folder is put on the path only while the
    probe imports line_profiler.

    Raises:
        UnavailableError: It cannot be had for this interpreter.
        CannotCreateError: The data folder cannot be written to.
    """
    own = interpreter.packages.get("line_profiler")
    if own and int(own.split(".")[0]) >= 5:
        return None
    lock = registry.LOCKS / "line_profiler.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    version = f"{interpreter.version[0]}{interpreter.version[1]}"
    path = data_folder() / "tools" / f"line_profiler-cp{version}-{interpreter.platform}-{digest}"
    if (path / MARKER).is_file():
        return path
    with _locked(path, report):
        if not (path / MARKER).is_file():
            report(f"line_profiler: fetching it for Python {interpreter.version_text} (once)")
            shutil.rmtree(path, ignore_errors=True)
            uvtool.run(
                ["pip", "install", "--no-config", "--require-hashes", "--only-binary", ":all:",
                 "--python", str(interpreter.path), "--target", str(path), "-r", str(lock)],
                what=f"fetch line_profiler for Python {interpreter.version_text}",
            )  # fmt: skip
            with writing_into(path):
                (path / MARKER).write_text("{}")
    return path
