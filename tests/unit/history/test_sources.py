"""Files that a script may read."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.history import sources
from tests.unit.history.repositories import committed, git

FILES = {
    "train.py": "import steps\nfrom models import mlp\nopen('rows.csv')",
    "steps.py": "import config",
    "config.py": "BATCH = 32",
    "models/__init__.py": "",
    "models/mlp.py": "",
    "rows.csv": "1",
    "README.md": "1",
    "tests/check_all.py": "import config",
    "sets/large.csv": "1",
}


def unnamed(folder: Path, *changed: str, arguments: tuple[str, ...] = ()) -> list[str] | None:
    """What is told where these files change."""
    made = committed(folder / "r", "x", file="x")
    for number in (1, 2):
        for name, text in FILES.items():
            path = made.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{text}\n# {number}" if number == 1 or name in changed else f"{text}\n# 1")
        git(made.root, "add", "-A")
        git(made.root, "commit", "-q", "--allow-empty", "-m", "more")
    first, second = (one.sha for one in made.commits("HEAD~1.."))
    return sources.unnamed(made, (first, second), "train.py", arguments)


@pytest.mark.parametrize("name", ["train.py", "steps.py", "config.py", "models/mlp.py", "rows.csv"])
def test_what_the_script_names_may_be_read(tmp_path: Path, name: str) -> None:
    """Itself, modules of modules, packages and data."""
    assert unnamed(tmp_path, "README.md", name) is None


def test_what_no_source_names_is_listed(tmp_path: Path) -> None:
    """A text about it, and tests, which import what it imports."""
    assert unnamed(tmp_path, "README.md", "tests/check_all.py") == ["README.md", "tests/check_all.py"]


def test_a_commit_without_a_change_has_none(tmp_path: Path) -> None:
    """An empty list is not: it may."""
    assert unnamed(tmp_path) == []


@pytest.mark.parametrize(("arguments", "told"), [(("--data", "sets"), None), ((), ["sets/large.csv"])])
def test_an_argument_names_files_too(tmp_path: Path, arguments: tuple[str, ...], told: list[str] | None) -> None:
    """Or their folder."""
    assert unnamed(tmp_path, "sets/large.csv", arguments=arguments) == told


def test_of_very_many_sources_it_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is read for it."""
    monkeypatch.setattr(sources, "_MOST", 2)

    assert unnamed(tmp_path, "README.md") is None
