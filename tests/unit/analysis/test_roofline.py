"""How near layers come to what a machine can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from dlprof.analysis import kernels, roofline
from dlprof.analysis.roofline import LayerRate, Roofline
from dlprof.schema.manifest import Ceilings
from dlprof.schema.vocabulary import Bound, Direction
from tests.unit.runs import MS, trained, window

FLOPS = 2 * 100 * 1000 * 1000
MOVED = 4 * (100 * 1000 + 1000 * 1000 + 100 * 1000)


def layer(**changes: Any) -> dict[str, Any]:
    """A row of `layers`: a product of 100 by 1,000 and 1,000 by 1,000."""
    known = {
        "model": 1, "layer": "dense", "class": "Dense", "inputs": ["100x1000"], "output": "100x1000", "dtype": "float32",
        "calls": 1, "trained": True, "first": True, "weight_names": ["kernel"], "weights": ["1000x1000"],
        "bytes_per_value": 4,
    }  # fmt: skip
    return {**known, **changes}


def of(path: Path, layers: list[dict[str, Any]], ops: list[dict[str, Any]], *, measured: bool = True) -> Roofline:
    """The layers of a run of ten steps with these kernels, on a machine of 100 GFLOP/s and 10 GB/s."""
    run = trained(path, layers=layers, **window(ops))
    ceilings = Ceilings(cpu="c", cores=2, flops_per_s={"float32": 1e11}, bytes_per_s=1e10) if measured else None
    run.manifest = structs.replace(run.manifest, machine=structs.replace(run.manifest.machine, ceilings=ceilings))
    return roofline.of_run(run)


def forward(found: Roofline) -> LayerRate:
    """The layer's forward pass."""
    return next(rate for rate in found.layers if rate.work.direction == Direction.FORWARD)


def op(ms: float, **changes: Any) -> dict[str, Any]:
    """Kernels of the layer's forward pass, of so many milliseconds a step."""
    return {"op": "MatMul", "category": "matmul", "layer": "dense", "direction": "forward", "ms": ms, **changes}


def test_a_product_is_held_by_computing(tmp_path: Path) -> None:
    """0.2 GFLOP in 4 ms are half of 100 GFLOP/s."""
    rate = forward(of(tmp_path / "r", [layer()], [op(4)]))

    assert (rate.work.flops, rate.work.bytes, rate.ns) == (FLOPS, MOVED, 4 * MS)
    assert rate.bound == Bound.COMPUTE
    assert rate.reached == pytest.approx(0.5)
    assert rate.flops_per_s == pytest.approx(5e10)


def test_of_a_product_that_is_faster_than_the_machine_nothing_is_said_to_bind_it(tmp_path: Path) -> None:
    """Twenty times the ceiling: most of its kernels ran under another's name."""
    rate = forward(of(tmp_path / "r", [layer()], [op(0.1)]))

    assert rate.bound is None
    assert rate.reached == pytest.approx(20)


def test_what_is_moved_faster_than_any_cache_could_is_held_by_nothing_that_is_known(tmp_path: Path) -> None:
    """800 kB in 10 us, eight times what memory does: its kernels ran under another's name."""
    relu = layer(**{"class": "ReLU", "weight_names": [], "weights": []})
    rate = forward(of(tmp_path / "r", [relu], [op(0.01, op="Relu", category="elementwise")]))

    assert rate.bound is None
    assert rate.reached == pytest.approx(8)


def test_time_of_no_layer_is_told(tmp_path: Path) -> None:
    """1 of 5 ms of a step."""
    found = of(tmp_path / "r", [layer()], [op(4), op(1, op="Copy", layer=None)])

    assert found.unnamed == pytest.approx(0.2)
    assert found.why_no_times is None


def test_where_no_kernels_were_traced_the_reason_is_told(tmp_path: Path) -> None:
    """A training of two steps has no window."""
    probes = [{"name": "kernels", "state": "unavailable", "reason": "too few steady steps for a window"}]
    found = roofline.of_run(trained(tmp_path / "r", layers=[layer()], probes=probes))

    assert (found.unnamed, found.why_no_times) == (None, "too few steady steps for a window")


def test_what_works_on_each_value_is_held_by_memory(tmp_path: Path) -> None:
    """800 kB in 0.8 ms: a tenth of 10 GB/s."""
    relu = layer(**{"class": "ReLU", "weight_names": [], "weights": []})
    rate = forward(of(tmp_path / "r", [relu], [op(0.8, op="Relu", category="elementwise")]))

    assert rate.bound == Bound.BANDWIDTH
    assert rate.reached == pytest.approx(0.1)


def test_small_kernels_that_take_far_too_long_are_held_by_what_surrounds_them(tmp_path: Path) -> None:
    """A product of 10 by 10 in 20 us."""
    tiny = layer(inputs=["10x10"], output="10x10", weights=["10x10"])
    rate = forward(of(tmp_path / "r", [tiny], [op(0.02)]))

    assert rate.bound == Bound.OVERHEAD


def test_large_kernels_that_come_near_no_ceiling_are_held_by_how_they_do_it(tmp_path: Path) -> None:
    """2 MFLOP in 1 ms are a fiftieth of 100 GFLOP/s: computing does not hold them."""
    small = layer(inputs=["100x100"], output="100x100", weights=["100x100"])
    rate = forward(of(tmp_path / "r", [small], [op(1)]))

    assert rate.bound == Bound.KERNEL
    assert rate.reached == pytest.approx(0.02)


