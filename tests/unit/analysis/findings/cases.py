"""Runs of literal rows for tests of the rules, and their diagnoses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlprof.analysis import compare
from dlprof.analysis.compare import Comparison, Side
from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Diagnosis, Finding
from dlprof.store.run import Run
from tests.unit import runs
from tests.unit.runs import S

Tables = dict[str, Any]
Call = tuple[str, str, int]
"""Function, file, line."""


@dataclass(frozen=True)
class Planted:
    """A run with a cause.

    Attributes:
        tables: Its tables.
        told: Its manifest; None: that of a run on torch.
        against: In a pair: the run that it is slower than.
        source: Text of each file that its lines are of; empty: no copy was kept.
    """

    tables: Tables
    told: dict[str, Any] | None = None
    against: Planted | None = None
    source: str = ""

    def run(self, path: Path) -> Run:
        """Its run, in memory."""
        run = runs.held(path, self.told, **{**runs.training(), **self.tables})
        for file in {row["file"] for row in self.tables.get("lines", ())} if self.source else ():
            keep_source(run, self.source, file)
        return run

    def diagnosis(self, path: Path) -> Diagnosis:
        """What the rules say of it."""
        if self.against is None:
            return diagnose.diagnose(self.run(path / "a"))
        return diagnose.diagnose_gap(compared(self, self.against, path))

    def changed(self, change: Callable[[Tables], Tables]) -> Planted:
        """The same with other tables."""
        against = self.against.changed(change) if self.against else None
        return Planted(change(self.tables), self.told, against, self.source)


def diagnosed(path: Path, told: dict[str, Any] | None = None, **tables: Any) -> Diagnosis:
    """The diagnosis of a run of 10 s."""
    return diagnose.diagnose(runs.held(path, told, **{**runs.training(), **tables}))


def compared(slow: Planted, fast: Planted, path: Path) -> Comparison:
    """The first against the second."""
    return compare.compare(Side("a", (slow.run(path / "a"),)), Side("b", (fast.run(path / "b"),)))


def keep_source(run: Run, text: str, name: str = "train.py") -> None:
    """The run keeps a file of the script's with this text."""
    kept = run.folder.source_path(name)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)


def pick(diagnosis: Diagnosis, slug: str) -> Finding:
    """The finding of that name."""
    return next(finding for finding in diagnosis.findings if finding.slug == slug)


def slugs(diagnosis: Diagnosis) -> list[str]:
    """Names of the findings, ranked."""
    return [finding.slug for finding in diagnosis.findings]


KERNELS = [{"op": "aten::mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 16}]
"""One kernel that fills 16 of the 20 ms of a step."""
SMALL = [{"op": "Mul", "category": "elementwise", "layer": "dense", "direction": "forward", "ms": 2}]
"""One that takes a tenth of it."""
GPU = [{**KERNELS[0], "kind": "kernel", "device": 0, "ms": 8}]
FIT: list[Call] = [("<module>", "train.py", 7), ("fit", "keras/src/trainer.py", 100)]
"""Frames of a stack inside of `fit`, outermost first; train.py is the user's."""


def quiet(**changes: Any) -> Tables:
    """Tables of a training without callbacks: 6 s of steps, mostly kernels."""
    return {
        "phases": parts(fit_steps=6, teardown=2),
        "phase_intervals": runs.intervals(("import", 0, 2), ("fit.steps", 2, 8), ("teardown", 8, 10)),
        "steps": runs.steps(300),
        **runs.window(KERNELS),
        **changes,
    }


def waiting_for_input(**changes: Any) -> Tables:
    """Tables of a training with 4 s of steps, and 2 s of waits between them."""
    return quiet(
        phases=parts(fit_steps=4, fit_input=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), ("fit.input", 6, 8), ("teardown", 8, 10)),
        **{"steps": runs.steps(200), **changes},
    )


def in_callbacks(*calls: Call) -> Tables:
    """Steps of 4 s, and 2 s of callbacks in which these frames stand."""
    callbacks = ("fit.callbacks", 6, 8)
    return quiet(
        phases=parts(fit_steps=4, fit_callbacks=2, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, 6), callbacks, ("teardown", 8, 10)),
        **sampled((6, 8, [*FIT, *calls])),
    )


