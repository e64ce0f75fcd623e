"""What is said of memory of several processes: they may share pages, until one of them writes to these.

Resident memory has such a page in each process, before and after that: a fork that writes to what its parent gave it
grows the memory of the machine, and nothing that is resident.
"""

from __future__ import annotations

from dlprof.analysis import memory_growth
from dlprof.report.memory_json import MemoryReport
from dlprof.units import size

_IN_EACH = " (pages that they share count in each)"
_MORE = 1.05
"""By so much the kernel's figure is above the largest sample, that it is told beside that."""


def _has_several(memory: MemoryReport | None) -> bool:
    return memory is not None and (memory.processes or 0) > 1


def counted(memory: MemoryReport | None) -> str:
    """How pages that several processes share are counted in a peak, in brackets; empty: there is one process."""
    if memory is None or not _has_several(memory):
        return ""
    if memory.pss_bytes is None:
        return _IN_EACH
    return f" (pages that they share count in each; each once: {size(memory.pss_bytes)}, at one of few looks)"


def beside_peak(memory: MemoryReport | None, processes: int) -> str:
    """What a sampled peak does not tell, in brackets: how shared pages count, or what the kernel saw of one process.

    Args:
        memory: What is known of it; None: it was not looked at further.
        processes: How many processes the run had.
    """
    if memory is None and processes > 1:
        return _IN_EACH
    if memory is None or memory.processes != 1 or memory.kernel_peak_bytes is None:
        return counted(memory)
    if memory.kernel_peak_bytes < _MORE * (memory.peak_bytes or 0):
        return ""
    return f" ({size(memory.kernel_peak_bytes)} between samples, or while kernels were traced)"


def growth_verdict(memory: MemoryReport) -> str:
    """What the slope of a run's memory amounts to, in a clause; empty: none was measured."""
    growth = memory.growth
    if growth is None:
        return ""
    told = memory_growth.verdict(growth.is_growing, growth.ci)
    if growth.is_growing or not _has_several(memory):
        return told
    return f"{told} in what the process itself has; pages that those below it stop sharing were not looked at"
