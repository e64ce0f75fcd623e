"""Planted leaks: whether each is found, with the line that keeps; and how near the slope is to what was kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.memory_exam import traced

KINDS = ("list", "dict", "log", "queue", "class", "closures", "metrics", "threads", "cycles", "versions")
BACKENDS = ("torch", "jax", "tensorflow", "mxnet")
COLUMNS = ("leak", "backend", "found", "line", "a step, kB (95 %)", "kept, kB")
_STEPS = 800
_FLAGS = ("--cores-hz", "10", "--probes=-kernels")
"""The sampler keeps its rate where no core is free."""
_KIBI = 1024
_KILOBYTES = {"log": 96}
"""Kept of each step, where it is not 256 kB: an array that is made longer is copied each time."""
_OF_ENGINES = {
    "graph": ("torch",), "workers": ("torch",), "lambdas": ("jax",), "table": ("tensorflow",),
    "retraced": ("tensorflow",), "metric": ("mxnet",), "handler": ("torch",), "views": ("jax",), "at_exit": ("mxnet",),
    "handlers": ("tensorflow",),
}  # fmt: skip
_STEPS_OF = {"graph": 1000, "workers": 2000, "lambdas": 1000, "views": 1500, "retraced": 600}


@dataclass(frozen=True)
class Planted:
    """A leak on a backend.

    Attributes:
        name, backend: Which.
        script: `leaky.py`, or `engine_leaks.py`.
        steps: How many it makes.
        kept_bytes: Of each step; None: it is the engine's affair.
    """

    name: str
    backend: str
    script: Path
    steps: int
    kept_bytes: int | None

    @property
    def key(self) -> str:
        """Its name in commands, and its folder's."""
        return f"{self.name}-{self.backend}"


def all_of_them() -> Iterator[Planted]:
    """The ten kinds on four backends, then those of engines."""
    for name in KINDS:
        kept = _KILOBYTES.get(name, 256) * _KIBI * (2 if name == "versions" else 1)
        for backend in BACKENDS:
            yield Planted(name, backend, traced.LEAKS / "leaky.py", _STEPS, kept)
    for name, backends in _OF_ENGINES.items():
        for backend in backends:
            yield Planted(name, backend, traced.LEAKS / "engine_leaks.py", _STEPS_OF.get(name, _STEPS), None)


def row(planted: Planted, work: Path) -> tuple[str, ...]:
    """One leak, as a row of the table."""
    arguments = ["--leak", planted.name, "--steps", str(planted.steps)]
    if planted.name in _KILOBYTES:
        arguments += ["--kilobytes", str(_KILOBYTES[planted.name])]
    done = traced.run(work / planted.key, planted.script, planted.backend, _FLAGS, arguments)
    if done.code:
        return planted.name, planted.backend, f"the script failed: {done.code}", "", "", ""
    report = done.report()
    growth, found = report["memory"]["growth"], [one for one in report["findings"] if one["slug"] == "memory-growth"]
    line = (planted.script.name, traced.line_of(planted.script, f"KEEP {planted.name}"))
    named = [(one["file"].rpartition("/")[2], one["line"]) for one in found if one["file"]]
    told = "not measured" if growth is None else _slope(growth["bytes_per_step"], growth["ci"])
    kept = "" if planted.kept_bytes is None else f"{planted.kept_bytes / 1000:.0f}"
    said = "yes" if line in named else f"no: {named[0][0]}:{named[0][1]}" if named else "no"
    return planted.name, planted.backend, "yes" if found else "no", said, told, kept


def _slope(bytes_per_step: float, ci: tuple[float, float]) -> str:
    return f"{bytes_per_step / 1000:.0f} ({ci[0] / 1000:.0f} to {ci[1] / 1000:.0f})"
