"""What hooks cost, as the process itself finds out."""

from __future__ import annotations

from dlprof_probes.inproc import tax
from dlprof_probes.inproc.probe import Probe

from tests.unit.inproc.conftest import Recorded


def test_finding_out_leaves_no_record(probe: Probe, out: Recorded) -> None:
    """Neither a span nor a step of it is in the stream."""
    tax.measure(probe)

    assert (out.spans(), list(out.stream().steps)) == ([], [])


def test_hooks_that_were_called_are_counted(probe: Probe) -> None:
    """Those of finding out are not among them."""
    before = tax.measure(probe)["calls"]
    probe.calls[0] = 0
    hook = probe.guard(lambda: None)
    hook()
    hook()

    assert (before > 0, tax.measure(probe)["calls"]) == (True, 2)


def test_each_part_has_a_price(probe: Probe) -> None:
    """In nanoseconds."""
    told = tax.measure(probe)

    assert sorted(told) == ["call_ns", "calls", "span_ns", "step_ns", "write_ns"]
    assert told["step_ns"] > 0 < told["span_ns"]
