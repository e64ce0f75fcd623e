"""Repositories for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dlprof.history.repository import Repository, open_repository


def git(folder: Path, *words: str) -> str:
    """What git says."""
    own = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "init.defaultBranch=main",
    ]
    return subprocess.run(["git", "-C", str(folder), *own, *words], capture_output=True, text=True, check=True).stdout


def committed(folder: Path, *texts: str, file: str = "train.py") -> Repository:
    """A repository in which a file had these texts, a commit each: `change 1`, `change 2`, ..."""
    folder.mkdir()
    git(folder, "init", "-q")
    for number, text in enumerate(texts, 1):
        (folder / file).write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", f"change {number}")
    return open_repository(folder)
