"""`dlprof mcp`."""

from __future__ import annotations

import sys

import pytest

from tests.unit.runs import dlprof


def test_without_the_sdk_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence."""
    monkeypatch.setitem(sys.modules, "mcp", None)

    assert dlprof("mcp") == 69

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "dlprof: error: dlprof mcp needs the SDK of the Model Context Protocol.\n  try: pip install 'dlprof[mcp]'\n"
    )
