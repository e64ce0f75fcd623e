"""The runs of Pythons below a program: each a run folder like any other, and the index of them in the program's."""

from __future__ import annotations

import contextlib
import os
from datetime import datetime
from pathlib import Path

from dlprof_probes import masking
from msgspec.structs import replace

from dlprof.config import TraceConfig
from dlprof.errors import DlprofError
from dlprof.launch import ranks
from dlprof.launch.process import Outcome
from dlprof.launch.recorded import Child, Recorded, read_anchor
from dlprof.launch.running_process import described
from dlprof.rundir import CHILDREN, RunDir
from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Backend, Followed, FollowedRun, HealthEntry, Interpreter, Manifest
from dlprof.schema.process_config import ChildFacts
from dlprof.schema.vocabulary import RunSource, RunState, Severity

_MAKES_RANKS = {
    "torch": "init_process_group",
    "jax": "jax.distributed.initialize",
    "tensorflow": "MultiWorkerMirroredStrategy",
}
"""By the engine: what a worker calls to make itself a rank (`dlprof_probes.inproc.late_ranks`)."""


class Begins:
    """Writes the manifest of each child as it is found, so that its run opens whatever happens to dlprof.

    Args:
        config: How the program is traced.
        program: The manifest of its run.
    """

    def __init__(self, config: TraceConfig, program: Manifest) -> None:
        self._config = config
        self._program = program
        self.made: dict[str, Manifest] = {}
        """By the name of the folder."""

    def __call__(self, folder: RunDir, facts: ChildFacts) -> None:
        """A child was found."""
        made = _first_manifest(self._config, self._program, facts)
        self.made[folder.path.name] = made
        folder.write_manifest(made)


def _first_manifest(config: TraceConfig, program: Manifest, facts: ChildFacts) -> Manifest:
    what = described(facts.command, Path(facts.folder), python=True)
    argv = what.arguments if config.keep_arguments else tuple(masking.words(what.arguments))
    script = _as_given(what.script) if what.script is not None else None
    return replace(
        program,
        state=RunState.RUNNING,
        created=datetime.now().astimezone().isoformat(timespec="seconds"),
        command=manifests.Command(
            script=script,
            module=what.module,
            program=facts.executable if script is None and what.module is None else None,
            argv=argv,
            masked=argv != what.arguments,
        ),
        backend=Backend(source=RunSource.FOLLOWED),
        interpreter=Interpreter(version=facts.python, implementation=facts.implementation),
        clock=manifests.Clock(origin_perf_ns=facts.boot_ns, anchor_start=read_anchor()),
        process=manifests.Process(pid=facts.pid),
        rank=ranks.of_environment(facts.ranks),
        script_folder=str(what.script_folder.resolve()),
        health=(_said(facts),),
        seal=None,
    )


def _as_given(script: Path) -> str:
    """A script by its path from the current folder, or by its name where it lies elsewhere."""
    short = os.path.relpath(script)
    return short if not short.startswith("..") else script.name


def _said(facts: ChildFacts) -> HealthEntry:
    before_s = (facts.begun_ns - facts.boot_ns) / 1e9
    if facts.worker:
        text = (
            "A worker that the program started, and that made itself a rank: it is traced from its call of "
            f"{_MAKES_RANKS.get(facts.engine, facts.engine)} on, {before_s:.2f} s after Python itself had started; "
            "what ran before that, imports too, is `script`. Lines are sampled, not counted."
        )
        return HealthEntry(slug="followed", severity=Severity.INFO, message=text)
    text = (
        f"A Python that was followed: it is traced from its import of {facts.engine} on, {before_s:.2f} s after Python "
        "itself had started; what ran before that is `script`. Lines are sampled, not counted."
    )
    return HealthEntry(slug="followed", severity=Severity.INFO, message=text)


def store(begins: Begins, recorded: Recorded) -> None:
    """Make the tables of all children. The program has run: no failure of ours may come out of here."""
    from dlprof.pipeline import storing  # noqa: PLC0415  (large: not before the program has run)

    for child in recorded.children:
        made = begins.made.get(child.folder.path.name)
        if made is not None and child.recorded is not None:
            traced = storing.store(child.folder, made, child.recorded)
            with contextlib.suppress(OSError, DlprofError):
                storing.pack(traced)


def indexed(manifest: Manifest, config: TraceConfig, recorded: Recorded) -> Manifest:
    """The manifest of a program with its index of children."""
    if not config.follows:
        return manifest
    runs = tuple(_row(child, config) for child in recorded.children)
    told = Followed(runs=runs, pythons=recorded.pythons, not_followed=recorded.not_followed)
    return replace(manifest, followed=told, health=(*manifest.health, *_passed_over(told)))


def _passed_over(told: Followed) -> tuple[HealthEntry, ...]:
    if not told.not_followed:
        return ()
    text = (
        f"{told.not_followed} more Pythons that loaded an engine were not followed: {len(told.runs)} are, and no more "
        "are below one program."
    )
    return (HealthEntry(slug="not-followed", severity=Severity.WARNING, message=text, count=told.not_followed),)


def _row(child: Child, config: TraceConfig) -> FollowedRun:
    facts = child.facts
    words = facts.command if config.keep_arguments else masking.words(list(facts.command))
    outcome = child.recorded.outcome if child.recorded is not None else None
    return FollowedRun(
        run=f"{CHILDREN}/{child.folder.path.name}",
        pid=facts.pid,
        parent=facts.parent,
        command=" ".join(words),
        engine=facts.engine,
        ended=_ended(child, outcome),
        exit_code=outcome.exit_code if outcome is not None else None,
        signal=outcome.signal if outcome is not None else None,
        wall_ns=outcome.end_ns - outcome.start_ns if outcome is not None else None,
        ranks=facts.ranks,
    )


def _ended(child: Child, outcome: Outcome | None) -> str:
    if child.went_on:
        return "running"
    if child.replaced:
        return "replaced"
    if outcome is None or (outcome.exit_code is None and outcome.signal is None):
        return "unknown"
    return "exited" if outcome.signal is None else "signalled"
