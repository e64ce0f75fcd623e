"""What a command is."""

from __future__ import annotations

import argparse
import inspect
import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from dlprof import cli
from dlprof.cli.command import arguments, load

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "dlprof"
NOT_OF_A_PARSER = {"script_arguments"}
"""Fields that are filled from what stands after `--`."""


def parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser, and those of its subcommands."""
    subs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [parser, *(sub for action in subs for sub in action.choices.values())]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_keeps_the_protocol(name: str) -> None:
    """Examples, arguments, and two functions."""
    command = load(name)

    assert command.EXAMPLES.strip()
    assert list(inspect.signature(command.configure).parameters) == ["parser"]
    assert list(inspect.signature(command.run).parameters) == ["args"]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_arguments_are_what_the_parser_knows(name: str) -> None:
    """A field for each flag, and none for nothing."""
    command = load(name)
    parser = argparse.ArgumentParser()
    command.configure(parser)

    known = {action.dest for one in parsers(parser) for action in one._actions} - {"help"}

    assert {field.name for field in fields(command.Arguments)} - NOT_OF_A_PARSER == known


def test_every_module_of_the_command_line_is_a_command() -> None:
    """But those that all of them share."""
    modules = {path.stem for path in (PACKAGE / "cli").glob("*.py")} - {
        "__init__",
        "agreeing",
        "command",
        "described",
        "finding_help",
        "manual",
        "json_types",
        "meant",
        "parser",
        "rule_texts",
        "shares",
        "shells",
        "topics",
    }

    assert {name.rstrip("_") for name in modules} == set(cli.COMMANDS)


def test_what_a_subcommand_does_not_have_keeps_its_default() -> None:
    """And what the command does not know is left out."""

    @dataclass(frozen=True)
    class Arguments:
        name: str
        count: int = 3

    assert arguments(Arguments, argparse.Namespace(name="x", more=True)) == Arguments("x", 3)


def named(pattern: str, kind: str) -> set[tuple[str, str]]:
    """Documents that files of a kind name: (file, document)."""
    return {
        (str(path.relative_to(ROOT)), name)
        for path in PACKAGE.rglob(kind)
        for name in re.findall(pattern, path.read_text(encoding="utf-8"))
    }


def test_documents_that_are_named_are_there() -> None:
    """In help, messages and docstrings."""
    found = named(r"\b(?:docs|scenarios)/[\w/.-]+\.(?:md|toml)\b", "*.py")

    assert found
    assert [one for one in sorted(found) if not (ROOT / one[1]).is_file()] == []


def test_documents_that_a_page_names_are_there() -> None:
    """A reader follows them."""
    found = named(r"\bdocs/[\w/.-]+\.md\b", "*.html")

    assert [one for one in sorted(found) if not (ROOT / one[1]).is_file()] == []
