"""Gets files of public repositories at a commit: out of clones on this machine, or from GitHub."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from pathlib import Path, PurePosixPath

from tests.public.case import Case, Edit, Source

_RAW = "https://raw.githubusercontent.com"
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


class SourceError(Exception):
    """A script cannot be had, or is not what the table was written for; the text says why."""


def place(case: Case, clones: Path | None, target: Path) -> Path:
    """Put the files of a case below `target`, as they lie in its repository, shortened.

    Args:
        case: The case.
        clones: Folder with clones of repositories, each in `owner+name/repo` or `owner/name`; None: ask GitHub.
        target: An empty folder.

    Returns:
        The script.

    Raises:
        SourceError: A file cannot be had, or an edit does not fit.
    """
    for path in (case.source.path, *case.source.also):
        text = _runnable(path, read(case.source, path, clones))
        edits = [edit for edit in case.edits if (edit.path or case.source.path) == path]
        file = target / _file_name(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shortened(text, edits), encoding="utf-8")
    return target / _file_name(case.source.path)


def shortened(text: str, edits: list[Edit]) -> str:
    """The text with all edits done.

    Raises:
        SourceError: What is to be replaced is not there as often as it must be.
    """
    for edit in edits:
        found = text.count(edit.old)
        if found != edit.times:
            raise SourceError(f"{edit.old!r} is there {found} times, not {edit.times}")
        text = text.replace(edit.old, edit.new)
    return text


def read(source: Source, path: str, clones: Path | None) -> str:
    """A file as it is in the repository.

    Raises:
        SourceError: It cannot be had.
    """
    clone = _clone(source.repository, clones)
    if clone is None:
        return _download(f"{_RAW}/{source.repository}/{source.commit}/{path}")
    command = ["git", "-C", str(clone), "show", f"{source.commit}:{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SourceError(f"{source.repository}: {done.stderr.strip()}")
    return done.stdout


def _clone(repository: str, clones: Path | None) -> Path | None:
    if clones is None:
        return None
    owner, _, name = repository.partition("/")
    known = (clones / f"{owner}+{name}" / "repo", clones / owner / name)
    return next((folder for folder in known if folder.is_dir()), None)


def _download(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:  # noqa: S310  (always https)
            return str(answer.read().decode("utf-8"))
    except OSError as error:
        raise SourceError(f"{address}: {error}") from error


def _runnable(path: str, text: str) -> str:
    return script_of(text) if path.endswith(".ipynb") else text


def script_of(notebook: str) -> str:
    """The cells of code of a notebook, without the lines that only a notebook understands."""
    cells = [cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"]
    return "\n\n".join(_MAGIC.sub("", "".join(cell["source"])) for cell in cells) + "\n"


def _file_name(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(".py")) if path.endswith(".ipynb") else path
