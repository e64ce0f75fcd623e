"""Managed environments: one locked environment per backend, made on first use.

They live in the user's data folder under a name that contains the digest of all that they are made of,
so that a new lock makes a new environment and never changes one that a run is using. An environment
counts as made when its marker file is there, which is written last: one that was killed half-way is
made again. A lock file keeps two runs from making the same one at once; the installer holds it too, so
that one left alone by a killed run is waited for.
"""

from __future__ import annotations

import contextlib
import csv
import fcntl
import glob
import hashlib
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from dlprof.errors import CannotCreateError, DlprofError, NoInputError, Report, UnavailableError, UsageError
from dlprof.launch import interpreters, pip_settings, uvtool
from dlprof.launch.interpreters import InterpreterFacts
from dlprof.rundir import replace_text, writing_into

MARKER = "dlprof-environment.json"
_LAYOUT = "1"
"""Changes when environments are made in another way, so that old ones are not taken for new."""

_UV_COMPILES = (3, 8, 0)
"""Oldest Python for which uv compiles modules."""


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


def data_folder() -> Path:
    """Folder of all that dlprof keeps between runs: `DLPROF_DATA`, else the user's data folder."""
    return Path(os.environ.get("DLPROF_DATA") or platformdirs.user_data_dir("dlprof")).absolute()


def expected(spec: BackendSpec, interpreter: InterpreterFacts) -> Environment:
    """The environment that `spec` asks for on `interpreter`, whether it is there or not."""
    version = f"{interpreter.version[0]}.{interpreter.version[1]}"
    content = hashlib.sha256(f"{_LAYOUT} {version} {interpreter.platform}".encode())
    try:
        for file in (lock_of(spec), *spec.site_files, *([spec.finish] if spec.finish else [])):
            content.update(file.read_bytes())
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
    here = {name for folder in _site_packages(path) for name in os.listdir(folder)}  # noqa: PTH208  (names are enough)
    return sorted(set(known) - here)


def damage(path: Path) -> list[str]:
    """Every file of an environment that is gone, or of another size than its package says; takes a second or so."""
    found = missing(path)
    for folder in _site_packages(path):
        for record in folder.glob("*.dist-info/RECORD"):
            with record.open(newline="", encoding="utf-8") as rows:
                for name, _digest, size in csv.reader(rows):
                    if size and not name.endswith(".pyc") and _size_of(folder / name) != int(size):
                        found.append(name)
    return list(dict.fromkeys(found))


