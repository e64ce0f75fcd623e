"""Finding Python interpreters, and asking them what they are."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from dlprof.engines import registry as engines
from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.launch import known_interpreters

_SCRIPT = Path(__file__).with_name("inspect_interpreter.py")
_SECONDS = 60.0
"""For the answer of an interpreter that the user named: the first start from a network disk takes long."""
_SECONDS_EACH = 10.0
"""For that of a candidate: one that hangs must not keep the user from the others."""
_EXAMPLE = "--python PATH/bin/python, PATH being an environment that has what the script imports"
_KERAS = {"keras": ("keras", "keras-mxnet", "Keras"), "tf_keras": ("tf-keras",)}
_OTHERS = {"numpy": ("numpy",), "line_profiler": ("line_profiler", "line-profiler"), "opt_einsum": ("opt_einsum",)}
_NAMES = (
    "python3.12",
    "python3.11",
    "python3.10",
    "python3.9",
    "python3.8",
    "python3.7",
    "python3.6",
    "python3",
    "python",
)


class InterpreterFacts(Struct, frozen=True):
    """What an interpreter says of itself.

    Attributes:
        path: The program, as it is to be started.
        version: (3, 11, 7).
        implementation: `cpython`.
        platform: sysconfig's platform, for example `linux-x86_64`.
        prefix: Where it is installed; a virtual environment's folder.
        packages: Version of each framework that can be imported; None: its version is not known.
    """

    path: Path
    version: tuple[int, int, int]
    implementation: str
    platform: str
    prefix: str
    packages: Mapping[str, str | None]

    @property
    def version_text(self) -> str:
        """`3.11.7`."""
        return ".".join(str(part) for part in self.version)


def inspect(path: str | Path) -> InterpreterFacts:
    """Ask the interpreter at `path` what it is.

    Raises:
        NoInputError: There is no such file.
        UsageError: It is no Python, or too old a one.
    """
    program = shutil.which(str(path)) or str(path)
    if not Path(program).exists():
        named = "" if os.sep in str(path) else ": no program on PATH has that name, and no file here"
        raise NoInputError(f"There is no interpreter {path}{named}.", hint=_instead(str(path)))
    if Path(program).is_dir():
        raise UsageError(f"{path} is a folder, not an interpreter.", hint=f"--python {Path(path) / 'bin' / 'python'}")
    facts = _ask(program)
    if facts is None:
        raise UsageError(f"{path} is not a working Python interpreter.", hint=_why_not(str(path)))
    if facts.version < (3, 6, 0):
        raise UsageError(
            f"{path} is Python {facts.version_text}; dlprof traces Python 3.6 and newer.", hint="dlprof doctor"
        )
    return facts


def _instead(typed: str) -> str:
    """What to give in place of a program that is none: an environment of a backend, where it has such a name."""
    from dlprof.backends import registry as backends  # noqa: PLC0415  (of no use to an interpreter that is there)

    named = [name for name in backends.all_specs() if typed == name or typed.startswith(f"{name}-")]
    if named:
        return f"--backend {max(named, key=len)}, a managed environment (dlprof backends list)"
    return _EXAMPLE


def _why_not(typed: str) -> str:
    """What to do about a program that does not answer as Python does: one of that name can say why."""
    return f"{typed} --version" if "py" in Path(typed).name else _EXAMPLE


def asked_for() -> dict[str, tuple[str, ...]]:
    """Modules that an interpreter is asked for, with the likely names of their packages: Keras, all engines, others."""
    modules = dict(_KERAS)
    for spec in engines.all_specs().values():
        # Two specs may share a module: TensorFlow 1 and 2.
        modules[spec.module] = tuple(dict.fromkeys((*modules.get(spec.module, ()), *spec.distributions)))
    return {**modules, **_OTHERS}


@cache
def _ask(program: str, seconds: float = _SECONDS) -> InterpreterFacts | None:
    question = json.dumps([asked_for(), _digest_of_question()])
    answer = known_interpreters.recall(program, question)
    known = answer is not None
    if answer is None:
        answer = _answer(program, seconds)
    facts = _decoded(answer)
    if answer is None or facts is None:
        return None
    if not known and isinstance(facts.get("watched"), list):
        known_interpreters.keep(program, question, answer, facts["watched"])
    major, minor, micro = facts["version"]
    # The program as it was named: resolving links would lead out of a virtual environment.
    return InterpreterFacts(
        Path(program).absolute(),
        (major, minor, micro),
        facts["implementation"],
        facts["platform"],
        facts["prefix"],
        facts["packages"],
    )


def _digest_of_question() -> str:
    """Of the script that asks: another one may get another answer."""
    return hashlib.sha256(_SCRIPT.read_bytes()).hexdigest()[:16]


def _answer(program: str, seconds: float) -> str | None:
    """What an interpreter prints of itself, as JSON; None: it is none."""
    try:
        done = subprocess.run(
            [program, str(_SCRIPT), json.dumps(asked_for())],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next((line[6:] for line in done.stdout.splitlines() if line.startswith("DLPROF")), None)


def _decoded(answer: str | None) -> dict[str, Any] | None:
    try:
        return json.loads(answer) if answer is not None else None
    except ValueError:  # it died while it printed
        return None


def find(specifier: str) -> InterpreterFacts:
    """The first interpreter whose version fits.

    Args:
        specifier: PEP 440, for example `>=3.11,<3.13`.

    Raises:
        UnavailableError: None was found.
    """
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415  (only for making environments)

    wanted = SpecifierSet(specifier)
    for path in candidates(os.environ):
        facts = _ask(str(path), _SECONDS_EACH)
        if facts is not None and facts.implementation == "cpython" and wanted.contains(facts.version_text):
            return facts
    raise UnavailableError(
        f"No Python {specifier} was found on PATH, in pyenv's and uv's folders, or in DLPROF_PYTHONS.",
        hint="uv python install 3.11, or DLPROF_PYTHONS=/path/to/python3.11",
    )


def candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    """Interpreters in the order in which they are tried, each once: dlprof's own, DLPROF_PYTHONS, PATH, pyenv, uv."""
    seen: set[Path] = set()
    for path in _places(environ):
        resolved = path.resolve()
        if resolved not in seen and os.access(path, os.X_OK) and path.is_file():
            seen.add(resolved)
            yield path


def _places(environ: Mapping[str, str]) -> Iterator[Path]:
    yield Path(getattr(sys, "_base_executable", None) or sys.executable)
    for entry in environ.get("DLPROF_PYTHONS", "").split(os.pathsep):
        if entry:
            yield from _in_folder(Path(entry)) if Path(entry).is_dir() else [Path(entry)]
    for folder in environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield from (Path(folder) / name for name in _NAMES)
    home = Path(environ.get("HOME", "~")).expanduser()
    roots = [
        Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions",
        Path(environ.get("UV_PYTHON_INSTALL_DIR") or home / ".local" / "share" / "uv" / "python"),
    ]
    for root in roots:
        for version in sorted(root.iterdir(), reverse=True) if root.is_dir() else ():
            yield version / "bin" / "python3"


def _in_folder(folder: Path) -> Iterator[Path]:
    for place in (folder, folder / "bin"):
        yield from (place / name for name in _NAMES)
    for inner in sorted(folder.iterdir()):
        yield inner / "bin" / "python3"
