"""Facts about the working tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.launch import machine
from dlprof.schema.manifest import Git

HEAD = "# branch.oid 0123abc\n# branch.head main\n"


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (HEAD, Git(commit="0123abc", dirty=False)),
        (HEAD + "1 .M N... 100644 100644 100644 1 2 a.py\n", Git(commit="0123abc", dirty=True)),
        ("# branch.oid (initial)\n# branch.head main\n", None),
        ("", None),
    ],
)
def test_git_tells_commit_and_changes_at_once(said: str, state: Git | None) -> None:
    """None before the first commit."""
    assert machine._read(said) == state


def test_a_folder_in_no_working_tree_has_none(tmp_path: Path) -> None:
    """As one that is not there."""
    assert machine.GitState(tmp_path).answer() is None
    assert machine.GitState(tmp_path / "absent").answer() is None
