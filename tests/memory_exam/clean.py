"""Long runs that keep nothing: what is said of their memory and of steps that get slower. Nothing should be."""

from __future__ import annotations

from pathlib import Path

from tests.memory_exam import traced

COLUMNS = ("run", "backend", "steps", "a step, bytes (95 %)", "peak, MB", "said")
RULES = (
    "memory-growth", "resource-growth", "steps-get-slower", "out-of-memory", "memory-peak", "double-copy",
    "constant-in-graph",
)  # fmt: skip
RUNS = (
    ("cache", "jax"), ("replay", "torch"), ("shuffled", "tensorflow"), ("progressive", "mxnet"), ("ragged", "tensorflow"),
    ("sizes", "torch"), ("search", "tensorflow"), ("loop", "torch"), ("loop", "jax"), ("loop", "mxnet"),
    ("loop", "tensorflow"), ("checkpoints", "tensorflow"), ("evaluation", "mxnet"), ("generator", "jax"),
    ("history", "mxnet"), ("mlp", "tensorflow"), ("cnn", "torch"), ("lstm", "mxnet"), ("cnn", "jax"),
    ("average", "tensorflow"), ("generator", "mxnet"), ("ragged", "jax"), ("evaluation", "torch"), ("search", "torch"),
)  # fmt: skip
_NICE_FLAGS = ("--cores-hz", "10")


def key(name: str, backend: str) -> str:
    """Its name in commands, and its folder's."""
    return f"{name}-{backend}"


def row(name: str, backend: str, work: Path, seconds: int) -> tuple[str, ...]:
    """One run, as a row of the table."""
    script = traced.LEAKS / "steady.py"
    arguments = ("--kind", name, "--seconds", str(seconds))
    done = traced.run(work / key(name, backend), script, backend, _NICE_FLAGS, arguments)
    if done.code:
        return name, backend, f"the script failed: {done.code}", "", "", ""
    report = done.report()
    memory = report["memory"]
    growth = memory["growth"]
    slope = memory["not_measured"]["growth"] if growth is None else _slope(growth["bytes_per_step"], growth["ci"])
    said = "; ".join(f"{one['slug']}: {one['claim']}" for one in report["findings"] if one["slug"] in RULES)
    steps = done.out.rpartition(": ")[2].split()[0]
    return name, backend, f"{int(steps):,}", slope, f"{memory['peak_bytes'] / 1e6:.0f}", said or "nothing"


def _slope(bytes_per_step: float, ci: tuple[float, float]) -> str:
    return f"{bytes_per_step:.1f} ({ci[0]:.1f} to {ci[1]:.1f})"
