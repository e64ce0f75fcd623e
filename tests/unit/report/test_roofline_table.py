"""Work of layers on a terminal."""

from __future__ import annotations

import io

from dlprof.analysis.layer_work import LayerWork
from dlprof.analysis.roofline import LayerRate, Roofline, StepRate
from dlprof.report import roofline_table
from dlprof.schema.manifest import Ceilings
from dlprof.schema.vocabulary import Bound, Direction, MemoryBasis

CEILINGS = Ceilings(cpu="c", cores=2, flops_per_s={"float32": 1e11}, bytes_per_s=1e10)


def rate(
    flops: float | None, ns: float | None, reached: float | None, how: MemoryBasis = MemoryBasis.EXACT
) -> LayerRate:
    """A layer."""
    work = LayerWork("dense", "Dense", Direction.FORWARD, flops, 4e6, how, None)
    return LayerRate(work, ns, Bound.COMPUTE if reached is not None else None, reached)


def step(traced_ns: float | None, plain_ns: float | None) -> StepRate:
    """A step of 0.2 GFLOP and 4 MB, on a machine of 100 GFLOP/s."""
    return StepRate(2e8, 4e6, traced_ns, plain_ns, 1e11)


def printed(*layers: LayerRate, ceilings: Ceilings | None = CEILINGS, why_not: str | None = None) -> list[str]:
    """The lines."""
    out = io.StringIO()
    known = Roofline(layers, step(1e7, None), 10, ceilings, why_not)
    roofline_table.print_table(known, top=1, file=out, plain=True)
    return out.getvalue().splitlines()


def test_a_layer_has_its_work_rates_and_bound() -> None:
    """With units."""
    assert printed(rate(2e8, 4e6, 0.5))[1].split() == [
        "dense", "Dense", "forward", "200", "MFLOP", "4", "MB", "4.00", "ms", "50", "GFLOP/s", "1.00", "GB/s", "50.0",
        "compute",
    ]  # fmt: skip


def test_what_is_not_known_is_a_dash() -> None:
    """Never 0."""
    assert printed(rate(None, None, None))[1].split() == ["dense", "Dense", "forward", "-", "4", "MB", *"-----"]


def test_an_estimate_is_marked() -> None:
    """By the number of values."""
    assert "~200 MFLOP" in printed(rate(2e8, 4e6, 0.5, MemoryBasis.ESTIMATE))[1]


def test_why_no_layer_has_a_time_is_told_below() -> None:
    """And what share of the kernels is of none."""
    known = Roofline((rate(2e8, None, None),), step(None, None), 0, CEILINGS, None, "too few steady steps for a window")
    hidden = Roofline((rate(2e8, None, None),), step(None, None), 10, CEILINGS, None, None, 0.87)

    assert "No layer has a time, because too few steady steps for a window." in roofline_table.foot(known)
    assert roofline_table.foot(hidden)[2].startswith("87 % of the traced kernels' time is of no layer")


def test_what_is_left_out_is_counted() -> None:
    """The one with most time is shown."""
    lines = printed(rate(2e8, 4e6, 0.5), rate(2e8, 5e6, 0.4))

    assert ("5.00 ms" in lines[1], lines[2]) == (True, "... 1 more rows; --top 0 for all")


def test_the_step_and_the_ceilings_are_told() -> None:
    """0.2 GFLOP in 10 ms."""
    assert printed(rate(2e8, 4e6, 0.5))[2:4] == [
        "A training step asks for 200 MFLOP, 20 GFLOP/s over a traced step of 10.0 ms, 20.0 % of the ceiling.",
        "Ceilings, measured: 100 GFLOP/s float32, 10.00 GB/s on 2 cores.",
    ]


def test_a_step_as_a_whole_is_judged_without_its_tracer_where_that_is_known() -> None:
    """5 ms instead of 10."""
    known = Roofline((rate(2e8, 4e6, 0.5),), step(1e7, 5e6), 10, CEILINGS)

    assert roofline_table.foot(known)[0] == (
        "A training step asks for 200 MFLOP, 40 GFLOP/s over a plain step of 5.00 ms, 40.0 % of the ceiling."
    )


def test_of_a_step_whose_time_is_not_known_only_the_work_is_told() -> None:
    """No rate, no share."""
    known = Roofline((rate(2e8, None, None),), step(None, None), 0, CEILINGS)

    assert roofline_table.foot(known)[0] == "A training step asks for 200 MFLOP."


def test_more_than_can_be_is_a_ceiling_of_a_busy_machine() -> None:
    """It says how to measure it again."""
    assert any(line.startswith("More than 100 %") for line in printed(rate(2e8, 1e6, 2.0)))


def test_without_ceilings_it_says_how_to_have_them() -> None:
    """Two seconds."""
    assert any("dlprof doctor --measure" in line for line in printed(rate(2e8, 4e6, None), ceilings=None))


def test_without_layers_there_is_the_reason() -> None:
    """And no table."""
    assert printed(why_not="no model told its layers") == ["The work of layers is not known: no model told its layers"]
