"""References of the documentation: each leads to a file that is there, and to a heading of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from dlprof import cli
from dlprof.cli import finding_help
from dlprof.cli.topics import TOPICS

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "scenarios").rglob("*.md")),
]
MADE = ROOT / "docs" / "reference"
"""Pages that are made from the code when the site is built."""
_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]+)\)")


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return _CODE.sub("", path.read_text(encoding="utf-8"))


@cache
def anchors(path: Path) -> set[str]:
    """What `#` can lead to on a page, as GitHub and MyST name headings."""
    headings = re.findall(r"^#{1,6} (.*)$", prose(path), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings]
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading).strip()) for heading in plain}


def leads(page: Path, target: str) -> bool:
    """Whether a link of a page leads somewhere."""
    file, _, anchor = target.partition("#")
    path = (page.parent / file).resolve() if file else page
    if MADE in path.parents and not path.exists():
        return True
    return path.exists() and (not anchor or path.suffix != ".md" or anchor in anchors(path))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    """Files, pictures, headings."""
    assert [target for target in _LINK.findall(prose(page)) if not leads(page, target)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_topic_and_finding_that_is_named_is_there(page: Path) -> None:
    """In running text and in blocks."""
    text = page.read_text(encoding="utf-8")

    known = {*TOPICS, *cli.COMMANDS, *finding_help.titles()}
    topics = set(re.findall(r"\bdlprof help ([a-z][a-z-]*)", text)) - known
    commands = set(re.findall(r"`dlprof ([a-z]+)\b", text)) - {*cli.COMMANDS}
    for block in _CODE.finditer(text):
        commands |= set(re.findall(r"^(?:\.venv/bin/)?dlprof ([a-z]+)\b", block[0], re.MULTILINE)) - {*cli.COMMANDS}

    assert (topics, commands) == (set(), set())
