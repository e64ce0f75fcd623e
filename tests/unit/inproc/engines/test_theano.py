"""Theano's functions are profiled from their compilation on, or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contracts.engine_programs import PROGRAMS


def kernels(setup: Any) -> tuple[str, str | None]:
    """State of the probe of kernels, and why."""
    probes = {probe["name"]: probe for probe in setup.stream().probes}
    return probes["kernels"]["state"], probes["kernels"]["reason"]


def test_windows_are_declined_with_what_to_do(probed: Callable[..., Any]) -> None:
    """The report says which flag gives kernels."""
    setup = probed("theano")

    assert kernels(setup) == (
        "unavailable",
        "Theano can only time its operators over the whole run: --kernels all",
    )


def test_a_whole_run_has_calls_and_times_by_operator(probed: Callable[..., Any]) -> None:
    """Of each function that has a name."""
    setup = probed("theano", "all")
    step = PROGRAMS["theano"]().stepping()
    step()
    step()

    assert kernels(setup) == ("on", None)
    profile = json.loads(Path(setup.windows.folder, "theano-profile.json").read_text())
    assert profile == {
        "functions": [
            {"name": "step", "calls": 2, "call_time_s": 0.004, "operators": {"Elemwise{mul,no_inplace}": [2, 0.002]}}
        ]
    }


def test_a_whole_run_without_a_function_says_so(probed: Callable[..., Any]) -> None:
    """Nothing is written."""
    setup = probed("theano", "all")

    assert kernels(setup) == ("unavailable", "no function was compiled under its profiler")
    assert not os.path.exists(setup.windows.folder)


def test_theanos_own_tables_are_not_printed_at_exit(probed: Callable[..., Any]) -> None:
    """The user did not ask for them."""
    setup = probed("theano", "all")
    import theano

    PROGRAMS["theano"]().stepping()()
    setup.end()

    assert theano.compile.profiling._atexit_print_list == []


def test_a_function_that_the_script_has_profiled_or_not_keeps_that(probed: Callable[..., Any]) -> None:
    """And helpers without a name are left alone."""
    probed("theano", "all")
    import theano

    value = theano.tensor.vector("value")

    assert theano.function([value], value, name="step", profile=False).profile is None
    assert theano.function([value], value).profile is None


def test_keras_and_marks_change_nothing(probed: Callable[..., Any]) -> None:
    """What is profiled was decided before."""
    setup = probed("theano")
    setup.engine.alone()
    setup.engine.under_keras(None)

    assert not setup.windows.is_set
