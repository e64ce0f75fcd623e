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


def test_ranks_of_a_machine_share_the_budget_and_the_rate_of_one_process() -> None:
    """They wait for one another: what is taken from one is taken from all."""
    config = budget.among_ranks(TraceConfig(budget=0.01, stacks_hz=20.0), 2)

    assert (config.budget, config.stacks_hz) == (0.005, 10.0)


@pytest.mark.parametrize(
    ("config", "ranks", "stacks_hz"),
    [
        (TraceConfig(stacks_hz=20.0), 64, 5.0),
        (TraceConfig(stacks_hz=2.0), 4, 2.0),
        (TraceConfig(stacks_hz=20.0, origins=(("stacks_hz", "command line"),)), 4, 20.0),
        (TraceConfig(stacks_hz=20.0, budget=None), 4, 20.0),
    ],
    ids=["many", "few samples", "chosen", "no budget"],
)
def test_a_rank_is_sampled_often_enough_or_as_the_user_chose(config: TraceConfig, ranks: int, stacks_hz: float) -> None:
    """However many there are."""
    assert budget.among_ranks(config, ranks).stacks_hz == stacks_hz
