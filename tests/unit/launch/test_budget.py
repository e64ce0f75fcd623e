"""How the budget of all probes is shared out."""

from __future__ import annotations

import pytest

from dlprof.config import TraceConfig
from dlprof.launch import budget


def test_the_shares_of_all_probes_are_the_budget() -> None:
    """Not more, also if each takes what it may."""
    config = TraceConfig(budget=0.01)

    shares = {name: budget.of(name, config) for name in ("lines", "kernels", "stacks", "cores")}

    assert shares == pytest.approx({"lines": 0.004, "kernels": 0.0025, "stacks": 0.002, "cores": 0.0015})


def test_what_does_not_run_leaves_its_share_to_the_others() -> None:
    """Stacks alone have all of it."""
    assert budget.of("stacks", TraceConfig(budget=0.01, probes=("phases", "stacks"))) == 0.01


def test_gpus_are_sampled_with_the_cores() -> None:
    """One sampler, one share."""
    config = TraceConfig(budget=0.01, probes=("gpu", "stacks"))

    assert (budget.of("cores", config), budget.of("stacks", config)) == (0.01 * 1.5 / 3.5, 0.01 * 2 / 3.5)


def test_without_a_budget_there_is_no_limit() -> None:
    """`--budget off`."""
    assert budget.of("lines", TraceConfig(budget=None)) is None


@pytest.mark.parametrize(
    ("probe", "chosen"),
    [
        ("lines", TraceConfig(budget=0.01, lines=("exact",))),
        ("kernels", TraceConfig(budget=0.01, kernels="all")),
        ("kernels", TraceConfig(budget=0.01, origins=(("kernel_steps", "command line"),))),
        ("stacks", TraceConfig(budget=0.01, origins=(("stacks_hz", "environment"),))),
        ("cores", TraceConfig(budget=0.01, origins=(("cores_hz", "pyproject.toml"),))),
    ],
)
def test_what_the_user_chose_is_obeyed(probe: str, chosen: TraceConfig) -> None:
    """Whatever it costs."""
    assert budget.of(probe, chosen) is None
