"""Steps of equal work: the one in the middle counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dlprof.analysis import equal_steps, layer_times, step_split
from dlprof.analysis.kernel_window import main_window
from dlprof.schema.vocabulary import StepPart
from dlprof.store.run import Run
from tests.unit.analysis.rows import event, in_memory, op, step, window
from tests.unit.runs import table


def traced(
    products: Sequence[int], pauses: Sequence[int] = (), updates: Sequence[int] = (), longer_sums: Sequence[int] = ()
) -> Run:
    """Steps in a window that each run a product, a sum of 20, maybe an update of 50, and 30 of the host, and a pause.

    Args:
        products: How long the product of each step takes.
        pauses: For how long the host pauses in each; none if empty.
        updates: Steps with an update.
        longer_sums: Steps whose sum takes 40.
    """
    steps, events, at = [], [], 1000
    for n, product in enumerate(products):
        added = 40 if n in longer_sums else 20
        events += [event(0, at, product), event(1, at + product, added)]
        work = product + added
        if n in updates:
            events.append(event(2, at + work, 50))
            work += 50
        whole = work + 30 + (pauses[n] if pauses else 0)
        steps.append(step(n, at, whole, input_ns=0, call_offset_ns=None, call_ns=None))
        at += whole
    plain: list[dict[str, Any]] = [step(100, 100, 150, input_ns=0)]
    return in_memory(
        steps=table("steps", [*plain, *steps]),
        kernel_windows=table("kernel_windows", [window(1000, at, len(products))]),
        kernel_ops=table("kernel_ops", [op(0, "operator", "mm"), op(1, "operator", "sum"), op(2, "operator", "add_")]),
        kernel_events=table("kernel_events", events),
    )


def test_a_product_that_lost_its_core_once_is_not_laid_over_all_steps() -> None:
    """Products of 100, 2700 and 100: a step has 120 of kernels and 30 of the host, as two of three have it."""
    split = step_split.of_run(traced([100, 2700, 100]))

    assert split is not None
    assert (split.window_ns[StepPart("kernels")], split.window_ns[StepPart("host python")]) == (120, 30)
    assert split.agreement is not None and split.agreement.more[StepPart("kernels")] == 0


def test_operators_share_the_kernels_as_in_the_step_in_the_middle() -> None:
    """The product has 100 of 120."""
    shares = layer_times.shares(traced([100, 2700, 100]), 1200, 0)

    assert {one.op: one.ns for one in shares} == {"mm": 1000, "sum": 200}


def test_an_update_after_every_third_batch_is_no_odd_step() -> None:
    """Two updates of 50 in six steps of 150: the mean step has 137 of kernels."""
    split = step_split.of_run(traced([100] * 6, updates=(2, 5)))

    assert split is not None
    assert split.window_ns[StepPart("kernels")] == 137
    assert split.window_step_ns == 166


def test_rows_that_are_longer_in_some_steps_make_all_of_their_operators_longer() -> None:
    """In a third of the steps the product and the sum take twice as long: that is no lost core."""
    run = traced([100, 100, 200, 100, 100, 200], longer_sums=(2, 5))
    chosen = main_window(run)
    assert chosen is not None
    steps = equal_steps.of_window(run, chosen)

    assert steps is not None
    assert steps.stretched(equal_steps.by_operator(run, chosen, steps)) == pytest.approx(4 / 3)


def test_a_pause_in_a_few_steps_is_the_hosts() -> None:
    """One of four steps pauses for 600: as long as four typical steps."""
    split = step_split.of_run(traced([100] * 4, pauses=[0, 0, 600, 0]))

    assert split is not None and split.agreement is not None
    assert split.window_ns[StepPart("kernels")] == 120
    assert split.agreement.more[StepPart("host python")] == 1.0
    assert split.agreement.more[StepPart("kernels")] == 0


def test_few_steps_that_differ_leave_it_open_what_a_step_consists_of() -> None:
    """Of three, one is nearly all kernels: so may be others. Three that agree leave nothing open."""
    odd, even = step_split.of_run(traced([100, 2700, 100])), step_split.of_run(traced([100, 100, 100]))

    assert odd is not None and odd.agreement is not None
    assert even is not None and even.agreement is not None
    assert odd.agreement.bounds[StepPart("kernels")] == (0.8, 1.0)
    assert odd.agreement.bounds[StepPart("host python")] == (0.0, 0.2)
    assert even.agreement.bounds[StepPart("kernels")] == (0.8, 0.8)


def test_two_steps_have_none_in_the_middle() -> None:
    """Both count as they are."""
    split = step_split.of_run(traced([100, 300]))

    assert split is not None and split.agreement is None
    assert split.window_ns[StepPart("kernels")] == 220


def test_of_many_steps_the_bounds_are_those_of_their_median() -> None:
    """Of a hundred, some at both ends are left out."""
    begin = np.arange(100) * 10
    steps = equal_steps.TracedSteps(begin, begin + 10, np.zeros(100, np.int64))
    each = np.stack([np.arange(100.0), 100 - np.arange(100.0)], axis=1)

    low, high = steps.bounds(each)

    assert low[0] == pytest.approx(0.40)
    assert high[0] == pytest.approx(0.59)
