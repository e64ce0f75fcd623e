"""The GPU stands idle between kernels, because the host has launched nothing."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis import gpu_idle
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim

_SHARE = 0.15


def look(case: Case) -> Iterator[Claim]:
    """Gaps between kernels, split at the launch of the kernel that ended them."""
    found = gpu_idle.of_run(case.run)
    if not found:
        raise Abstain("no kernel ran on a GPU")
    worst = max(found, key=lambda one: one.host_ns)
    share = worst.host_ns / max(1, worst.span_ns)
    if share < _SHARE:
        return
    blamed = next((name for name, _ in worst.blamed if name), None)
    yield Claim(
        f"GPU {worst.device} was idle in {100 * worst.idle_ns / max(1, worst.span_ns):.0f} % of the traced steps, "
        f"mostly because the host had launched nothing{f' ({blamed})' if blamed else ''}: {{time}}, {{share}}.",
        case.takes("fit/steps/dispatch", "fit/steps/host_python", "fit/steps/idle", "fit/steps/sync"),
        [
            (
                "idle time by what the host did",
                "SELECT device, blamed, count(*) AS gaps, sum(host_ns) AS host_ns FROM "
                "gpu_gaps GROUP BY ALL ORDER BY host_ns DESC LIMIT 8",
            )
        ],
        "Larger batches, compiled steps (XLA, torch.compile, CUDA graphs), and no waiting for values in between.",
    )
