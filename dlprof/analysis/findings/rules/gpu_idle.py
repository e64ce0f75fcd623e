"""The GPU stands idle between kernels, because the host has launched nothing."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Query, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.findings.traced_devices import IDLE_PARTS
from dlprof.analysis.gpu_idle import GpuIdle
from dlprof.schema.vocabulary import Ground
from dlprof.units import duration

TITLE = Title("The GPU waited for the host", "a GPU that waited for the host")
_UNTOLD = Title("The GPU had nothing to run, and the trace does not tell why", "a GPU that had nothing to run")
_SHARE = 0.15
_LOOK = (
    "See what the host does in these gaps. Larger batches, compiled steps (XLA, torch.compile, CUDA graphs), and no "
    "waiting for values in between."
)
_RECORD = (
    "Record the host, too, and see what it does in these gaps: CPU activities of torch.profiler, nsys -t "
    "cuda,nvtx,osrt, the host tracer of JAX and TensorFlow, Python stacks."
)
_GAPS = Query(
    "idle time by what the host did",
    "SELECT device, blamed, blamed_within, blamed_at, count(*) AS gaps, sum(host_ns) AS host_ns FROM "
    "gpu_gaps GROUP BY ALL ORDER BY host_ns DESC LIMIT 8",
)


def look(case: Case) -> Iterator[Claim]:
    """Gaps between kernels, up to the launch of the kernel that ended them."""
    case.devices.need_devices()
    worst = max(case.devices.idle, key=lambda idle: idle.host_ns)
    if worst.host_ns / max(1, worst.span_ns) < _SHARE:
        return
    is_untold = case.devices.foreign and _is_untold(worst)
    yield Claim(
        Sentence(
            f"{case.devices.name(worst.device)} was idle for {100 * worst.idle_ns / max(1, worst.span_ns):.0f} % of "
            f"the {duration(worst.span_ns)} that were traced of it, {duration(worst.host_ns)} because the host had "
            f"launched nothing{_meanwhile(case, worst)}. As far as no other finding explains it:"
        ),
        case.devices.takes(case.available, case.gap_causes.rest_ns, case.devices.leaves(*IDLE_PARTS)),
        [_GAPS],
        _RECORD if is_untold else _LOOK,
        title=_UNTOLD if is_untold else None,
        support=Support(Ground.PLACE, part=worst.host_ns / max(1, worst.span_ns), usual=_SHARE / 2),
    )


def _is_untold(idle: GpuIdle) -> bool:
    """Whether nothing was recorded of the host in most of the time in which it had launched nothing."""
    return sum(doing.ns for doing in idle.host_doings if doing.name is not None) < idle.host_ns / 2


def _meanwhile(case: Case, idle: GpuIdle) -> str:
    """What the host did most of the time, but for what another finding tells."""
    doings = [doing for doing in idle.host_doings if doing.name not in case.gap_causes.allocation]
    if not doings:
        return ""
    first = doings[0]
    if first.name is None:
        return f" (of {duration(first.ns)} nothing of the host was recorded)"
    within = f" in {first.within}" if first.within else ""
    at = f", at {first.at}" if first.at else ""
    return f" (longest during {first.name}{within}{at}: {duration(first.ns)})"
