"""Which files of a repository a script may read: those that it names, and those that these name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dlprof.history.repository import Repository

_MOST = 200
"""Sources that are read to find out; where there are more, it is not told."""


def unnamed(repository: Repository, shas: Sequence[str], script: str, arguments: Iterable[str]) -> list[str] | None:
    """What differs between two commits, if no source of the script names any of it; None: one may.

    A file is named where a word is its name or that of a folder that holds it: that is no proof that it is read, and
    names that are put together while the script runs are not seen.

    Args:
        repository: The repository.
        shas: The two commits.
        script: The script, from the root of the repository.
        arguments: What it is called with.
    """
    changed = repository.changed(*shas)
    if script in changed:
        return None
    for sha in shas:
        files = repository.files(sha)
        words = _words(repository, sha, script, files, " ".join(arguments))
        if words is None or any(_is_named(file, words) for file in changed):
            return None
    return changed


def _words(repository: Repository, sha: str, script: str, files: Sequence[str], arguments: str) -> set[str] | None:
    """All words of the sources that a script leads to; None: they are too many."""
    words = set(re.findall(r"\w+", arguments))
    left = {file for file in files if file.endswith(".py") and file != script}
    new = {script}
    count = 0
    while new:
        count += len(new)
        if count > _MOST:
            return None
        words.update(*(re.findall(r"\w+", repository.text(sha, file)) for file in new))
        new = {file for file in left if _is_named(file, words)}
        left -= new
    return words


def _is_named(file: str, words: set[str]) -> bool:
    """Whether its name without endings, or that of one of its folders, is among some words."""
    parts = (re.findall(r"\w+", part.lstrip(".").partition(".")[0]) for part in file.split("/"))
    return any(part and words.issuperset(part) for part in parts)
