"""How the budget of all probes is shared out among them: the one place that says who may take what."""

from __future__ import annotations

from dataclasses import replace

from dlprof.config import TraceConfig
from dlprof.schema.vocabulary import EXACT_LINES

_WEIGHTS = {"lines": 4.0, "kernels": 2.5, "stacks": 2.0, "cores": 1.5}
"""Of the probes that can measure less. Hooks cannot: what they take is told, and not kept back."""
_RATES = {"kernels": "kernel_steps", "stacks": "stacks_hz", "cores": "cores_hz"}
"""Settings that say how much a probe measures: where the user chose them, they are obeyed."""

_LEAST_STACKS_HZ = 5.0


def of(probe: str, config: TraceConfig) -> float | None:
    """Share of the wall time that a probe may cost: those of the probes that run together are the budget, not more.

    Args:
        probe: `lines`, `kernels`, `stacks`, or `cores` for the sampler of cores and GPUs.
        config: What is traced, and how.

    Returns:
        From 0 to 1; None: no limit, as there is no budget, or as the user chose what is measured.
    """
    if config.budget is None or _is_chosen(probe, config):
        return None
    return config.budget * _WEIGHTS[probe] / sum(_WEIGHTS[one] for one in _WEIGHTS if _runs(one, config))


def among_ranks(config: TraceConfig, ranks: int) -> TraceConfig:
    """The settings of what samples beside one of several ranks of a machine.

    Ranks wait for one another, so what is taken from one is taken from all of them: together they may cost what one
    process may, and are sampled as often.

    Args:
        config: How one process is traced.
        ranks: How many train together on this machine, at least 1.
    """
    if config.budget is None or ranks == 1:
        return config
    stacks_hz = config.stacks_hz
    if not _is_chosen("stacks", config):
        stacks_hz = min(stacks_hz, max(_LEAST_STACKS_HZ, stacks_hz / ranks))
    return replace(config, budget=config.budget / ranks, stacks_hz=stacks_hz)


def _is_chosen(probe: str, config: TraceConfig) -> bool:
    if probe == "lines":
        return EXACT_LINES in config.lines
    return config.is_given(_RATES[probe]) or (probe == "kernels" and config.kernels == "all")


def _runs(probe: str, config: TraceConfig) -> bool:
    return config.wants(probe) or (probe == "cores" and config.wants("gpu"))
