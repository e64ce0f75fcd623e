"""The rules, one file each, in the order in which they may claim time: causes of other causes first.

The file of the rule `slow-callback` is `slow_callback.py`. It has one function, `look(case)`, which gives claims, gives
none where all is well, and raises `Abstain` where a signal that it needs is missing; and a `TITLE`, what its findings
are called for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from dlprof.analysis.findings.rule import Rule

_ORDER = (
    "more-steps",
    "out-of-memory",
    "slow-conversion",
    "gc-pressure",
    "checkpoint-heavy",
    "validation-heavy",
    "io-bound",
    "host-sync",
    "too-many-workers",
    "workers-restarted",
    "slow-worker",
    "small-queue",
    "too-few-workers",
    "cpu-throttled",
    "cpu-contention",
    "threads-oversubscribed",
    "memory-pressure",
    "gpu-throttled",
    "debug-mode",
    "costly-metric",
    "costly-operator",
    "both-branches",
    "repeated-backward",
    "unused-gradients",
    "dense-zeros",
    "padded-batches",
    "eager-execution",
    "jit-off",
    "retracing",
    "steps-get-slower",
    "data-repeated",
    "iterator-restart",
    "input-bound",
    "slow-callback",
    "transfer-bound",
    "device-allocation",
    "layout-transpose",
    "double-precision",
    "half-precision",
    "tensor-cores-unused",
    "exposed-collectives",
    "frozen-forward",
    "dense-gradient",
    "wasteful-layer",
    "threads-underused",
    "slow-kernel",
    "gil-contention",
    "script-waits",
    "repeated-forward",
    "python-overhead",
    "stream-waits",
    "small-kernels",
    "dispatch-bound",
    "gpu-idle",
    "graph-compile-dominates",
    "import-heavy",
    "profiler-overhead",
    "memory-growth",
    "resource-growth",
    "memory-peak",
    "double-copy",
    "constant-in-graph",
)


def module_name(slug: str) -> str:
    """Name of the module of a rule that comes with dlprof."""
    return f"{__name__}.{slug.replace('-', '_')}"


def _rule(slug: str) -> Rule:
    module = import_module(module_name(slug))
    return Rule(slug, module.look, title=module.TITLE)


RULES: Mapping[str, Rule] = MappingProxyType({slug: _rule(slug) for slug in _ORDER})
"""Slug to rule."""
