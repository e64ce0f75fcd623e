"""The GPU stands idle between kernels, because the host has launched nothing."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import gpu_idle
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Query, Sentence
from dlprof.analysis.findings.title import Title
from dlprof.schema.vocabulary import StepPart, Tree

TITLE = Title("The GPU waited for the host", "a GPU that waited for the host")
_SHARE = 0.15
_PARTS = (StepPart.DISPATCH, StepPart.HOST_PYTHON, StepPart.IDLE, StepPart.SYNC)
_GAPS = Query(
    "idle time by what the host did",
    "SELECT device, blamed, count(*) AS gaps, sum(host_ns) AS host_ns FROM "
    "gpu_gaps GROUP BY ALL ORDER BY host_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Gaps between kernels, split at the launch of the kernel that ended them."""
    devices = gpu_idle.of_run(case.run)
    if not devices:
        raise Abstain("no kernel ran on a GPU")
    worst = max(devices, key=lambda device: device.host_ns)
    if worst.host_ns / max(1, worst.span_ns) < _SHARE:
        return
    blamed = next((name for name, _ in worst.blamed if name), None)
    yield Claim(
        Sentence(
            f"GPU {worst.device} was idle in {100 * worst.idle_ns / max(1, worst.span_ns):.0f} % of the traced steps, "
            f"mostly because the host had launched nothing{f' ({blamed})' if blamed else ''}:"
        ),
        case.takes(*(Tree.FIT_STEPS / part for part in _PARTS)),
        [_GAPS],
        "Larger batches, compiled steps (XLA, torch.compile, CUDA graphs), and no waiting for values in between.",
        title=Title(f"GPU {worst.device} waited for the host", f"waiting of GPU {worst.device} for the host"),
    )
