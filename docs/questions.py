"""Questions of the table in `index.md`: who types one into the site's search finds the page that answers it first."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

_INDEX = Path(__file__).with_name("index.md")
_ROW = re.compile(r"^\| (?P<question>[^|]+\?) \|.*\| \[[^\]]*\]\((?P<page>[^)#]+)\.md(#[^)]*)?\) \|$", re.MULTILINE)


def of_index(text: str) -> dict[str, str]:
    """Names of pages by the questions that lead to them.

    Args:
        text: A page in Markdown with a table whose rows are a question, what to type, and a link to a page.
    """
    return {row["question"]: row["page"] for row in _ROW.finditer(text)}


@cache
def _of_site() -> dict[str, str]:
    return of_index(_INDEX.read_text(encoding="utf-8"))


def _mark(app: Any, doctree: Any) -> None:
    """Give a page the questions that it answers as entries of the index: the search ranks these above words."""
    from sphinx.addnodes import index  # noqa: PLC0415  (the tests' environment has no Sphinx)

    name = app.env.current_document.docname
    entries = [("single", question, "", "main", None) for question, page in _of_site().items() if page == name]
    if entries:
        doctree.insert(0, index(entries=entries))


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("doctree-read", _mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
