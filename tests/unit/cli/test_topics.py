"""Topics of `dlprof help`, and all that leads to them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from dlprof import cli
from dlprof.cli import finding_help, topics
from dlprof.cli.topics import TOPICS

ROOT = Path(__file__).parents[3]
SHIPPED = [path for path in sorted((ROOT / "dlprof").rglob("*")) if path.suffix in {".py", ".html", ".js", ".md"}]


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_has_its_text(name: str) -> None:
    """From a chapter, or from a section of one."""
    assert len(topics.text(name)) > 400


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_leads_nowhere_but_to_topics(name: str) -> None:
    """Files of the sources mean nothing to who installed a wheel."""
    text = topics.text(name)

    assert re.findall(r"\]\((?!https?://)[^)]*\)|[\w/-]+\.md\b(?!` of)", text) == []


def test_every_chapter_is_part_of_the_wheel() -> None:
    """And nothing else is, in its place."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    assert shipped == {f"docs/{topic.page}.md": f"dlprof/topics/{topic.page}.md" for topic in TOPICS.values()}


def test_what_help_and_errors_name_is_a_command_a_topic_or_a_finding() -> None:
    """And no file of the documentation, which a wheel does not have."""
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8", errors="replace") for path in SHIPPED}
    named = {(file, name) for file, text in texts.items() for name in re.findall(r"\bdlprof help ([\w-]+)", text)}
    known = {*TOPICS, *cli.COMMANDS, *finding_help.titles(), "COMMAND", "TOPIC", "FINDING", "--man"}

    assert {one for one in named if one[1] not in known} == set()
    assert {file for file, text in texts.items() if re.search(r"\bdocs/[\w/-]+\.(?:md|html)\b", text)} == set()
    assert len({name for _, name in named}) > 5


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("exam.md", "exam"),
        ("../kernels.md#windows", "kernels"),
        ("phases.md", "phases"),
        ("comparing.md#findings", "findings"),
        ("comparing.md", "comparing"),
        ("extending/rule.md", None),
        ("architecture.md", None),
    ],
)
def test_a_link_of_a_chapter_becomes_a_topic(target: str, name: str | None) -> None:
    """The very section where that is one."""
    assert topics.leads_to(target) == name
