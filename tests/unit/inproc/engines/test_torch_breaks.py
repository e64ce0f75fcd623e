"""Breaks of torch's graphs become marks at their lines."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc.engines import torch_breaks
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


def reason(text: str, *lines: tuple[str, int]) -> Any:
    """As torch keeps one."""
    return SimpleNamespace(
        reason=text, user_stack=[SimpleNamespace(filename=file, lineno=line) for file, line in lines]
    )


@pytest.fixture
def dynamo(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A compiler that meets what it is given, listened to from its second compilation on."""
    utils: Any = ModuleType("torch._dynamo.utils")
    utils.graph_break_reasons = [reason("before")]
    monkeypatch.setitem(sys.modules, "torch._dynamo.utils", utils)
    module: Any = ModuleType("torch._dynamo.convert_frame")
    module._compile = utils.graph_break_reasons.extend
    module.reset = utils.graph_break_reasons.clear
    torch_breaks.watch(probe, module)
    return module


def breaks(out: Recorded) -> list[tuple[str, int]]:
    """Reason and line of each."""
    return [(one.name, one.line) for one in out.stream().spans.values() if one.kind == "graph_break"]


def test_each_break_is_told_once_at_the_users_line(dynamo: Any, out: Recorded) -> None:
    """With the first line of its reason; below it may be the engine's code."""
    dynamo._compile([reason("item\n  Explanation: no", (__file__, 7), ("engine.py", 1))])
    dynamo._compile([])
    dynamo._compile([reason("skipped", ("engine.py", 3)), reason("nowhere")])

    assert breaks(out) == [("item", 7), ("skipped", 3), ("nowhere", 0)]


def test_a_list_that_was_emptied_is_read_from_its_begin(dynamo: Any, out: Recorded) -> None:
    """As after `torch._dynamo.reset`."""
    dynamo._compile([reason("one"), reason("two")])
    dynamo.reset()
    dynamo._compile([reason("three")])

    assert [name for name, _ in breaks(out)] == ["one", "two", "three"]


def test_a_compilation_that_fails_tells_its_breaks_too(probe: Probe, out: Recorded, dynamo: Any) -> None:
    """The exception is the program's."""
    with pytest.raises(TypeError):
        dynamo._compile(1)
    dynamo._compile([reason("one")])

    assert [name for name, _ in breaks(out)] == ["one"]
    assert out.notes() == []