def _size_of(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _site_packages(path: Path) -> list[Path]:
    return list(path.glob("lib/python*/site-packages"))


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
        with _locked(environment.path, report) as lock:
            if not _is_whole(environment.path):
                with _told(spec, interpreter, report):
                    _make(spec, interpreter, environment, _Installer(lock, show_progress))
    return Environment(spec.name, environment.path, environment.digest, "installed", environment.version)


def _throw_away_if_damaged(environment: Environment, report: Report) -> None:
    """Make an environment look as if it had never been made, if files of it are missing or changed."""
    found = damage(environment.path)
    if not found:
        return
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    report(f"{environment.name}: {', '.join(found[:3])}{more} missing or changed; it is made anew")
    with _locked(environment.path, report), _keeping(environment.path):
        (environment.path / MARKER).unlink(missing_ok=True)


@dataclass(frozen=True)
class _Installer:
    """How uv is run: the lock that it holds, and whether its progress is shown."""

    lock: int
    show: bool

    def run(self, arguments: list[str], what: str) -> None:
        uvtool.run(arguments, what=what, show=self.show, holding=(self.lock,))


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


def _make(spec: BackendSpec, interpreter: InterpreterFacts, environment: Environment, installer: _Installer) -> None:
    path = environment.path
    what = f"install the backend {spec.name}"
    with _keeping(path):
        _clear(path)
    try:
        installer.run(["venv", "-q", "--no-project", "--no-config", "--python", str(interpreter.path), str(path)], what)
        install = ["pip", "install", "--no-config", "--require-hashes", "--only-binary", ":all:"]
        compiles = interpreter.version >= _UV_COMPILES
        install += ["--compile-bytecode"] if compiles else []
        for name in spec.source_packages:
            install += ["--no-binary", name]
        if spec.build_constraint:
            constraints = path / "build-constraints.txt"
            constraints.write_text(spec.build_constraint + "\n", encoding="utf-8")
            install += ["--build-constraints", str(constraints)]
        installer.run([*install, "--python", str(environment.python), "-r", str(lock_of(spec))], what)
        with _keeping(path):
            _add_site_files(spec, environment)
            if not compiles:
                _compile(environment)
            _finish(spec, environment, what)
            packages = sorted(name for folder in _site_packages(path) for name in os.listdir(folder))  # noqa: PTH208
            facts = {"backend": spec.name, "digest": environment.digest, "python": environment.version}
            _mark(path, {**facts, "packages": packages})
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def _clear(path: Path) -> None:
    """Remove what a killed run left at `path`. The marker goes first: what is left is never taken for whole."""
    if path.exists():
        (path / MARKER).unlink(missing_ok=True)
        shutil.rmtree(path)


def _mark(path: Path, content: Mapping[str, Any]) -> None:
    """Say that `path` is whole; the marker is there with all its content, or not at all."""
    replace_text(path / MARKER, json.dumps(content))


@contextlib.contextmanager
def _keeping(folder: Path) -> Iterator[None]:
    """Turn failures to write to the data folder into one clear sentence."""
    try:
        with writing_into(folder):
            yield
    except CannotCreateError as error:
        raise CannotCreateError(error.message, hint="set DLPROF_DATA to a folder that you may write to") from error


def _add_site_files(spec: BackendSpec, environment: Environment) -> None:
    if not spec.site_files:
        return
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    python = [str(environment.python), "-I"]
    done = subprocess.run([*python, "-c", ask], capture_output=True, text=True, check=True)
    for file in spec.site_files:
        target = Path(done.stdout.strip()) / file.name
        shutil.copyfile(file, target)
        if target.suffix == ".py":
            # They run at every start: where nothing may be written then, they would be compiled each time.
            subprocess.run([*python, "-m", "py_compile", str(target)], check=True)


def _compile(environment: Environment) -> None:
    """Compile all modules, so that the first run does not; what is not for this Python is passed over."""
    command = [str(environment.python), "-m", "compileall", "-q", str(environment.path / "lib")]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _finish(spec: BackendSpec, environment: Environment, what: str) -> None:
    """Run the script that makes the environment whole."""
    if spec.finish is None:
        return
    done = subprocess.run(
        [str(environment.python), str(spec.finish)], capture_output=True, text=True, errors="replace", check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"{spec.finish.name} ended with code {done.returncode}"]
        raise UnavailableError(f"Cannot {what}: {lines[-1].rstrip('.')}.")


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
        with _locked(path, lambda _line: None), _keeping(path):
            _clear(path)
            path.with_name(path.name + ".lock").unlink(missing_ok=True)
    return paths


def _folder() -> Path:
    return data_folder() / "environments"


@contextlib.contextmanager
def _locked(path: Path, report: Report) -> Iterator[int]:
    """Hold the lock of the folder `path`; another run that has it is waited for. Gives the open lock file."""
    name = path.with_name(path.name + ".lock")
    while True:
        with _keeping(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            _wait_for(lock, path, report)
            if _is_still(name, lock):
                yield lock
                return
        finally:
            os.close(lock)


def _wait_for(lock: int, path: Path, report: Report) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        report(f"{path.name}: another run is making it; waiting")
        fcntl.flock(lock, fcntl.LOCK_EX)


def _is_still(name: Path, lock: int) -> bool:
    """Whether the lock file is still the open one: whoever removes an environment removes its lock as well."""
    try:
        return os.path.samestat(name.stat(), os.fstat(lock))
    except FileNotFoundError:
        return False


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
    lock = registry.LOCKS / "line_profiler.txt"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    version = f"{interpreter.version[0]}{interpreter.version[1]}"
    path = data_folder() / "tools" / f"line_profiler-cp{version}-{interpreter.platform}-{digest}"
    if not (path / MARKER).is_file():
        with _locked(path, report) as held:
            if not (path / MARKER).is_file():
                report(f"line_profiler: fetching it for Python {interpreter.version_text} (once)")
                _fetch(lock, interpreter, path, _Installer(held, show=False))
    return path


def _fetch(lock: Path, interpreter: InterpreterFacts, path: Path, installer: _Installer) -> None:
    with _keeping(path):
        _clear(path)
    install = ["pip", "install", "--no-config", "--require-hashes", "--only-binary", ":all:", "--no-deps"]
    where = ["--python", str(interpreter.path), "--target", str(path), "-r", str(lock)]
    installer.run([*install, *where], f"fetch line_profiler for Python {interpreter.version_text}")
    with _keeping(path):
        _mark(path, {"python": interpreter.version_text})
