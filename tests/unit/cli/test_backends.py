"""`dlprof backends`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from dlprof.launch import environments
from dlprof.launch.environments import Environment
from tests.unit.runs import dlprof


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Two backends: `small` of 3 MB, installed, and `other`, which lives in its environment; and one of an old lock."""
    specs = {
        "small": BackendSpec("small", "Small", tmp_path / "small.txt", ">=3.11", "none"),
        "other": BackendSpec("other", "Other", tmp_path / "small.txt", ">=3.11", "none", environment_of="small"),
    }
    path = tmp_path / "small"
    path.mkdir()
    (path / "file").write_bytes(b"x" * 3_000_000)
    made = Environment("small", path, "ab", "installed", "3.11")
    listed = [
        made,
        Environment("other", path, "ab", "installed", "3.11"),
        Environment("old", tmp_path / "old", "", "stale", None),
    ]
    monkeypatch.setattr(registry, "all_specs", lambda: specs)
    monkeypatch.setattr(environments, "known", lambda: listed)
    monkeypatch.setattr(environments, "path_of", lambda _name: made)
    return made


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints."""
    assert dlprof("backends", *words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["list"]])
def test_backends_are_listed_a_line_each(
    small: Environment, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With size and path, or with the environment that they live in."""
    assert printed(capsys, *words).splitlines() == [
        f"small installed     Small 3.11       3 MB  {small.path}",
        "other installed     Other 3.11             in the environment of small",
        "old   stale",
    ]


def test_json_has_the_fields_of_the_contract(small: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    """`dlprof.backends/1`; null is not known."""
    content = json.loads(printed(capsys, "list", "--json"))

    assert content["schema"] == "dlprof.backends/1"
    assert content["backends"][0] == {
        "name": "small",
        "title": "Small",
        "state": "installed",
        "environment_of": None,
        "python": "3.11",
        "size_bytes": 3_000_000,
        "path": str(small.path),
    }
    assert content["backends"][1]["environment_of"] == "small"
    assert (content["backends"][2]["path"], content["backends"][2]["size_bytes"]) == (None, None)


def test_the_path_of_an_environment_is_printed_alone(small: Environment, capsys: pytest.CaptureFixture[str]) -> None:
    """For scripts."""
    assert printed(capsys, "path", "small") == f"{small.path}\n"
    assert json.loads(printed(capsys, "path", "small", "--json"))["backends"][0]["path"] == str(small.path)


def test_install_makes_environments_and_prints_where(
    small: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What happens meanwhile is said on standard error."""

    def ensure(spec: BackendSpec, *, report: Any, show_progress: bool, repair: bool) -> Environment:
        assert (show_progress, repair) == (False, True)
        report(f"making {spec.name}")
        return small

    monkeypatch.setattr(environments, "ensure", ensure)

    assert dlprof("backends", "install", "small", "other") == 0

    assert tuple(capsys.readouterr()) == (f"{small.path}\n" * 2, "dlprof: making small\ndlprof: making other\n")
    assert len(json.loads(printed(capsys, "install", "small", "--json"))["backends"]) == 1


def test_install_of_what_there_is_not_is_a_wrong_command_line(small: Environment) -> None:
    """Nothing is made."""
    assert dlprof("backends", "install", "nothing") == 64


def test_remove_says_what_is_gone(
    small: Environment, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or that there was nothing."""
    monkeypatch.setattr(environments, "remove", lambda name: [small.path] if name == "small" else [])

    assert printed(capsys, "remove", "small", "other") == f"removed {small.path}\nother is not installed\n"
    assert json.loads(printed(capsys, "remove", "small", "other", "--json")) == {
        "schema": "dlprof.backends/1",
        "removed": {"small": [str(small.path)], "other": []},
    }
