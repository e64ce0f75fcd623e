"""Adds the steps, epochs and phases of a run of foreign traces, which only all of its events together tell."""

from __future__ import annotations

from dlprof.analysis import trace_phases, trace_processes, trace_steps
from dlprof.analysis.trace_steps import Structure
from dlprof.ingest.artifact import Health
from dlprof.pipeline.run_tables import RunTables
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Manifest
from dlprof.store.run import Run


def add(tables: RunTables, folder: RunDir, manifest: Manifest) -> Structure | None:
    """Add the tables `steps`, `epochs`, `phases` and `phase_intervals`, and what is to be said of them.

    Args:
        tables: All tables of the run but its events.
        folder: The run folder; its events are stored.
        manifest: What is known of the run.

    Returns:
        The steps; None: no trace names any.
    """
    run = Run(folder, manifest, dict(tables.by_name))
    if not run.count("kernel_events"):
        return None
    found = trace_steps.find(run)
    for name, rows in trace_phases.rows(run, found).items():
        tables.put_rows(name, rows)
    tables.health.extend(_said(run, found))
    return found


def _said(run: Run, found: Structure | None) -> list[Health]:
    place = found.place if found is not None else trace_phases.main_place(run)
    processes = {(row["host"], row["rank"], row["pid"]) for row in run.rows("kernel_windows")}
    said = []
    if found is not None:
        if found.overlapping:
            text = "Steps that began before the one before had ended: that one is cut there."
            said.append(Health("trace-steps-overlap", "warning", text, found.overlapping))
        if found.empty:
            text = "Ranges of steps have no duration: they are not counted."
            said.append(Health("trace-steps-empty", "warning", text, found.empty))
        if found.may_share:
            text = (
                "Each update by the optimiser counts as a step, but what runs between updates takes turns: perhaps"
                " several optimisers of one class share an iteration, which is as many steps then."
            )
            said.append(Health("trace-steps-updates", "warning", text, len(found.steps)))
    if place is not None and len(processes) > 1:
        known = {one.process: one.name for one in trace_processes.of_run(run)}
        name = known.get((place.host, place.rank, place.pid), f"rank {place.rank}")
        whose = f"{name}, one of {len(processes)} processes"
        text = f"Phases, steps and the split of the time are those of {whose}."
        said.append(Health("trace-one-process", "info", text, len(processes)))
    return said
