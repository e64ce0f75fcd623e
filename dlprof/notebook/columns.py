"""Columns of the frames that are no tables of a run: names, which end with their unit, and types."""

from __future__ import annotations

import pyarrow as pa

TEXT, COUNT, NS, REAL = pa.string(), pa.int64(), pa.int64(), pa.float64()

KERNELS = {
    **dict.fromkeys(("file", "layer", "direction", "op", "category", "name", "kind", "device"), TEXT),
    **dict.fromkeys(("step", "line", "count"), COUNT),
    **dict.fromkeys(("total_ns", "self_ns", "union_ns", "mean_ns", "p95_ns"), NS),
    **dict.fromkeys(("share", "share_of_step"), REAL),
    "launch_delay_ns": NS,
    **dict.fromkeys(("flops", "bytes"), REAL),
}
STACKS = {
    "phase": TEXT,
    "dur_ns": NS,
    "share": REAL,
    "function": TEXT,
    "file": TEXT,
    "line": COUNT,
    "stack": TEXT,
}
FINDINGS = {
    "slug": TEXT,
    "title": TEXT,
    "claim": TEXT,
    "at_stake_ns": NS,
    "share": REAL,
    "basis": TEXT,
    "state": TEXT,
    "file": TEXT,
    "line": COUNT,
    "next_step": TEXT,
    "remedy": TEXT,
}
RANKS = {
    "rank": COUNT,
    **dict.fromkeys(("host", "run"), TEXT),
    "steps": COUNT,
    **dict.fromkeys(("median_ns", "input_ns", "collective_wait_ns", "collective_transfer_ns", "kernels_ns"), NS),
    "batch": COUNT,
    "ended": TEXT,
    "steps_cut": pa.bool_(),
    **dict.fromkeys(("error", "error_file"), TEXT),
    "error_line": COUNT,
}
RUNS = {
    **dict.fromkeys(("run", "created", "script", "backend", "state"), TEXT),
    **dict.fromkeys(("exit_code", "signal"), COUNT),
    "wall_ns": NS,
    "size_bytes": COUNT,
    "damaged": TEXT,
}
"""Of a list of runs; `damaged` says why a run cannot be read."""
ITEMS = {
    "path": TEXT,
    **dict.fromkeys(("a_ns", "b_ns", "delta_ns", "ci_low_ns", "ci_high_ns"), NS),
    "within_noise": pa.bool_(),
}
LAYERS = {
    **dict.fromkeys(("layer", "direction"), TEXT),
    **dict.fromkeys(("a_ns", "b_ns", "delta_ns"), NS),
    **dict.fromkeys(("a_ops", "b_ops"), TEXT),
}
MEMORY = {
    **dict.fromkeys(("of", "name", "kind"), TEXT),
    **dict.fromkeys(("a_bytes", "b_bytes", "delta_bytes"), COUNT),
    **dict.fromkeys(("a_how", "b_how"), TEXT),
}
"""`of`: phase, kind, layer or device."""
WORK = {
    **dict.fromkeys(("layer", "kind", "direction"), TEXT),
    **dict.fromkeys(("a_flops", "b_flops", "a_moved_bytes", "b_moved_bytes"), REAL),
    **dict.fromkeys(("a_ns", "b_ns"), NS),
    **dict.fromkeys(("a_flops_per_s", "b_flops_per_s"), REAL),
    **dict.fromkeys(("a_bound", "b_bound"), TEXT),
    **dict.fromkeys(("a_reached", "b_reached"), REAL),
    "cause": TEXT,
}
LINES = {
    "file": TEXT,
    "function": TEXT,
    "line": COUNT,
    "source": TEXT,
    "a_hits": COUNT,
    "a_ns": NS,
    "b_hits": COUNT,
    "b_ns": NS,
    "delta_ns": NS,
    **dict.fromkeys(("a_scaled", "b_scaled"), pa.bool_()),
}
