"""Every backend, from its spec and its lock."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dlprof_probes.inproc import engines
from packaging.requirements import InvalidRequirement, Requirement

from dlprof.backends import registry
from dlprof.backends.base import BackendSpec
from reference_pages import markdown as md
from reference_pages import source

_TRACERS = {engine.name: engine.tracer_class for engine in engines.CLASSES}


def page() -> str:
    """The page."""
    specs = registry.all_specs().values()
    rows = [
        (md.code(spec.name), md.plain(spec.title), md.code(spec.python), md.plain(", ".join(pins(spec))))
        for spec in specs
    ]
    traced = [(md.code(spec.name), md.prose(tracer(spec)), md.plain("; ".join(notes(spec)))) for spec in specs]
    return md.page(
        "Backends",
        "What `--backend` takes. How environments are made and kept is told in [Backends and environments]"
        "(../../backends.md). Listed are the packages that a lock asks for; the lock itself pins all that they need, "
        "with hashes.",
        md.table(("backend", "what", "Python", "pins"), rows),
        "## What is traced",
        "The tracer is that of kernel windows, see [Kernels](../../kernels.md). Phases, lines, stacks, cores and GPU "
        "series are the same everywhere.",
        md.table(("backend", "tracer of kernels", "notes"), traced),
    )


def pins(spec: BackendSpec) -> Iterator[str]:
    """Packages that the backend asks for, each with the version that its lock has."""
    locked = dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", spec.lock.read_text(encoding="utf-8"), re.MULTILINE))
    for name in _asked(spec.lock.with_suffix(".in")):
        if name in locked:
            yield f"{name} {locked[name]}"


def _asked(path: Path) -> list[str]:
    """Names of the requirements that a lock was made of."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            found.append(Requirement(line.partition("#")[0].strip()).name.lower())
        except InvalidRequirement:
            continue
    return list(dict.fromkeys(found))


def tracer(spec: BackendSpec) -> str:
    """What the tracer of its engine does."""
    made = _TRACERS.get(spec.engine)
    return source.first_paragraph(made.__doc__ or "") if made else "none"


def notes(spec: BackendSpec) -> Iterator[str]:
    """What a reader of its figures must know."""
    if spec.environment_of:
        yield f"shares the environment of {spec.environment_of}"
    if not spec.trains:
        yield "inference only"
    dispatch = registry.dispatch_of(spec)
    if dispatch.asynchronous:
        yield "a step's call returns before the device is done"
    if dispatch.input_inside_step:
        yield "the next batch is fetched inside the step"
    if spec.on_demand:
        yield "made only when asked for by name"