def parts(import_: float = 2, **seconds: float) -> list[dict[str, Any]]:
    """Rows of `phases`, with an import in front."""
    return [{"phase": "import", "parent": None, "dur_ns": int(import_ * S), "count": 1}, *runs.phases(**seconds)]


def sampled(*stood: tuple[float, float, list[Call]], thread: str = "MainThread") -> Tables:
    """Tables of stacks: (begin, end, frames outermost first) in seconds."""
    stacks, frames = [], []
    for number, (begin, end, calls) in enumerate(stood):
        stacks.append(
            {
                "thread_id": 1,
                "thread": thread,
                "start_ns": int(begin * S),
                "dur_ns": int((end - begin) * S),
                "stack_id": number,
            }
        )
        frames += [
            {"stack_id": number, "depth": depth, "function": function, "file": file, "line": line}
            for depth, (function, file, line) in enumerate(calls)
        ]
    return {"stacks": stacks, "frames": frames}


def cpu(*rows: tuple[float, dict[str, int]], others: float = 0.0, tree: float = 100.0, **machine: int) -> Tables:
    """Samples of the process, and of the machine with its counters growing from 0 to those given."""
    samples = [
        {
            "time_ns": int(at * S),
            "interval_ns": S,
            "cpu_pct": tree,
            "rss_bytes": S,
            "threads": 3,
            "faults_minor": 0,
            "faults_major": 0,
            "pid": 42,
            **counters,
        }
        for at, counters in rows
    ]
    moments = [
        {
            "time_ns": int(at * S),
            "interval_ns": S,
            "cpu_pct": tree + others,
            "others_cpu_pct": others,
            "dlprof_cpu_pct": 1.0,
            **{name: value * n for name, value in machine.items()},
        }
        for n, at in enumerate((2.5, 7.5))
    ]
    return {"process_samples": samples, "machine": moments}


BEGIN = {"run_ns": 0, "wait_ns": 0, "main_run_ns": 0, "main_wait_ns": 0}
"""Counters of the threads when the training begins."""
BUSY = {"run_ns": 6 * S, "wait_ns": 0, "main_run_ns": 6 * S, "main_wait_ns": 0}
"""When it ends: they always had a core."""
WAITING = {"run_ns": 9 * S, "wait_ns": 6 * S, "main_run_ns": 3 * S, "main_wait_ns": 2 * S}
"""They waited for one 40 % of their runnable time."""


def threads(count: int, **facts: Any) -> list[dict[str, Any]]:
    """The span of fit on two cores with so many threads of torch."""
    return [runs.fit_span(training={"threads": {"usable_cores": 2, "torch": count}, **facts})]


def on(backend: str, *, asynchronous: bool = False, input_inside_step: bool = False) -> dict[str, Any]:
    """The manifest of a run on some backend of Keras."""
    told = {
        **runs.manifest()["backend"],
        "name": backend,
        "asynchronous_dispatch": asynchronous,
        "input_inside_step": input_inside_step,
    }
    return runs.manifest(backend=told, keras={"backend": backend}, engine={"name": backend})


def lasting(seconds: float) -> dict[str, Any]:
    """The manifest of a run on torch that takes so long."""
    return runs.manifest(process={**runs.manifest()["process"], "wall_ns": int(seconds * S)})


def longer(seconds: float, **changes: Any) -> Planted:
    """A training whose steps take so much longer."""
    end = 8 + seconds
    tables = quiet(
        phases=parts(fit_steps=6 + seconds, teardown=2),
        phase_intervals=runs.intervals(("import", 0, 2), ("fit.steps", 2, end), ("teardown", end, end + 2)),
        steps=runs.steps(300, dur_ms=20 + seconds * 1000 / 300),
        **changes,
    )
    return Planted(tables, lasting(10 + seconds))


@dataclass
class Entry:
    """An entry point that gives `value`, or raises it."""

    name: str
    value: object = field(default=None)

    def load(self) -> object:
        """Give it."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value
