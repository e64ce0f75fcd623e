"""The last samples of cores, processes, memory and GPUs of a run that goes on."""

from __future__ import annotations

from dataclasses import asdict, replace

from dlprof.live.records import CoresSample, CoreTicks, GpuFigures


class Machine:
    """What the samplers beside the traced process say.

    Attributes:
        busy_pct: Per core; None before there are two samples.
        cpu_pct: Of the traced process tree, in percent of one core.
        rss_bytes: Resident memory of the traced process tree.
        peak_rss_bytes: The most of it in any sample so far.
        available_bytes: Memory of the machine that is free for use.
        gpus: Figures of each GPU, by its number; what a sample does not have keeps its last value.
        gpu_names: Names by number; None: not told.
    """

    def __init__(self) -> None:
        self.busy_pct: tuple[float, ...] | None = None
        self.cpu_pct: float | None = None
        self.rss_bytes: int | None = None
        self.peak_rss_bytes: int | None = None
        self.available_bytes: int | None = None
        self.gpus: dict[int, GpuFigures] = {}
        self.gpu_names: tuple[str | None, ...] = ()
        self._page_bytes, self._ticks_per_s = 4096, 100
        self._before: CoresSample | None = None

    def units(self, page_bytes: int, ticks_per_s: int) -> None:
        """In which units the samples of cores are."""
        self._page_bytes, self._ticks_per_s = page_bytes, ticks_per_s

    def cores_sample(self, sample: CoresSample) -> None:
        """Take a sample; figures of use are those since the sample before."""
        before = self._before
        if before is not None and sample.time_ns > before.time_ns:
            pairs = list(zip(before.cores, sample.cores, strict=False))
            if any(sum(old) == sum(new) for old, new in pairs):
                return  # the kernel counts in ticks, and has not counted since: that is no 0 %
            self.busy_pct = tuple(_busy_pct(old, new) for old, new in pairs)
            self.cpu_pct = self._cpu_pct(before, sample)
        self._before = sample
        if sample.processes:  # an empty tree is one that has just ended
            self.rss_bytes = sum(process.rss_pages for process in sample.processes) * self._page_bytes
            self.peak_rss_bytes = max(self.rss_bytes, self.peak_rss_bytes or 0) or None

    def _cpu_pct(self, before: CoresSample, sample: CoresSample) -> float | None:
        """CPU time of the tree in percent of one core; a process that is new counts from its first sample."""
        if not sample.processes:
            return None
        ticks = {process.pid: process.cpu_ticks for process in before.processes}
        used = sum(process.cpu_ticks - ticks.get(process.pid, process.cpu_ticks) for process in sample.processes)
        return 100 * used / self._ticks_per_s / ((sample.time_ns - before.time_ns) / 1e9)

    def gpu_sample(self, gpu: int, figures: GpuFigures) -> None:
        """Take a sample of a GPU; what is read less often, or not told, keeps its last value."""
        measured = {name: value for name, value in asdict(figures).items() if value is not None}
        self.gpus[gpu] = replace(self.gpus.get(gpu, GpuFigures()), **measured)


def _busy_pct(before: CoreTicks, after: CoreTicks) -> float:
    """Share of a core's time that was neither idle nor waiting for a disk."""
    user, system, _iowait, steal, _idle = delta = [b - a for a, b in zip(before, after, strict=True)]
    return 100 * (user + system + steal) / sum(delta)
