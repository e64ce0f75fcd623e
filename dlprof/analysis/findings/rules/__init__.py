"""The rules, one file each, in the order in which they may claim time: causes of other causes first.

A rule has one function, `look(case)`, which gives claims, gives none where all is well, and raises `Abstain` where a
signal that it needs is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from dlprof.analysis.findings.rules import (
    checkpoint_heavy,
    cpu_contention,
    cpu_throttled,
    debug_mode,
    dispatch_bound,
    double_precision,
    eager_execution,
    gc_pressure,
    gpu_idle,
    gpu_throttled,
    graph_compile_dominates,
    host_sync,
    import_heavy,
    input_bound,
    io_bound,
    iterator_restart,
    jit_off,
    layout_transpose,
    memory_pressure,
    profiler_overhead,
    python_overhead,
    retracing,
    slow_callback,
    slow_kernel,
    threads_oversubscribed,
    threads_underused,
    transfer_bound,
    validation_heavy,
)

RULES: Mapping[str, ModuleType] = {
    "gc-pressure": gc_pressure,
    "checkpoint-heavy": checkpoint_heavy,
    "validation-heavy": validation_heavy,
    "io-bound": io_bound,
    "host-sync": host_sync,
    "cpu-throttled": cpu_throttled,
    "cpu-contention": cpu_contention,
    "threads-oversubscribed": threads_oversubscribed,
    "memory-pressure": memory_pressure,
    "gpu-throttled": gpu_throttled,
    "debug-mode": debug_mode,
    "eager-execution": eager_execution,
    "jit-off": jit_off,
    "retracing": retracing,
    "iterator-restart": iterator_restart,
    "input-bound": input_bound,
    "slow-callback": slow_callback,
    "transfer-bound": transfer_bound,
    "layout-transpose": layout_transpose,
    "double-precision": double_precision,
    "threads-underused": threads_underused,
    "slow-kernel": slow_kernel,
    "python-overhead": python_overhead,
    "dispatch-bound": dispatch_bound,
    "gpu-idle": gpu_idle,
    "graph-compile-dominates": graph_compile_dominates,
    "import-heavy": import_heavy,
    "profiler-overhead": profiler_overhead,
}
"""Slug to rule."""
