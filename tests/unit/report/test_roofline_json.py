"""Work of layers as JSON."""

from __future__ import annotations

from dlprof.analysis.layer_work import LayerWork
from dlprof.analysis.roofline import LayerRate, Roofline, StepRate
from dlprof.report import json_text, roofline_json
from dlprof.schema.manifest import Ceilings
from dlprof.schema.vocabulary import Bound, Direction, MemoryBasis


def test_a_layer_has_its_work_and_its_rates() -> None:
    """In FLOP, bytes and ns."""
    work = LayerWork("dense", "Dense", Direction.FORWARD, 2e8, 4e6, MemoryBasis.EXACT, None)
    ceilings = Ceilings(cpu="c", cores=2, flops_per_s={"float32": 1e11}, bytes_per_s=1e10)
    found = Roofline((LayerRate(work, 4e6, Bound.COMPUTE, 0.5),), StepRate(2e8, 4e6, 1e7, 5e6, 1e11), 10, ceilings)

    assert json_text.plain(roofline_json.as_json(found)) == {
        "schema": "dlprof.roofline/1",
        "step_flops": 2e8,
        "step_bytes": 4e6,
        "step_ns": 1e7,
        "plain_step_ns": 5e6,
        "step_flops_per_s": 4e10,
        "step_reached": 0.4,
        "ceilings": {"cpu": "c", "cores": 2, "flops_per_s": {"float32": 1e11}, "bytes_per_s": 1e10},
        "why_not": None, "why_no_times": None, "unnamed": None,
        "layers": [
            {
                "layer": "dense", "kind": "Dense", "direction": "forward", "flops": 2e8, "bytes": 4e6, "how": "exact",
                "why_not": None, "ns": 4e6, "flops_per_s": 5e10, "bytes_per_s": 1e9, "bound": "compute", "reached": 0.5,
            }
        ],
    }  # fmt: skip


def test_without_ceilings_there_are_none() -> None:
    """Null, not 0."""
    assert roofline_json.as_json(Roofline((), StepRate(), 0, None, "no model")).ceilings is None