def test_without_ceilings_there_are_rates_and_no_bound(tmp_path: Path) -> None:
    """Nobody has measured what this machine can do."""
    rate = forward(of(tmp_path / "r", [layer()], [op(4)], measured=False))

    assert rate.flops_per_s == pytest.approx(5e10)
    assert rate.bound is None
    assert rate.reached is None


def test_a_layer_whose_kernels_were_not_seen_has_work_and_no_time(tmp_path: Path) -> None:
    """They were fused into others, say."""
    rate = forward(of(tmp_path / "r", [layer()], [op(4, layer="other")]))

    assert (rate.work.flops, rate.ns, rate.bound, rate.flops_per_s) == (FLOPS, None, None, None)


def test_a_step_asks_for_all_that_its_layers_ask_for(tmp_path: Path) -> None:
    """A first layer: the product, and the gradient of its weights."""
    step = of(tmp_path / "r", [layer()], [op(4)]).step

    assert (step.flops, step.bytes) == (2 * FLOPS, 2 * MOVED)


def test_a_step_as_a_whole_has_the_rate_of_the_plain_steps(tmp_path: Path) -> None:
    """0.4 GFLOP in the 20 ms of a step without a tracer, a fifth of 100 GFLOP/s."""
    step = of(tmp_path / "r", [layer()], [op(4)]).step

    assert step.plain_ns == 20 * MS
    assert step.flops_per_s == pytest.approx(2e10)
    assert step.reached == pytest.approx(0.2)


def test_a_step_has_a_rate_also_where_no_kernel_was_traced(tmp_path: Path) -> None:
    """Its work is known by shapes, its time by the clock."""
    step = roofline.of_run(trained(tmp_path / "r", layers=[layer()])).step

    assert step.traced_ns is None
    assert step.flops_per_s == pytest.approx(2e10)


def test_a_step_under_the_tracer_is_no_plain_one(tmp_path: Path) -> None:
    """`--kernels all`: each of the steady steps of 20 ms is in the window."""
    tables = window([op(4)])
    (whole,) = tables["kernel_windows"]
    whole.update(start_ns=0, dur_ns=10**12)

    step = roofline.of_run(trained(tmp_path / "r", layers=[layer()], **tables)).step

    assert step.plain_ns is None


def test_what_asks_for_nothing_has_neither_a_rate_nor_a_bound(tmp_path: Path) -> None:
    """Another shape of the same values: a kernel under its name is not "0 % of the ceiling"."""
    view = layer(**{"class": "Flatten", "weight_names": [], "weights": [], "output": "100000"})
    rate = forward(of(tmp_path / "r", [view], [op(1, op="Reshape", category="data movement")]))

    assert (rate.ns, rate.flops_per_s, rate.bytes_per_s, rate.bound, rate.reached) == (MS, None, None, None, None)


def test_with_a_layer_that_is_not_known_the_sum_is_not_known(tmp_path: Path) -> None:
    """A length that varies."""
    found = of(tmp_path / "r", [layer(), layer(layer="lstm", inputs=["100x?x8"])], [op(4)])

    assert (found.step.flops, len(found.layers)) == (None, 2)


def test_without_layers_there_is_a_reason(tmp_path: Path) -> None:
    """No 0."""
    found = of(tmp_path / "r", [], [op(4)])

    assert (found.layers, found.step.flops) == ((), None)
    assert found.why_not == "no model told its layers; one of a class of the user's own has no graph of them"


def test_of_several_models_that_counts_whose_kernels_were_seen(tmp_path: Path) -> None:
    """A search makes many."""
    other = layer(model=0, layer="elsewhere")

    assert forward(of(tmp_path / "r", [other, layer()], [op(4)])).work.layer == "dense"


def test_the_work_of_a_layer_stands_in_the_row_of_its_product(tmp_path: Path) -> None:
    """Also where another operator took longer."""
    ops = [op(4), op(9, op="Copy", category="data movement")]
    run = trained(tmp_path / "r", layers=[layer()], **window(ops))
    rows = kernels.summarise(run, "layer").rows

    assert [rows[number].op for number in roofline.main_rows(roofline.of_run(run), rows)] == ["MatMul"]


def test_operators_in_one_another_are_counted_once(tmp_path: Path) -> None:
    """4 ms, of which 3 ms are in another operator of the layer: not 7 ms."""
    tables = window([op(4), op(3, op="Inner")])
    for event in tables["kernel_events"]:
        if event["op_id"] == 0:
            event["nested_ns"] = 3 * MS
        else:
            event["start_ns"] -= 3 * MS
    run = trained(tmp_path / "r", layers=[layer()], **tables)

    assert forward(roofline.of_run(run)).ns == 4 * MS


def test_a_layer_whose_products_were_not_seen_has_no_rate(tmp_path: Path) -> None:
    """MXNet shows the loop of an LSTM as one operator of no layer: sums of its gates alone would be 2 TFLOP/s."""
    loop = op(90, op="ImperativeBulk", category="other", layer=None, direction=None)
    rest = op(0.1, op="sum", category="reduction")

    rate = forward(of(tmp_path / "r", [layer()], [loop, rest]))

    assert (rate.work.flops, rate.ns, rate.bound, rate.reached) == (FLOPS, None, None, None)
    assert forward(of(tmp_path / "q", [layer()], [loop, op(4)])).ns == 4 * MS
