"""Code of ours that a compiler of the program's is to leave alone."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from dlprof_probes.inproc import census, gc_probe, uncompiled
from dlprof_probes.inproc.engines import torch, torch_collectives
from dlprof_probes.inproc.pending_calls import PendingCall
from dlprof_probes.inproc.probe import Probe


def test_what_the_interpreter_calls_by_itself_is_among_it() -> None:
    """A trace function, a callback of the garbage collector, and a pending call, which is made in a function."""
    codes = uncompiled.codes()
    pending = next(c for c in PendingCall.__init__.__code__.co_consts if getattr(c, "co_name", "") == "call")

    assert census.Census.tell.__code__ in codes
    assert gc_probe.GcProbe._collected.__code__ in codes
    assert pending in codes


def test_dynamo_is_asked_to_pass_over_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever version; one that cannot be asked is left as it is."""
    asked: list[Any] = []
    dynamo = ModuleType("torch._dynamo.eval_frame")
    vars(dynamo)["skip_code"] = asked.append
    monkeypatch.setitem(sys.modules, "torch._dynamo.eval_frame", dynamo)

    torch._leave_out([1, 2])
    del vars(dynamo)["skip_code"]
    torch._leave_out([3])

    assert asked == [1, 2]


def test_code_of_other_functions_can_be_had_too() -> None:
    """Of one, with what is in it, and of a module."""
    names = {code.co_name for code in uncompiled.codes_in(Probe.guard)}
    assert names == {"guard", "guarded"}
    assert "_all_made" in {code.co_name for code in uncompiled.codes(torch_collectives)}
