"""The man page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dlprof import cli
from dlprof.cli import described, manual
from dlprof.errors import ExitCode
from tests.unit.runs import dlprof

ROOT = Path(__file__).parents[3]
PAGE = manual.page()


def test_help_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else."""
    assert dlprof("help", "--man") == 0

    assert capsys.readouterr().out == PAGE


def test_there_is_one_for_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that is named is refused."""
    assert dlprof("help", "trace", "--man") == 64

    assert "There is one man page, of all commands." in capsys.readouterr().err


def test_the_page_that_is_installed_is_that_of_this_code() -> None:
    """Make it again by: dlprof help --man > docs/dlprof.1."""
    assert (ROOT / "docs" / "dlprof.1").read_text(encoding="utf-8") == PAGE


def test_it_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines are as long as they are."""
    monkeypatch.setenv("COLUMNS", "40")

    assert manual.page() == PAGE


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_is_in_it_with_all_its_flags(name: str) -> None:
    """As they are typed; hyphens are those of commands."""
    section = PAGE.split(f'.SS "dlprof {name}"\n')[1].split("\n.SS ")[0].split("\n.SH ")[0]
    parser = cli.make_parser(name).subcommands()[name]
    flags = [flag for action in described.arguments(parser) for flag in action.option_strings]

    assert [flag for flag in flags if flag.replace("-", r"\-") not in section] == []


def test_every_exit_code_is_in_it() -> None:
    """But the one for all is well."""
    told = {int(code) for code in re.findall(r"^\.TP\n(\d+)$", PAGE, re.MULTILINE)}

    assert told == {int(code) for code in ExitCode} - {0}


def test_no_line_is_taken_for_a_request() -> None:
    """Requests are those that this page uses."""
    requests = set(re.findall(r"^[.']\S*", PAGE, re.MULTILINE))

    assert requests == {".TH", ".SH", ".SS", ".PP", ".TP", ".nf", ".fi", ".br", ".sp"}


def test_what_is_to_be_typed_can_be_copied() -> None:
    """Quotes and tildes stay those of a shell."""
    assert r"jq \(aq.verdict, .findings\(aq" in PAGE
    assert r"last\(ti1" in PAGE
    assert re.findall(r"(?<!\\\()[`~^]", PAGE) == []


def test_groff_finds_no_fault_in_it() -> None:
    """And shows the commands."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")

    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z"], input=PAGE, capture_output=True, text=True, check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip

    assert done.stderr == ""
