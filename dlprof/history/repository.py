"""The repository whose commits are measured: its commits, and a checkout of each. Its own checkout is left alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlprof.errors import NoInputError, UnavailableError, UsageError

_NO_HOOKS = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")
_FIELDS = "%H%x00%cI%x00%s"


@dataclass(frozen=True)
class Commit:
    """A commit.

    Attributes:
        sha: Its full name.
        date: When it was committed: ISO 8601, with the offset from UTC.
        subject: The first line of its message.
    """

    sha: str
    date: str
    subject: str

    @property
    def short(self) -> str:
        """Twelve letters of its name: a folder of the results, too."""
        return self.sha[:12]


@dataclass(frozen=True)
class Repository:
    """A repository of git.

    Attributes:
        root: The root of its checkout.
    """

    root: Path

    def commits(self, asked: str) -> list[Commit]:
        """The first commit, and those that lead from it to the second, by first parents, oldest first.

        Args:
            asked: `A..B`; without B, to HEAD.

        Raises:
            UsageError: These are no two commits of the repository, or the second does not come after the first.
        """
        first, dots, last = asked.partition("..")
        if not dots or not first or last.startswith("."):
            raise UsageError(f"--commits must be A..B, not {asked}.", hint="--commits v1.0..HEAD")
        old, new = self._name(first), self._name(last or "HEAD")
        if old != new and self._git("merge-base", "--is-ancestor", old, new).returncode:
            raise UsageError(f"{first} is no ancestor of {last or 'HEAD'}.", hint="the older one comes first")
        listed = self._out("log", "--first-parent", "--reverse", f"--format={_FIELDS}", f"{old}..{new}")
        return [*self._listed(self._out("log", "-1", f"--format={_FIELDS}", old)), *self._listed(listed)]

    def check_out(self, commit: Commit, folder: Path) -> None:
        """Make a worktree of a commit, without running the repository's hooks.

        Raises:
            UnavailableError: git refuses, in its own words.
        """
        self._out("worktree", "add", "--detach", "--force", str(folder), commit.sha)

    def remove(self, folder: Path) -> None:
        """Remove a worktree that `check_out` made, with all that runs left in it; none that is gone is missed."""
        self._git("worktree", "remove", "--force", "--force", str(folder))
        self._git("worktree", "prune")

    def changed(self, old: str, new: str) -> list[str]:
        """Files that differ between two commits, as paths from the root."""
        return self._listed_files("diff", "--name-only", "--no-renames", "-z", old, new)

    def files(self, sha: str) -> list[str]:
        """Files of a commit, as paths from the root."""
        return self._listed_files("ls-tree", "-r", "--name-only", "-z", sha)

    def text(self, sha: str, file: str) -> str:
        """A file as a commit has it; empty where it has none of that name."""
        return self._git("show", f"{sha}:{file}").stdout

    def _listed_files(self, *words: str) -> list[str]:
        return [name for name in self._out(*words).split("\0") if name]

    def _name(self, revision: str) -> str:
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if done.returncode:
            raise UsageError(f"{self.root} has no commit {revision}.", hint="git log --oneline")
        return done.stdout.strip()

    @staticmethod
    def _listed(text: str) -> list[Commit]:
        return [Commit(*line.split("\0", 2)) for line in text.splitlines() if line]

    def _out(self, *words: str) -> str:
        done = self._git(*words)
        if done.returncode:
            raise UnavailableError(
                f"git {words[0]} failed: {(done.stderr.strip() or 'without a word').splitlines()[-1]}."
            )
        return done.stdout

    def _git(self, *words: str) -> subprocess.CompletedProcess[str]:
        return _git(self.root, words)


def open_repository(path: Path) -> Repository:
    """The repository that a folder lies in.

    Raises:
        NoInputError: It lies in none.
        UnavailableError: There is no git.
    """
    if not path.is_dir():
        raise NoInputError(f"There is no folder {path}.")
    done = _git(path, ("rev-parse", "--show-toplevel"))
    if done.returncode:
        raise NoInputError(f"{path} lies in no checkout of a git repository.")
    return Repository(Path(done.stdout.rstrip("\n")).resolve())


def _git(folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(folder), *_NO_HOOKS, *words]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=_environment(), check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise UnavailableError("git is not installed.") from error


def _environment() -> Mapping[str, str]:
    """This process's, without what would lead git to another repository: a hook of git may have started dlprof."""
    own = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
    return {**{name: value for name, value in os.environ.items() if name not in own}, "LC_ALL": "C"}
