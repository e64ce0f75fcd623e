"""Pages of the reference that are made from the code when the site is built, so that they say what the code says.

`PAGES` is all of them, in the order of the site's contents; each is a function that gives a page as Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from reference_pages import backends, commands, findings, formats, messages, settings, tables

PAGES: Mapping[str, Callable[[], str]] = {
    "commands": commands.page,
    "tables": tables.page,
    "findings": findings.page,
    "backends": backends.page,
    "probes": formats.probes,
    "readers": formats.readers,
    "measures": formats.measures,
    "schemas": formats.schemas,
    "settings": settings.page,
    "exit-codes": messages.exit_codes,
    "messages": messages.page,
}
"""Name of a page to what makes it."""


def write(folder: Path) -> None:
    """Write every page into a folder; one that has not changed keeps its time, so that it is not built again."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        path, text = folder / f"{name}.md", make()
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for path in folder.glob("*.md"):
        if path.stem not in PAGES:
            path.unlink()
