"""The GPU lowered its clocks: power limit, heat, or a brake."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import utilisation
from dlprof.analysis.doubts import GPU_THROTTLED
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("The GPU ran below its clock", "a GPU that ran below its clock")
_CLOCKS = Query(
    "clocks and reasons",
    "SELECT time_ns, gpu, sm_clock_mhz, power_w, temperature_c, throttle_reasons FROM gpu ORDER BY time_ns",
)


def look(case: Case) -> Iterator[Claim]:
    """Samples of NVML that gave a reason for lower clocks, other than idleness or a setting."""
    table = case.run.table("gpu")
    if not table.num_rows:
        raise Abstain("no GPU was measured")
    gpus = utilisation.gpus(table, case.run.manifest)
    shares = [gpu.throttled_share for gpu in gpus if gpu.throttled_share is not None]
    if not shares:
        raise Abstain("this GPU does not tell why it lowers its clocks")
    share = max(shares)
    if share < GPU_THROTTLED:
        return
    full = max((clock for clock in table["sm_clock_mhz"].to_pylist() if clock), default=0)
    mean = sum(gpu.sm_clock_mean_mhz or 0 for gpu in gpus) / len(gpus)
    slower = max(0.0, 1 - mean / full) if full else 0.0
    yield Claim(
        Sentence(
            f"The GPU was throttled in {100 * share:.0f} % of the samples, at {mean:.0f} MHz in the mean of at most "
            f"{full:.0f}:"
        ),
        case.takes(Tree.FIT_STEPS / StepPart.KERNELS, Tree.PREDICT_STEPS / StepPart.KERNELS, share=slower),
        [_CLOCKS],
        "Look at cooling and at the power limit (nvidia-smi -q -d PERFORMANCE,POWER).",
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED, seen=share * table.num_rows),
    )
