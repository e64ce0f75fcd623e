"""Scenarios that come with dlprof: which there are, and copies of them with all that they need.

They are copied before they are traced: what lies among installed packages is taken for a library, and its lines are
not counted.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlprof.errors import CannotCreateError, NoInputError, UnavailableError, nearest
from dlprof.rundir import writing_into

FOLDER = "scenarios"
"""Where copies go if nothing else is said: their names are then those that the documentation has."""
_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / FOLDER, _PACKAGE.parent / FOLDER)
"""Where they lie: in an installed package, and in a copy of the sources."""
_NATIVE = "native"
_OF_SOURCES = ("outside",)
"""Sets that an installed package does not have: they are for who changes the rules of the diagnosis."""
_OTHER = "dlprof scenarios copy NAME OTHER_FOLDER"
SETS = {
    "faults": "scripts with a planted cause, and what is true of each: what `dlprof exam` runs",
    "outside": "problems that others had, with their fixes: what `dlprof exam --outside` runs (with the sources only)",
    "studies": "matrices for `dlprof bench`, with the scripts that they run",
    "ranks": "a training of several processes, for torchrun and for ranks = [1, 2, 4] of `dlprof bench`",
    "all": "all of them",
}
"""Names of many at once."""


@dataclass(frozen=True)
class Scenario:
    """A script with Keras.

    Attributes:
        name: Its name, without the ending.
        about: The first sentence of what it says of itself.
        without_keras: Frameworks that have the same model without Keras (`--backend native-NAME`).
    """

    name: str
    about: str
    without_keras: tuple[str, ...]


@dataclass(frozen=True)
class Copied:
    """What a copy became.

    Attributes:
        script: The script, or the folder of a set.
        files: All files, as they are now.
        written: How many of them were not there before.
    """

    script: Path
    files: tuple[Path, ...]
    written: int


def folder() -> Path:
    """Where the scenarios lie.

    Raises:
        UnavailableError: This dlprof was installed without them.
    """
    found = next((place for place in _PLACES if (place / "workload.py").is_file()), None)
    if found is None:
        raise UnavailableError("This dlprof was installed without its scenarios.", hint="pip install --force-reinstall")
    return found


def all_scenarios() -> list[Scenario]:
    """Every script with Keras, by name.

    Raises:
        UnavailableError: This dlprof was installed without them.
    """
    home = folder()
    return [_scenario(home, path) for path in sorted(home.glob("*.py")) if _is_script(path)]


def known() -> list[Scenario]:
    """Every script with Keras; none where this dlprof was installed without them."""
    try:
        return all_scenarios()
    except UnavailableError:
        return []


def left_out() -> list[str]:
    """Sets that are not there: none in a copy of the sources."""
    return [name for name in _OF_SOURCES if not (folder() / name).is_dir()]


def copy(name: str, target: Path, *, force: bool = False) -> Copied:
    """Copy a scenario with the modules that it imports and its twins without Keras; or a set.

    Args:
        name: Of a scenario, or of `SETS`.
        target: The folder that stands for `scenarios`; made if it is not there.
        force: Replace files that are others.

    Raises:
        NoInputError: There is no such scenario.
        UnavailableError: It comes with the sources only.
        CannotCreateError: A file of that name is there with other text, or cannot be written; nothing was then.
    """
    home = folder()
    files = _files(home, name)
    texts = {target / file: (home / file).read_bytes() for file in files}
    missing = [path for path, text in texts.items() if not _is(path, text, force=force)]
    for path in missing:
        with writing_into(target, mend=_OTHER):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(texts[path])
    script = target / f"{name}.py" if name not in SETS else target / name if name != "all" else target
    return Copied(script, tuple(texts), len(missing))


def _is(path: Path, text: bytes, *, force: bool) -> bool:
    """Whether a file is there with this text.

    Raises:
        CannotCreateError: It is there with another one, and must not be replaced.
    """
    with writing_into(path.parent, mend=_OTHER):
        there = path.read_bytes() if path.is_file() else None
    if there is not None and there != text and not force:
        raise CannotCreateError(
            f"{path} is there, and has other text than dlprof's.", hint="another folder, or --force to replace it"
        )
    return there == text


def _files(home: Path, name: str) -> Sequence[Path]:
    """Files of a scenario or a set, relative to the folder of the scenarios.

    Raises:
        NoInputError: There is no such one.
        UnavailableError: It comes with the sources only.
    """
    there = [*(scenario.name for scenario in all_scenarios()), *SETS]
    if name not in there:
        raise NoInputError(f"There is no scenario {name}.", hint="dlprof scenarios list", near=nearest(name, there))
    if name in left_out():
        raise UnavailableError(
            f"The set {name} comes with the sources of dlprof, not with an installed one.",
            hint="a clone of the repository, or the source archive, has it as scenarios/outside",
        )
    if name in SETS:
        return [path.relative_to(home) for path in _of_set(home, name)]
    scripts = [home / f"{name}.py", *sorted((home / _NATIVE).glob(f"{name}_*.py"))]
    return [path.relative_to(home) for path in _with_imports(home, scripts)]


def _of_set(home: Path, name: str) -> list[Path]:
    """Files of a set: truths of planted causes name scripts of the folder above, too."""
    if name == "studies":
        return _of_studies(home)
    inside = (home if name == "all" else home / name).rglob("*")
    beside = home.glob("*.py") if name == "faults" else ()
    found = {path for path in (*inside, *beside) if path.is_file() and "__pycache__" not in path.parts}
    return sorted(found)


def _of_studies(home: Path) -> list[Path]:
    """The matrices, and all that their scripts need; backends without Keras run the twins of a script."""
    matrices = sorted((home / "studies").glob("*.toml"))
    works = (work for path in matrices for work in tomllib.loads(path.read_text(encoding="utf-8"))["work"])
    scripts = {(home / "studies" / work["script"]).resolve() for work in works}
    twins = {twin for script in scripts for twin in (home / _NATIVE).glob(f"{script.stem}_*.py")}
    return [
        *matrices,
        *_with_imports(home, sorted({home / path.relative_to(home.resolve()) for path in scripts} | twins)),
    ]


def _with_imports(home: Path, scripts: Sequence[Path]) -> list[Path]:
    """Scripts, and what of the scenarios they import, directly or not."""
    found: dict[Path, None] = {}
    waiting = list(scripts)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = None
            waiting += [there for name in _imported(path) if (there := _module(home, path, name)) is not None]
    return sorted(found)


def _imported(path: Path) -> Iterator[str]:
    """Top-level names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _module(home: Path, importer: Path, name: str) -> Path | None:
    """The file of a module that lies beside its importer, or where those without Keras look too."""
    places = (importer.parent / f"{name}.py", home / f"{name}.py")
    return next((path for path in places if path.is_file()), None)


def _is_script(path: Path) -> bool:
    """Whether a file is run, not only imported."""
    return b'if __name__ == "__main__":' in path.read_bytes()


def _scenario(home: Path, path: Path) -> Scenario:
    doc = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    twins = sorted((home / _NATIVE).glob(f"{path.stem}_*.py"))
    return Scenario(path.stem, doc.partition("\n")[0], tuple(twin.stem.partition("_")[2] for twin in twins))
