"""Compiled modules where files may only have a certain size: 20 kB here, in which those that the check itself needs fit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dlprof.launch import bytecode

LIMITED = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY)); "


def run(code: str, folder: Path) -> list[str]:
    """Run some code in a folder, as a user whose Python keeps compiled modules; returns the words that it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def test_a_module_that_does_not_fit_is_not_kept(tmp_path: Path) -> None:
    """And what is started from there is told so; without a limit it is kept."""
    (tmp_path / "large.py").write_text("".join(f"name_{number} = {number}\n" for number in range(3000)))
    ask = "from dlprof.launch import bytecode; bytecode.stay_whole(); import large; print(*bytecode.flags())"

    assert run(LIMITED + ask, tmp_path) == ["-B"]
    assert not (tmp_path / "__pycache__").exists()
    assert run(ask, tmp_path) == []
    assert list((tmp_path / "__pycache__").glob("large.*.pyc"))


def test_a_folder_can_be_kept_free_of_compiled_modules(tmp_path: Path) -> None:
    """Its modules are imported all the same."""
    inner = tmp_path / "package"
    inner.mkdir()
    (inner / "__init__.py").touch()
    (inner / "module.py").write_text("VALUE = 7\n")

    bytecode.keep_from(tmp_path)

    assert run("import package.module; print(package.module.VALUE)", tmp_path) == ["7"]
    assert (inner / "__pycache__").is_file()
