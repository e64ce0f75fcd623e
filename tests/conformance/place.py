"""The folder of a case: made afresh for each of its two runs at one and the same path, and looked at afterwards."""

from __future__ import annotations

import os
import py_compile
import shutil
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.conformance.case import Case

SCRIPTS = Path(__file__).parent / "scripts"
_MARK = "STAGE"
"""Variable with the path of the place, by which all processes of a run are known."""
_LOOKED_AT = ("work", "home", "tmp")
_SHOWN_BYTES = 40_000
_DRAWN_BY_ENGINES = ("home/.theano/compiledir", "home/intel/openvino")
"""What these engines write has names and content that they draw anew in each home: only that it is there is compared."""


@dataclass(frozen=True)
class Place:
    """The folder of a case.

    Attributes:
        path: `work` is the program's current folder; `home` and `tmp` are the user's; `run` is dlprof's.
    """

    path: Path

    @property
    def work(self) -> Path:
        """The program's current folder."""
        return self.path / "work"

    @property
    def run(self) -> Path:
        """The run folder."""
        return self.path / "run"

    def make(self, case: Case) -> None:
        """Make it, with the script in it and nothing else."""
        shutil.rmtree(self.path, ignore_errors=True)
        for name in _LOOKED_AT:
            (self.path / name).mkdir(parents=True)
        for name in ("ready", "go"):
            os.mkfifo(self.path / name)
        script = case.module.replace(".", "/") + ".py" if case.module else case.called or case.script
        for source, name in ((case.script, script), ("stage.py", "stage.py"), *case.beside):
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SCRIPTS / source, self.work / name)
        if case.packed:
            _pack(SCRIPTS / case.script, self.work / case.packed)

    def environment(self, case: Case, more: dict[str, str]) -> dict[str, str]:
        """The variables that a program is given: few, and the same on every machine."""
        made: dict[str, str] = {
            "HOME": str(self.path / "home"),
            "TMPDIR": str(self.path / "tmp"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            _MARK: str(self.path),
            **more,
        }
        for name, value in case.world.environment.items():
            made.pop(name, None)
            if value is not None:
                made[name] = value.format(place=self.path, program=self.work)
        return made

    def processes(self) -> list[psutil.Process]:
        """All that run and were started, however indirectly, in this place."""
        return [one for one in psutil.process_iter() if self._is_ours(one)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get(_MARK) == str(self.path) and process.status() != psutil.STATUS_ZOMBIE
        except (psutil.Error, OSError):
            return False

    def files(self) -> list[str]:
        """Lines for each file: name, kind and mode, content."""
        found = [path for name in _LOOKED_AT for path in sorted((self.path / name).rglob("*"))]
        names = {path: str(path.relative_to(self.path)) for path in found}
        drawn = [start for start in _DRAWN_BY_ENGINES if any(name.startswith(start) for name in names.values())]
        told = [path for path in found if not names[path].startswith(_DRAWN_BY_ENGINES)]
        return [line for path in told for line in _described(path, names[path])] + [f"file {name}…" for name in drawn]


def _pack(script: Path, packed: Path) -> None:
    """Make of a script what Python runs as well."""
    if packed.suffix == ".pyc":
        py_compile.compile(str(script), str(packed), doraise=True)
    elif packed.suffix == ".zip":
        with zipfile.ZipFile(packed, "w") as archive:
            archive.write(script, "__main__.py")
    else:
        packed.mkdir()
        shutil.copy2(script, packed / "__main__.py")


def _described(path: Path, name: str) -> list[str]:
    state = path.lstat()
    first = f"file {name} {stat.filemode(state.st_mode)}"
    if path.is_symlink():
        return [f"{first} -> {path.readlink()}"]
    # Compiled files hold times and reference counts of the interpreter that wrote them.
    if not stat.S_ISREG(state.st_mode) or path.suffix == ".pyc":
        return [first]
    content = path.read_bytes()
    lines = content[:_SHOWN_BYTES].splitlines(keepends=True)
    rest = [f"file {name}: {len(content)} bytes in all"] if len(content) > _SHOWN_BYTES else []
    return [first, *rest, *(f"file {name}: {line!r}" for line in lines)]
