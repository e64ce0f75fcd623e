"""Runs a traced script again, as it was or with a setting changed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dlprof import safe_files
from dlprof.analysis import breakdown
from dlprof.analysis.findings.finding import Remedy
from dlprof.errors import DlprofError, UsageError
from dlprof.launch import children
from dlprof.pipeline.opening import open_run
from dlprof.rundir import writing_into
from dlprof.schema.tree_paths import Tree
from dlprof.store.run import Run
from dlprof.trials import consent

PROBES = "phases"
"""A trial needs its wall time and its phases, no more: other probes would only disturb it."""


def command(run: Run, place: Path, probes: str = PROBES) -> list[str]:
    """The command that traces the script of a run again.

    Raises:
        UsageError: The run is not one of a script that can be run again, or not of this user and machine.
    """
    manifest = run.manifest
    traced, source = manifest.command, manifest.backend.source
    if not traced.script and not traced.module:
        raise UsageError(f"{run.name} cannot be run again: it is not one of a Python script.")
    if traced.masked:
        raise UsageError(
            f"{run.name} cannot be run again: what looks like a secret was hidden in its arguments.",
            hint="dlprof trace --keep-arguments SCRIPT -- ARGUMENTS keeps them as they are",
        )
    consent.refuse(run)
    script = ["-m", traced.module] if traced.module else [str(consent.script_of(run))]
    interpreter: list[str] = []
    if source == "managed":
        interpreter = ["--backend", str(manifest.backend.name)]
    elif source == "python":
        interpreter = ["--python", str(manifest.config.get("python"))]
    return [
        sys.executable, "-P", "-m", "dlprof", "trace", *script, *interpreter, "-o", str(place), "--probes", probes,
        "--no-report", "--no-progress", "--", *traced.argv,
    ]  # fmt: skip


def run_again(run: Run, place: Path, remedy: Remedy | None = None, *, probes: str = PROBES) -> Run:
    """Run the script of a run again, with its environment variables, and with a remedy.

    Raises:
        DlprofError: It cannot be run, or failed; the text says why.
    """
    run_into(place, command(run, place, probes), _environment(run.manifest.environment, remedy))
    return open_run(str(place))


def run_into(place: Path, made: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a command that makes the run folder `place`, anew; what it prints goes to a file beside it.

    Raises:
        DlprofError: It failed; the text says why.
    """
    safe_files.remove(place)
    with writing_into(place.parent):
        place.parent.mkdir(parents=True, exist_ok=True)
        log = place.with_name(f"{place.name}.txt")
        log.unlink(missing_ok=True)
        with log.open("xb") as output:
            failed = children.run_to_end(made, output, environment=environment)
    if failed:
        raise DlprofError(f"the run ended with {failed}: {children.last_line(log)}")


def seconds(run: Run, count: int, repeats: int) -> float:
    """How long it will take to try so many changes, each as often as the script as it was, about (s)."""
    return (count + 1) * repeats * ((run.wall_ns or 0) / 1e9 + 1.0)  # a second more than the run, each time


def _environment(kept: Mapping[str, str], remedy: Remedy | None) -> dict[str, str]:
    environment = {**os.environ, **consent.environment(kept)}
    if remedy is None:
        return environment
    for name, value in remedy.environment.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = value
    if remedy.overrides:
        environment["DLPROF_OVERRIDES"] = json.dumps(dict(remedy.overrides))
    return environment


def between_ns(run: Run) -> int:
    """Without start, imports and end, too: these differ by seconds as files are in the system's cache or not (ns).

    Raises:
        DlprofError: The run has no phases.
    """
    return net_ns(run) - ends_ns(run)


def net_ns(run: Run) -> int:
    """Wall time without dlprof's own share (ns).

    Raises:
        DlprofError: The run has no phases.
    """
    tree = breakdown.of_run(run)
    if tree is None:
        raise DlprofError(f"{run.name} has no phases.")
    return tree.net_ns


def ends_ns(run: Run) -> int:
    """How long the process takes to start, to import and to end (ns)."""
    around = (Tree.STARTUP, Tree.IMPORT, Tree.TEARDOWN)
    return sum(row["dur_ns"] for row in run.rows("phases") if row["phase"] in around)
