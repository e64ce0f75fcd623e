"""`dlprof schema`."""

from __future__ import annotations

import json

import pytest

from tests.unit.runs import dlprof


def test_all_schemas_are_listed_with_the_command_that_prints_such_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A line each."""
    assert dlprof("schema") == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split(maxsplit=1) == ["dlprof.backends/1", "dlprof backends list --json"]
    assert [line for line in lines if line.startswith("dlprof.report/1 ")] != []


@pytest.mark.parametrize("name", ["gate", "gate/1", "dlprof.gate/1"])
def test_a_schema_is_printed_as_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By any of its names."""
    assert dlprof("schema", name) == 0

    content = json.loads(capsys.readouterr().out)
    assert (content["title"], content["$id"]) == ("dlprof.gate/1", "urn:dlprof:gate:1")


def test_an_unknown_one_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """And with how to see all."""
    assert dlprof("schema", "gates") == 64

    assert "There is no schema gates; did you mean gate?" in capsys.readouterr().err
