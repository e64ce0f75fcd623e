"""The figures of the overhead ledger."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dlprof.analysis import overhead
from dlprof.analysis.overhead import Cost
from dlprof.schema.manifest import Probe, Thinned
from dlprof.schema.tables import TABLES

PROCESS = {"host": "h", "rank": 0, "pid": 1}


def window(number: int, loop: str | None, start_ns: int, dur_ns: int, steps: int) -> dict[str, Any]:
    """A row of `kernel_windows`."""
    return {**PROCESS, "window": number, "engine": "torch", "source": "x.json", "loop": loop, "start_ns": start_ns,
            "dur_ns": dur_ns, "first_step": 0, "steps": steps, "start_cost_ns": None, "stop_cost_ns": None,
            "dropped": 0}  # fmt: skip


def step(start_ns: int, dur_ns: int) -> dict[str, Any]:
    """A training step that waited for nothing."""
    return {**PROCESS, "loop": "train", "loop_id": 1, "epoch": 0, "step": 0, "count": 1, "start_ns": start_ns,
            "dur_ns": dur_ns, "input_ns": 0, "callbacks_ns": 0, "compiled": False}  # fmt: skip


def tables(windows: list[dict[str, Any]], steps: list[dict[str, Any]]) -> dict[str, pa.Table]:
    """A run of these windows and steps."""
    known = {field.name for field in TABLES["steps"]}
    rows = [{name: value for name, value in row.items() if name in known} for row in steps]
    return {
        "kernel_windows": pa.Table.from_pylist(windows, schema=TABLES["kernel_windows"]),
        "steps": pa.Table.from_pylist(rows, schema=TABLES["steps"]),
    }


def test_the_in_process_probe_costs_its_own_work_and_each_step() -> None:
    """7 ms, and 1000 steps at 1.6 µs where the process could not find out."""
    assert overhead.of_phases(7_000_000, 0, 1_000, 20, None) == Cost(
        8_600_000, "7 ms measured at start and end, 1000 steps at 1.6 µs (as on another machine)"
    )


def test_hooks_cost_what_they_cost_in_the_process() -> None:
    """7 ms, 3 ms of counting, 1000 steps at 2 µs, 10 spans at 50 µs, 5000 hooks at 0.1 µs, and 0.5 ms of writing."""
    prices = overhead.Prices(step_ns=2_000, span_ns=50_000, call_ns=100, calls=5_000, write_ns=500_000)

    cost = overhead.of_phases(7_000_000, 3_000_000, 1_000, 10, prices)

    assert cost.ns == 13_500_000
    assert cost.source == (
        "7 ms measured at start and end, 3 ms measured counting objects; 1000 steps at 2.0 µs, 10 spans at 50.0 µs, "
        "5000 hooks at 0.10 µs, each timed in the process at its end; writing, and counting Python's blocks, 0.5 ms"
    )


def cores(*busy: float, first: float = 100.0) -> pa.Table:
    """Samples of two cores, 100 ms each: the first core's use, and the other's as given."""
    rows = [
        {**PROCESS, "time_ns": number * 100, "interval_ns": 100, "core": core, "busy_pct": pct if core else first}
        for number, pct in enumerate(busy)
        for core in (0, 1)
    ]
    known = {field.name for field in TABLES["cores"]}
    rows = [{name: value for name, value in row.items() if name in known} for row in rows]
    return pa.Table.from_pylist(rows, schema=TABLES["cores"])


def test_a_core_that_is_free_takes_what_runs_beside_the_process() -> None:
    """One was at work all the time, the other 57.5 % of it."""
    assert overhead.busy_share(cores(100.0, 80.0, 0.0, 50.0)) == pytest.approx(0.575)


def test_cores_that_are_half_busy_are_busy_together_now_and_then() -> None:
    """Independent cores would be: a quarter of the time."""
    assert overhead.busy_share(cores(50.0, first=50.0)) == 0.25


def test_what_probes_take_themselves_keeps_no_core_from_the_run() -> None:
    """10 % of the second core is theirs: nobody else was there."""
    assert overhead.busy_share(cores(10.0, 10.0), own_ns=20) == 0.0


def test_without_samples_nobody_knows_how_busy_cores_were() -> None:
    """So what helpers took from the run is not known."""
    probe = Probe(name="stacks", cost_ns=100, cost_source="measured")

    assert overhead.busy_share(None) is None
    assert overhead.taxed(probe, None) == probe


def test_helpers_take_time_from_the_run_only_while_all_cores_are_busy() -> None:
    """A quarter of the run: a quarter of their CPU time."""
    told = overhead.taxed(Probe(name="stacks", cost_ns=100, cost_source="measured"), 0.25)

    assert told.tax_ns == 25
    assert told.cost_source == "measured; the run waited for 25.0 % of it, by how busy all cores were at a time"


def test_what_is_done_in_the_process_the_run_waits_for() -> None:
    """All of it, unless the probe says itself what it took."""
    assert overhead.taxed(Probe(name="phases", cost_ns=100), 0.0).tax_ns == 100
    assert overhead.taxed(Probe(name="lines", cost_ns=100, tax_ns=300), 0.0).tax_ns == 300


@pytest.mark.parametrize("cpu_ns", [None, 12])
def test_the_sampler_costs_its_cpu_time(cpu_ns: int | None) -> None:
    """That of the GPUs is in it; one that was killed did not say."""
    assert overhead.of_cores(cpu_ns, None) == Cost(cpu_ns, "measured: CPU time of the sampler (cores and GPU together)")
    assert overhead.of_gpu() == Cost(None, "in the sampler's, see cores")


def test_what_memory_has_of_the_sampler_is_said() -> None:
    """Half of a second, 45 ms of it for memory and descriptors."""
    assert overhead.of_cores(500_000_000, 45_000_000) == Cost(
        500_000_000,
        "measured: CPU time of the sampler (cores and GPU together, 45 ms of it for memory and open descriptors)",
    )


def test_a_window_costs_what_its_steps_took_longer_than_plain_ones() -> None:
    """Two steps of 30 us, plain ones take 10 us: 40 us, beside 7 us for switching."""
    run = tables([window(0, "train", 0, 70_000, 2)], [step(0, 30_000), step(35_000, 30_000), step(80_000, 10_000)])

    assert overhead.of_kernels(run, 7_000, asynchronous=False) == Cost(
        47_000, "measured: switching on and off; 2 traced train steps at 3.00 x a plain one"
    )


def test_a_window_whose_steps_were_the_faster_ones_costs_nothing_more() -> None:
    """Never less than nothing."""
    run = tables([window(0, "train", 0, 10_000, 1)], [step(0, 8_000), step(80_000, 10_000)])

    assert overhead.of_kernels(run, None, asynchronous=False) == Cost(
        0, "measured: switching on and off; 1 traced train steps at 0.80 x a plain one"
    )


def test_windows_without_plain_steps_cannot_be_compared() -> None:
    """What is known of switching stays."""
    run = tables([window(0, "train", 0, 10_000, 1)], [step(0, 8_000)])

    assert overhead.of_kernels(run, 5, asynchronous=False) == Cost(
        5, "measured: switching on and off; 1 traced train steps, with no plain ones to compare"
    )


def test_a_trace_of_the_whole_run_has_no_steps_of_its_own() -> None:
    """A tool around the process: nothing is said of its cost here."""
    run = tables([window(0, None, 0, 10_000, 1)], [step(0, 8_000)])

    assert overhead.of_kernels(run, 5, asynchronous=False) is None


def test_what_was_thinned_is_kept_by_the_table() -> None:
    """In columns of its own."""
    told = Thinned(what="steps", before=10.0, to=3.0, why="they cost 4 %")

    assert overhead.thinned_of(overhead.as_row(Probe(name="kernels", thinned=told))) == told


def test_a_probe_that_measured_all_was_not_thinned() -> None:
    """Nor was one of an older run, whose table knows nothing of it."""
    assert overhead.thinned_of(overhead.as_row(Probe(name="kernels"))) is None
    assert overhead.thinned_of({"name": "kernels"}) is None
