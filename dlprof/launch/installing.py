"""Makes the folder of a managed environment with uv: packages by their lock, then what is added to them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dlprof.backends.base import BackendSpec
from dlprof.errors import UnavailableError
from dlprof.launch import data_folder, uvtool
from dlprof.launch.interpreters import InterpreterFacts

_UV_COMPILES = (3, 8, 0)
"""Oldest Python for which uv compiles modules."""
LOCKED = ("pip", "install", "--no-config", "--require-hashes", "--only-binary", ":all:")
"""How uv installs: just what a lock names."""


@dataclass(frozen=True)
class Installer:
    """How uv is run: the lock that it holds, and whether its progress is shown."""

    lock: int
    show: bool

    def run(self, arguments: list[str], what: str) -> None:
        """Run uv; `what` says what this does, for errors."""
        uvtool.run(arguments, what=what, show=self.show, holding=(self.lock,))


@dataclass(frozen=True)
class Recipe:
    """What an environment is made of.

    Attributes:
        spec: The backend.
        lock: The lock that it is installed by.
        interpreter: What it is made with.
        digest: Of all this.
    """

    spec: BackendSpec
    lock: Path
    interpreter: InterpreterFacts
    digest: str


def make(recipe: Recipe, path: Path, installer: Installer) -> None:
    """Make an environment; nothing of it is left where that fails.

    Raises:
        UnavailableError: A package cannot be had, or the script that finishes the environment failed.
        CannotCreateError: The data folder cannot be written to.
    """
    with data_folder.keeping(path):
        data_folder.clear(path)
    try:
        _install(recipe, path, installer)
        with data_folder.keeping(path):
            _complete(recipe, path)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def site_packages(path: Path) -> list[Path]:
    """Folders of an environment that hold its packages."""
    return list(path.glob("lib/python*/site-packages"))


def _what(spec: BackendSpec) -> str:
    return f"install the backend {spec.name}"


def _install(recipe: Recipe, path: Path, installer: Installer) -> None:
    spec, interpreter = recipe.spec, recipe.interpreter
    venv = ["venv", "-q", "--no-project", "--no-config", "--python", str(interpreter.path), str(path)]
    installer.run(venv, _what(spec))
    install = [*LOCKED]
    if interpreter.version >= _UV_COMPILES:
        install.append("--compile-bytecode")
    for name in spec.source_packages:
        install += ["--no-binary", name]
    if spec.build_lock is not None:
        # What builds is what was locked too; it stays, or the backend's own lock replaces it.
        tools = [*LOCKED, "--python", str(_python(path)), "-r", str(spec.build_lock)]
        installer.run(tools, _what(spec))
        install.append("--no-build-isolation")
    installer.run([*install, "--python", str(_python(path)), "-r", str(recipe.lock)], _what(spec))


def _complete(recipe: Recipe, path: Path) -> None:
    """Add what is no package, and mark the environment as whole."""
    _add_site_files(recipe.spec, path)
    if recipe.interpreter.version < _UV_COMPILES:
        _compile(path)
    _finish(recipe.spec, path)
    packages = sorted(name for folder in site_packages(path) for name in os.listdir(folder))  # noqa: PTH208
    version = f"{recipe.interpreter.version[0]}.{recipe.interpreter.version[1]}"
    facts = {"backend": recipe.spec.name, "digest": recipe.digest, "python": version}
    data_folder.mark(path, {**facts, "packages": packages})


def _python(path: Path) -> Path:
    return path / "bin" / "python"


def _add_site_files(spec: BackendSpec, path: Path) -> None:
    if not spec.site_files:
        return
    ask = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    python = [str(_python(path)), "-I"]
    done = subprocess.run([*python, "-c", ask], capture_output=True, text=True, check=True)
    for file in spec.site_files:
        target = Path(done.stdout.strip()) / file.name
        shutil.copyfile(file, target)
        if target.suffix == ".py":
            # They run at every start: where nothing may be written then, they would be compiled each time.
            subprocess.run([*python, "-m", "py_compile", str(target)], check=True)


def _compile(path: Path) -> None:
    """Compile all modules, so that the first run does not; what is not for this Python is passed over."""
    command = [str(_python(path)), "-m", "compileall", "-q", str(path / "lib")]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _finish(spec: BackendSpec, path: Path) -> None:
    """Run the script that makes the environment whole."""
    if spec.finish is None:
        return
    command = [str(_python(path)), str(spec.finish)]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"{spec.finish.name} ended with code {done.returncode}"]
        raise UnavailableError(f"Cannot {_what(spec)}: {lines[-1].rstrip('.')}.")
