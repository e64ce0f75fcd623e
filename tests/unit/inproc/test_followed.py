"""The probe in a Python below a followed program: its folder, and what it says of itself."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from dlprof_probes.inproc import followed


@pytest.fixture
def settings(tmp_path: Path) -> SimpleNamespace:
    """Room for three."""
    for name in ("children", "taken"):
        (tmp_path / name).mkdir()
    return SimpleNamespace(CHILDREN=str(tmp_path / "children"), TAKEN=str(tmp_path / "taken"), MOST=3)


def test_each_takes_the_next_folder_until_there_are_enough(
    settings: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that another process has taken meanwhile is passed over."""
    monkeypatch.setattr(followed, "_label", lambda: "train")
    (Path(settings.TAKEN) / "002").touch()
    taken = [followed._take(settings) for _ in range(3)]
    assert [Path(one).name if one else None for one in taken] == ["003-train", None, None]


@pytest.mark.parametrize(
    ("command", "argv", "expected"),
    [
        (["python", "train.py"], ["train.py"], "train"),
        (["python", "-m", "package.train", "x"], ["/lib/package/train.py", "x"], "package.train"),
        (["python", "-c", "..."], ["-c"], "c"),
        (["python"], [""], "python"),
        (["python", "a b/../x\n$(y).py"], ["a b/../x\n$(y).py"], "x-y"),
        (["python", "t" * 99 + ".py"], ["t" * 99 + ".py"], "t" * 40),
    ],
)
def test_a_folder_is_named_after_the_program(
    command: list[str], argv: list[str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In letters that every file system takes."""
    monkeypatch.setattr(sys, "orig_argv", command)
    monkeypatch.setattr(sys, "argv", argv)
    assert followed._label() == expected


def test_ranks_are_told_as_far_as_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """They say which processes train together."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert followed._facts()["ranks"] == {"RANK": "1", "WORLD_SIZE": "2"}
