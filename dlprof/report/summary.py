"""The report of a run as one JSON object (`dlprof.report/1`): the text report says the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from msgspec import to_builtins

from dlprof.analysis import gpu_idle, kernels, lines, recompilations, stacks, step_split, steps, utilisation
from dlprof.schema.manifest import Command
from dlprof.schema.vocabulary import StepPart
from dlprof.store.run import Run
from dlprof.units import duration, percent

SCHEMA = "dlprof.report/1"
STRIP_PARTS = 60


def summarise(run: Run, *, top: int = 10) -> dict[str, Any]:
    """All that the report of a run says. See docs/json.md.

    Args:
        run: The run.
        top: How many lines, and stacks of a phase, at most.
    """
    manifest = run.manifest
    wall_ns = run.wall_ns
    phases = [_phase(row) for row in run.rows("phases")]
    known = sum(phase["dur_ns"] for phase in phases if phase["parent"] is None)
    return {
        "schema": SCHEMA,
        "run": run.name,
        "script": _script(manifest.command),
        "arguments": list(manifest.command.argv),
        "state": manifest.state,
        "source": manifest.backend.source,
        "backend": run.backend,
        "keras_version": manifest.keras.version if manifest.keras is not None else None,
        "engine": to_builtins(manifest.engine),
        "versions": {name: version for name, version in manifest.packages.items() if version},
        "python_version": manifest.interpreter.version,
        "machine": to_builtins(manifest.machine),
        "created": manifest.created,
        "wall_ns": wall_ns,
        "phases": phases,
        "unattributed_ns": wall_ns - known if wall_ns is not None else None,
        **_steps(run),
        "recompilations": [asdict(one) for one in recompilations.find(run.table("spans"))],
        "step_split": _split(run),
        "kernels": _kernels(run, top),
        "gpu_idle": _gpu_idle(run),
        "sources": run.rows("sources"),
        "window_starts": {row["source"]: row["start_ns"] for row in run.rows("kernel_windows")},
        "lines": [asdict(line) for line in lines.hottest(lines.functions(run.table("lines")), top)],
        "stacks": _stacks(run, max(1, top // 4)),
        "cores": [
            {"core": use.core, "mean_pct": use.mean_pct, "strip_pct": list(use.strip)}
            for use in utilisation.cores(run.table("cores"), STRIP_PARTS)
        ],
        "process": {**to_builtins(manifest.process), **_machine(run)},
        "gpu": _gpu(run),
        "probes": run.rows("probes"),
        "health": run.rows("health"),
        "clock": {name: getattr(manifest.clock, name) for name in ("error_ns", "stacks_error_ns", "wall_drift_ns")},
        "exit": {
            "code": manifest.process.exit_code,
            "signal": manifest.process.signal,
        },
    }


def verdict(report: Mapping[str, Any]) -> str:
    """One sentence for people: where the time went."""
    wall = report["wall_ns"]
    top = sorted((p for p in report["phases"] if p["parent"] is None), key=lambda p: -p["dur_ns"])[:3]
    if not wall or not top:
        return "Where the time went is not known: the in-process probe left nothing."
    shares = ", ".join(f"{percent(p['dur_ns'], wall)} % {p['name']} ({duration(p['dur_ns'])})" for p in top)
    steps = report["steps"]
    if not steps:
        return f"{shares}. No step of fit, evaluate or predict was seen."
    if steps["median_ns"] is None:
        return f"{shares}. All {steps['count']} steps were first steps."
    rate = f", {steps['samples_per_s']:,.0f} samples/s" if steps["samples_per_s"] else ""
    return f"{shares}. A {steps['loop']} step takes {duration(steps['median_ns'])}{rate}."


def _script(command: Command) -> str | None:
    """What was run; None for a run of foreign traces."""
    return command.script or command.program or (f"-m {command.module}" if command.module else None)


def _phase(row: dict[str, Any]) -> dict[str, Any]:
    return {"name": row["phase"], "parent": row["parent"], "dur_ns": row["dur_ns"], "count": row["count"]}


def _steps(run: Run) -> dict[str, Any]:
    """`steps`: the loop that counts most (training, where there was some), and `loops`: all of them."""
    backend = run.manifest.backend
    loops = [asdict(summary) for summary in steps.summarise(run.table("steps"), run.table("kernel_windows"))]
    main = dict(loops[0]) if loops else None
    if main is not None:
        main["asynchronous_dispatch"] = backend.asynchronous_dispatch
        main["input_inside_step"] = backend.input_inside_step
    return {"steps": main, "loops": loops, "epochs": _epochs(run)}


def _epochs(run: Run) -> list[dict[str, Any]]:
    values: dict[tuple[int, int], dict[str, float]] = {}
    for row in run.rows("metrics"):
        if row["step"] is None and row["epoch"] is not None:
            values.setdefault((row["loop_id"], row["epoch"]), {})[row["name"]] = row["value"]
    return [
        {
            "loop_id": row["loop_id"],
            "epoch": row["epoch"],
            "dur_ns": row["dur_ns"],
            "steps": row["steps"],
            "metrics": values.get((row["loop_id"], row["epoch"]), {}),
        }
        for row in run.rows("epochs")
    ]


def _stacks(run: Run, per_phase: int) -> list[dict[str, Any]]:
    found = stacks.hottest(run.table("stacks"), run.table("frames"), run.table("phase_intervals"), per_phase=per_phase)
    return [
        {
            "phase": stack.phase,
            "dur_ns": stack.dur_ns,
            "share": stack.share,
            "frames": [{"function": f, "file": file, "line": line} for f, file, line in stack.frames],
        }
        for stack in found
    ]


def _split(run: Run) -> dict[str, Any] | None:
    """What a step consists of, from the kernel window of the main loop; None where there was none."""
    split = step_split.of_run(run)
    if split is None:
        return None
    parts = [
        {"name": name, "window_ns": split.window_ns[name], "plain_ns": split.plain_ns and split.plain_ns[name]}
        for name in StepPart
    ]
    names = ("loop", "engine", "steps", "window_step_ns", "plain_step_ns", "slowdown")
    return {**{name: getattr(split, name) for name in names}, "parts": parts}


def _kernels(run: Run, top: int) -> dict[str, Any] | None:
    """Kernels with most time, by layer; None where none were traced."""
    if not run.table("kernel_ops").num_rows:
        return None
    found = kernels.summarise(run, "layer")
    rows = [
        {**row.keys, "count": row.count, "total_ns": row.total_ns, "share": row.total_ns / max(1, found.all_ns)}
        for row in found.rows[:top]
    ]
    by = {name: kernels.summarise(run, name) for name in ("category", "direction")}
    return {
        "rows": rows,
        "all_ns": found.all_ns,
        "unattributed_ns": found.unattributed_ns,
        "dropped_events": found.dropped_events,
        **{f"by_{name}": [{**row.keys, "total_ns": row.total_ns} for row in sums.rows] for name, sums in by.items()},
    }


def _gpu_idle(run: Run) -> list[dict[str, Any]]:
    return [asdict(idle) for idle in gpu_idle.of_run(run)]


def _machine(run: Run) -> dict[str, Any]:
    pid = run.manifest.process.pid
    return asdict(utilisation.machine(run.table("machine"), run.table("process_samples"), run.table("processes"), pid))


def _gpu(run: Run) -> dict[str, Any]:
    table = run.table("gpu")
    if table.num_rows:
        return {"measured": True, "gpus": [asdict(gpu) for gpu in utilisation.gpus(table, run.manifest)]}
    probe = next((row for row in run.rows("probes") if row["name"] == "gpu"), {})
    return {"measured": False, "reason": probe.get("reason") or "no sample was taken"}
