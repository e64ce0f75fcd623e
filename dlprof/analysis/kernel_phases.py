"""Which kernels and operators began in a phase.

Of a run of dlprof's own each execution says so. A foreign trace has no phases; what its report calls so are the steps
of its loops, which say when they were.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import Integers, Truths, integers, truths
from dlprof.errors import UsageError
from dlprof.schema.tree_paths import STEPS_OF_LOOP
from dlprof.schema.vocabulary import Phase, RunState
from dlprof.store.run import Run


def require(run: Run, phase: str) -> None:
    """See that there is such a phase, in this run or in any: what a run never came to has no kernels.

    Raises:
        UsageError: There is none of that name; the hint names those of the run.
    """
    names = known(run)
    if not any(_is_in(name, phase) for name in (*names, *Phase)):
        hint = f"{run.name} has {', '.join(names)}" if names else f"{run.name} tells of none: leave it out"
        raise UsageError(f"There is no phase {phase}.", hint=hint)


def known(run: Run) -> list[str]:
    """The phases of a run by their names, as they can be asked for; of a foreign trace the steps of its loops."""
    if run.manifest.state != RunState.IMPORTED:
        return sorted({row["phase"] for row in run.rows("phases")})
    loops = pc.unique(run.table("steps", ("loop",))["loop"].cast(pa.string())).to_pylist()
    return sorted(_name(loop) for loop in loops if loop in STEPS_OF_LOOP)


def began_in(run: Run, events: pa.Table, phase: str) -> Truths:
    """Which executions began in a phase, or in a part of it.

    Args:
        run: The run.
        events: Rows of `kernel_events`, with their phase and their begin.
        phase: Its name (`fit` is also `fit.steps` and so on).
    """
    if run.manifest.state != RunState.IMPORTED:
        phases = events["phase"].cast(pa.string())
        return truths(pc.or_(pc.equal(phases, phase), pc.starts_with(phases, f"{phase}.")))
    steps = run.table("steps", ("loop", "start_ns", "dur_ns"))
    loops = [loop for loop in STEPS_OF_LOOP if _is_in(_name(loop), phase)]
    mine = steps.filter(pc.is_in(steps["loop"].cast(pa.string()), pa.array(loops, pa.string()))).sort_by("start_ns")
    begin = integers(mine["start_ns"])
    return _are_within(integers(events["start_ns"]), begin, begin + integers(mine["dur_ns"]))


def _are_within(moments: Integers, begins: Integers, ends: Integers) -> Truths:
    """Which moments are in one of some stretches, whose begins are in order of time."""
    if not len(begins):
        return np.zeros(len(moments), bool)
    place = np.searchsorted(begins, moments, side="right") - 1
    return np.asarray((place >= 0) & (moments < np.maximum.accumulate(ends)[np.maximum(place, 0)]), bool)


def _name(loop: str) -> str:
    return STEPS_OF_LOOP[loop].replace("/", ".")


def _is_in(name: str, phase: str) -> bool:
    return name == phase or name.startswith(f"{phase}.")
