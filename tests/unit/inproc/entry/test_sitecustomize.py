"""Python runs the program with nothing of ours below it, and other Pythons as ever."""

from __future__ import annotations

import json
import os
import py_compile
import subprocess
import sys
import zipfile
from pathlib import Path

import dlprof_probes
import pytest

ENTRY = Path(dlprof_probes.__file__).parent / "inproc" / "entry"

SEEN = """
import inspect, os, sys, warnings, __main__
seen = sorted(name for name in globals() if name.startswith("__"))
print(seen, __main__.__dict__ is globals(), len(inspect.stack()), sys.argv, sys.path)
print(sys.excepthook is sys.__excepthook__, os.environ.get("PYTHONPATH"), "runpy" in sys.modules, __file__, __name__)
print("sitecustomize" in sys.modules)
try:
    print(sys._getframe(1).f_code.co_name)
except ValueError as error:
    print(error)
warnings.warn("of nobody", stacklevel=2)
number: int = 1
print(__annotations__)
"""
ENDINGS = {
    "falls-off": "",
    "attribute-error": "None.absent",
    "exit-code": "sys.exit(7)",
    "exit-message": "sys.exit('message')",
    "interrupted": "raise KeyboardInterrupt",
    "syntax-error": "def broken(:",
}


def both(folder: Path, environment: dict[str, str], *arguments: str) -> list[tuple[str, str, int]]:
    """What plain Python prints for arguments, and Python under the probe: output, errors, exit code."""
    (folder / "raw").mkdir()
    (folder / "status").write_bytes(b" " * 1024)
    is_module = arguments[0] == "-m"
    name = arguments[1 if is_module else 0]
    config = {
        "raw": str(folder / "raw"), "status": str(folder / "status"), "lines": None, "script": name,
        "module": name if is_module else None, "argv": list(arguments[1 if is_module else 0 :]),
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    given = environment.get("PYTHONPATH")
    path = os.pathsep.join([str(ENTRY), *([given] if given else [])])
    under = {**environment, "PYTHONPATH": path}
    command = [sys.executable, str(ENTRY), str(folder / "config.json")]
    return [
        run(folder, [sys.executable, *arguments], environment),
        run(folder, command, under),
    ]


def run(folder: Path, command: list[str], environment: dict[str, str]) -> tuple[str, str, int]:
    """A process to its end."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


@pytest.fixture
def environment() -> dict[str, str]:
    """That of this process, without a PYTHONPATH."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_script_sees_and_ends_as_under_plain_python(tmp_path: Path, environment: dict[str, str], ending: str) -> None:
    """Stack, names of `__main__`, path, environment, warnings, annotations; output and exit code to the letter."""
    (tmp_path / "train.py").write_text(SEEN + ENDINGS[ending])

    plain, under = both(tmp_path, environment, "train.py", "a b")

    assert under == plain


def test_a_module_runs_as_under_plain_python(tmp_path: Path, environment: dict[str, str]) -> None:
    """With the frames of `runpy` that it has there."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "__main__.py").write_text(SEEN + "1 // 0")

    plain, under = both(tmp_path, environment, "-m", "package", "a b")

    assert under == plain


def test_a_sitecustomize_of_the_user_s_is_loaded_all_the_same(tmp_path: Path, environment: dict[str, str]) -> None:
    """By the PYTHONPATH that the process would have had, and what it starts has."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import builtins\nbuiltins.of_the_user = __file__\n")
    (tmp_path / "train.py").write_text(
        "import os, subprocess, sys\nprint(of_the_user, sys.modules['sitecustomize'], os.environ['PYTHONPATH'], flush=True)\n"
        "subprocess.call([sys.executable, '-c', 'import sys; print(of_the_user, sys.path)'])\n"
    )
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "site"), "/elsewhere"])

    plain, under = both(tmp_path, environment, "train.py")

    assert under == plain
    assert str(tmp_path / "site") in plain[0]


def test_another_python_that_is_started_on_the_way_runs_as_ever(tmp_path: Path, environment: dict[str, str]) -> None:
    """A launcher in front of the program's own; `runpy` works in it."""
    (tmp_path / "other.py").write_text("import runpy\nprint(runpy.run_path('third.py')['x'])\n")
    (tmp_path / "third.py").write_text("x = __name__\n")
    environment["PYTHONPATH"] = str(ENTRY)

    assert run(tmp_path, [sys.executable, "other.py"], environment) == ("<run_path>\n", "", 0)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["attribute-error", "exit-code", "syntax-error"])
def test_without_its_path_the_program_runs_from_a_frame_of_ours(
    tmp_path: Path, environment: dict[str, str], ending: str
) -> None:
    """Something took PYTHONPATH away; tracebacks and exit codes are still the program's own."""
    (tmp_path / "train.py").write_text("import sys\nprint(sys.argv)\n" + ENDINGS[ending])
    plain, _under = both(tmp_path, environment, "train.py")
    (tmp_path / "raw" / "inproc.wire").unlink()

    assert run(tmp_path, [sys.executable, str(ENTRY), "config.json"], environment) == plain


def test_files_of_pythonpath_are_the_programs_and_not_the_probes(tmp_path: Path, environment: dict[str, str]) -> None:
    """`typing.py` and `json.py` that lie there run when the program imports them, and not before."""
    (tmp_path / "mine").mkdir()
    for name in ("typing", "json", "threading", "types"):
        (tmp_path / "mine" / f"{name}.py").write_text(f"print({name!r})")
    (tmp_path / "train.py").write_text("print('begins')\nimport json, typing, threading, types\nprint(types.__file__)")
    environment["PYTHONPATH"] = str(tmp_path / "mine")

    plain, under = both(tmp_path, environment, "train.py")

    assert under == plain
    assert plain[0].startswith("begins\njson\n")


@pytest.mark.parametrize("name", ["app", "app.zip", "train.pyc"])
def test_a_folder_an_archive_and_a_compiled_module_run_as_under_plain_python(
    tmp_path: Path, environment: dict[str, str], name: str
) -> None:
    """All that Python runs by the name of a file."""
    source = tmp_path / "source.py"
    source.write_text(SEEN + "None.absent")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(source.read_text())
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.write(source, "__main__.py")
    py_compile.compile(str(source), str(tmp_path / "train.pyc"))

    plain, under = both(tmp_path, environment, name, "a b")

    assert under == plain
