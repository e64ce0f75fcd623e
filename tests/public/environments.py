"""Environments with the packages that the scripts need, on top of the managed ones."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from dlprof.backends import registry
from dlprof.launch import environments
from dlprof.launch.installing import site_packages

_DONE = "packages.txt"


@dataclass(frozen=True)
class Environment:
    """A managed environment, and packages beside it.

    Attributes:
        backend: The managed one.
        packages: What pip is given; none: the managed environment itself.
    """

    backend: str
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Interpreter:
    """A Python to run scripts with, and the variables that its engine wants."""

    python: Path
    variables: dict[str, str]


def make(name: str, environment: Environment, folder: Path) -> Interpreter:
    """The interpreter of an environment, made where it is not there.

    Args:
        name: What its folder is called.
        environment: What it consists of.
        folder: Where it is made.
    """
    spec = registry.get(environment.backend)
    managed = environments.ensure(spec, report=print)
    if not environment.packages:
        return Interpreter(managed.python, dict(spec.environment))
    own = folder / name
    told = "\n".join(environment.packages)
    if not (own / _DONE).is_file() or (own / _DONE).read_text(encoding="utf-8") != told:
        _install(managed, environment.packages, own)
        (own / _DONE).write_text(told, encoding="utf-8")
    return Interpreter(own / "bin" / "python", dict(spec.environment))


def _install(managed: environments.Environment, packages: tuple[str, ...], own: Path) -> None:
    """What the managed environment has is seen there, too; what pip puts beside it comes first."""
    subprocess.run([str(managed.python), "-m", "venv", "--clear", str(own)], check=True)
    beside = "\n".join(str(path) for path in site_packages(managed.path))
    for path in site_packages(own):
        (path / "managed.pth").write_text(beside + "\n", encoding="utf-8")
    pip = [str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", "--prefer-binary"]
    subprocess.run([*pip, *packages], check=True)
