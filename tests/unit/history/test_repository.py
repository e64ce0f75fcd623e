"""Commits of a repository, and their checkouts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.history import repository
from tests.unit.history.repositories import committed, git


def test_commits_are_the_first_and_those_that_lead_to_the_last(tmp_path: Path) -> None:
    """Oldest first; without the last one, to HEAD."""
    made = committed(tmp_path / "r", "1", "2", "3", "4")

    assert [one.subject for one in made.commits("HEAD~2..HEAD~1")] == ["change 2", "change 3"]
    assert [one.subject for one in made.commits("HEAD~1..")] == ["change 3", "change 4"]
    assert [one.subject for one in made.commits("HEAD..HEAD")] == ["change 4"]
    (first, _) = made.commits("HEAD~1..")
    assert (len(first.sha), len(first.short), first.date[4]) == (40, 12, "-")


def test_what_was_merged_is_one_commit(tmp_path: Path) -> None:
    """The merge itself: first parents."""
    made = committed(tmp_path / "r", "1", "2")
    git(made.root, "checkout", "-q", "-b", "side", "HEAD~1")
    git(made.root, "commit", "-q", "--allow-empty", "-m", "aside")
    git(made.root, "checkout", "-q", "main")
    git(made.root, "merge", "-q", "--no-ff", "-m", "merged", "side")

    assert [one.subject for one in made.commits("HEAD~2..")] == ["change 1", "change 2", "merged"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("HEAD", "--commits must be A..B, not HEAD"),
        ("..HEAD", "--commits must be A..B"),
        ("HEAD...HEAD", "--commits must be A..B"),
        ("nope..HEAD", "has no commit nope"),
        ("--output=x..HEAD", "has no commit --output=x"),
        ("HEAD..HEAD~1", "HEAD is no ancestor of HEAD~1"),
    ],
)
def test_a_range_that_is_none_is_refused(tmp_path: Path, asked: str, why: str) -> None:
    """Names that look like flags of git are no flags."""
    with pytest.raises(UsageError, match=why):
        committed(tmp_path / "r", "1", "2").commits(asked)


def test_a_commit_is_checked_out_beside_the_users_own_checkout(tmp_path: Path) -> None:
    """That one, its branch and its changes stay; hooks do not run; a checkout that was left behind is replaced."""
    made = committed(tmp_path / "r", "1", "2")
    hook = made.root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    (made.root / "train.py").write_text("changed")
    first = made.commits("HEAD~1..")[0]

    for _ in range(2):
        made.remove(tmp_path / "out")
        made.check_out(first, tmp_path / "out")

    assert (tmp_path / "out" / "train.py").read_text() == "1"
    assert (made.root / "train.py").read_text() == "changed"
    assert git(made.root, "branch", "--show-current") == "main\n"
    assert not (tmp_path / "hooked").exists()
    (tmp_path / "out" / "left").touch()
    made.remove(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert len(git(made.root, "worktree", "list").splitlines()) == 1


def test_variables_of_git_lead_to_no_other_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook of another repository may have started dlprof."""
    made = committed(tmp_path / "r", "1")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))

    assert repository.open_repository(made.root) == made


def test_a_folder_without_a_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And one that is not there; and a machine without git."""
    with pytest.raises(NoInputError, match="lies in no checkout"):
        repository.open_repository(tmp_path)
    with pytest.raises(NoInputError, match="There is no folder"):
        repository.open_repository(tmp_path / "none")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(UnavailableError, match="git is not installed"):
        repository.open_repository(tmp_path)


def test_what_git_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    """The last line of them."""
    made = committed(tmp_path / "r", "1")
    (tmp_path / "file").touch()

    with pytest.raises(UnavailableError, match="git worktree failed: "):
        made.check_out(made.commits("HEAD..")[0], tmp_path / "file")


def test_files_of_commits_and_their_differences_are_told(tmp_path: Path) -> None:
    """As paths from the root; a file that a commit has not is empty."""
    made = committed(tmp_path / "r", "1", "2")
    (made.root / "a dir").mkdir()
    (made.root / "a dir" / "ü.txt").write_text("3")
    git(made.root, "add", "-A")
    git(made.root, "commit", "-q", "-m", "more")
    first, second, third = (one.sha for one in made.commits("HEAD~2.."))

    assert made.changed(first, second) == ["train.py"]
    assert made.changed(second, third) == ["a dir/ü.txt"]
    assert made.files(third) == ["a dir/ü.txt", "train.py"]
    assert (made.text(first, "train.py"), made.text(first, "a dir/ü.txt")) == ("1", "")
