"""Compiled modules where files may only have a certain size, or the disk is full.

That size is 20 kB here, in which those that the check itself needs fit.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

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


@pytest.mark.parametrize(("free", "cut"), [((16 << 20) - 4096, True), (16 << 20, False)])
def test_where_the_disk_is_full_a_module_might_be_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, cut: bool
) -> None:
    """By the disk of the nearest folder that is there."""
    asked = []

    def statvfs(place: Path) -> SimpleNamespace:
        asked.append(place)
        if place != tmp_path:
            raise FileNotFoundError
        return SimpleNamespace(f_bavail=free // 4096, f_frsize=4096)

    monkeypatch.setattr(os, "statvfs", statvfs)

    assert bytecode.may_be_cut(tmp_path / "data" / "dlprof") == cut
    assert asked == [tmp_path / "data" / "dlprof", tmp_path / "data", tmp_path]


def test_a_folder_can_be_kept_free_of_compiled_modules(tmp_path: Path) -> None:
    """Its modules are imported all the same."""
    inner = tmp_path / "package"
    inner.mkdir()
    (inner / "__init__.py").touch()
    (inner / "module.py").write_text("VALUE = 7\n")

    bytecode.keep_from(tmp_path)

    assert run("import package.module; print(package.module.VALUE)", tmp_path) == ["7"]
    assert (inner / "__pycache__").is_file()
