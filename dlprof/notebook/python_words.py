"""What an error tells a caller to try: in Python, where Python can do it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from dlprof import hints
from dlprof.errors import DlprofError

_CALLS = {
    "runs": lambda folder: f"dlprof.runs({repr(folder) if folder else ''})",
    "report": lambda run: f"dlprof.open({run!r})",
    "diagnose": lambda run: f"dlprof.open({run!r}).diagnose()",
}
_TABLES = "sql('SHOW TABLES') lists the tables, sql('DESCRIBE steps') the columns of one"
_FORCE, _PATH = re.compile(r"--force\b"), re.compile(r"(?<!\S)-o(?: (?:FILE|DIR))?(?![\w-])")
"""Flags of commands that write."""


@contextlib.contextmanager
def in_python(path: str = "path") -> Iterator[None]:
    """Errors of dlprof's that come of what is inside have hints for Python; as a decorator: of a function.

    Args:
        path: The argument that says where to write.
    """
    try:
        yield
    except DlprofError as error:
        if error.hint:
            error.advise(hint(error.hint, path))
        raise


def hint(text: str, path: str = "path") -> str:
    """What to try, as a call; of what only a command can do that it is for a shell."""
    if text.startswith("in a shell: "):  # said once is enough
        return text
    told = hints.retold(text, _CALLS, _TABLES)
    if told.startswith("in a shell: "):
        return told
    return _PATH.sub(f"{path}=", _FORCE.sub("force=True", told))
