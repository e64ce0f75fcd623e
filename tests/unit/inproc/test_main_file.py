"""What Python does with the name of a file."""

from __future__ import annotations

import importlib.util
import marshal
import os
import zipfile
from pathlib import Path

import pytest
from dlprof_probes.inproc import main_file

HEADER = importlib.util.MAGIC_NUMBER + bytes(12)
COMPILED = HEADER + marshal.dumps(compile("x = 1", "a.py", "exec"))


def test_a_folder_and_an_archive_hold_what_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their whole path, as it was given; a file holds nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app").mkdir()
    (tmp_path / "a.py").touch()
    with zipfile.ZipFile("app.zip", "w") as archive:
        archive.writestr("__main__.py", "")

    found = [main_file.holder(name) for name in ("./app/", "app.zip", "a.py", "missing.py")]

    assert found == [os.path.join(tmp_path, "./app/"), str(tmp_path / "app.zip"), None, None]


@pytest.mark.parametrize(
    ("name", "data", "compiled"),
    [("a.pyc", b"x = 1", True), ("a.dat", COMPILED, True), ("a.py", b"x = 1", False), ("a.py", b"", False)],
)
def test_a_compiled_module_is_known_by_its_name_or_its_first_bytes(name: str, data: bytes, compiled: bool) -> None:
    """As Python does."""
    assert main_file.is_compiled(name, data) is compiled
    assert type(main_file.loader(name, data)).__name__ == ("SourcelessFileLoader" if compiled else "SourceFileLoader")


@pytest.mark.parametrize(("name", "data"), [("a.pyc", COMPILED), ("a.py", b"x = 1")])
def test_the_code_of_a_file_is_that_which_python_runs(name: str, data: bytes) -> None:
    """A source is compiled, a compiled module read."""
    code, fails = main_file.code_of(name, data)
    space: dict[str, object] = {}
    exec(code, space)

    assert (space["x"], fails) == (1, None)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"x = 1", RuntimeError("Bad magic number in .pyc file")),
        (importlib.util.MAGIC_NUMBER, EOFError("EOF read where not expected")),
        (HEADER + b"junk", RuntimeError("Bad code object in .pyc file")),
        (HEADER + marshal.dumps(1), RuntimeError("Bad code object in .pyc file")),
    ],
)
def test_a_damaged_compiled_module_fails_as_in_python(data: bytes, error: Exception) -> None:
    """When it is run, in Python's words."""
    code, fails = main_file.code_of("a.pyc", data)
    with pytest.raises(type(error)) as raised:
        fails()

    assert (code, str(raised.value)) == (None, str(error))
