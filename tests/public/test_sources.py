"""Scripts are shortened as their table says, or not at all."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.public import sources
from tests.public.case import Case, Edit, Source


def test_an_edit_replaces_what_is_there_as_often_as_it_says() -> None:
    """All of it."""
    assert sources.shortened("epochs = 9; epochs = 9", [Edit("= 9", "= 2", 2)]) == "epochs = 2; epochs = 2"


@pytest.mark.parametrize("text", ["epochs = 8", "epochs = 9, 9"])
def test_a_script_that_is_another_one_than_the_table_knows_is_refused(text: str) -> None:
    """It would run as long as it likes."""
    with pytest.raises(sources.SourceError, match="not 1"):
        sources.shortened(text, [Edit("9", "2")])


def test_the_code_of_a_notebook_is_a_script() -> None:
    """Without its texts, and the lines that only a notebook understands."""
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install x\n", "a = 7 % 4\n"]},
        {"cell_type": "code", "source": ["print(a)"]},
    ]
    assert sources.script_of(json.dumps({"cells": cells})).split() == ["a", "=", "7", "%", "4", "print(a)"]


def test_files_are_taken_from_a_clone_at_the_commit(tmp_path: Path) -> None:
    """Not as they are in its work tree."""
    clone = tmp_path / "clones" / "owner" / "name"
    clone.mkdir(parents=True)
    git = ["git", "-C", str(clone), "-c", "user.name=a", "-c", "user.email=a@b"]
    (clone / "train.py").write_text("epochs = 9\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    (clone / "train.py").write_text("changed\n")
    source = Source("owner/name", commit, "train.py")
    case = Case("one", "any", "any", source, (), "", edits=(Edit("9", "2"),))

    script = sources.place(case, tmp_path / "clones", tmp_path / "place")

    assert script.read_text() == "epochs = 2\n"
