"""Runs that go on, fed with literal records, for tests of what shows them."""

from __future__ import annotations

from typing import Any

from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.records import CoresSample, CoreTicks, LoopLength, Metric, ProcessFacts, ProcessTicks, Span, Step

MS = 1_000_000
S = 1_000_000_000
MAIN = 7
IDLE = (0, 0, 0, 0, 0)


def started() -> LiveRun:
    """A process started at 1 ms, whose probe began at 3 ms and whose script began at 5 ms."""
    live = LiveRun("mlp", "tensorflow", 1 * MS)
    live.process_said(ProcessFacts(main_thread=MAIN, boot_ns=3 * MS))
    live.begin(Span(1, "script", "script", MAIN), 5 * MS)
    return live


def step(begin: int, end: int, *, loop: int = 2, number: int = 0, first: bool = False, **parts: int) -> Step:
    """A step from `begin` to `end` (ms) of epoch 0; `parts` in ms too."""
    taken: dict[str, Any] = {f"{name}_ns": ms * MS for name, ms in parts.items()}
    return Step(MAIN, loop, 0, number, 1, begin * MS, end * MS, 0, 0, 0, 0, first)._replace(**taken)


def cores(time_ns: int, ticks: list[tuple[int, ...]], *processes: tuple[int, int, int]) -> CoresSample:
    """A sample of cores (user, system, iowait, steal, idle) and processes (pid, CPU ticks, pages)."""
    return CoresSample(time_ns, tuple(CoreTicks(*core) for core in ticks), tuple(ProcessTicks(*p) for p in processes))


def training(label: str = "mlp", metric: str = "loss") -> LiveRun:
    """At 5.4 s in the second epoch of three, an outlier among the steps; two cores, no GPU, py-spy killed."""
    live = LiveRun(label, "tensorflow", 0)
    live.pid = 4242
    live.process_said(ProcessFacts(main_thread=MAIN, boot_ns=30 * MS))
    live.begin(Span(1, "script", "script", MAIN), 100 * MS)
    live.begin(Span(2, "import", "keras", MAIN), 100 * MS)
    live.end(2, 4_100 * MS)
    live.begin(Span(3, "fit", "fit", MAIN), 4_200 * MS)
    live.expect(3, LoopLength(epochs=3, steps=64))
    live.begin(Span(4, "epoch", "1", MAIN), 4_300 * MS)
    for number in range(40):
        begin = (5_000 + 10 * number) * MS
        took = 45 * MS if number == 20 else 5 * MS
        live.step(Step(MAIN, 3, 1, number, 1, begin, begin + took, 0, 0, 0, 0, False))
    live.metric(metric, Metric(0.123456, 1, 39))
    live.metric("accuracy", Metric(0.9, 0, None))
    live.machine.units(4096, 100)
    live.machine.cores_sample(cores(0, [IDLE, IDLE], (4242, 0, 100_000)))
    live.machine.cores_sample(cores(S, [(80, 10, 0, 0, 10), (5, 5, 0, 0, 90)], (4242, 95, 150_000)))
    live.machine.available_bytes = 16_000_000_000
    live.probe_said("gpu", ProbeStatus("unavailable", "no NVIDIA driver is installed"))
    live.probe_said("stacks", ProbeStatus("failed", "py-spy was killed"))
    return live
