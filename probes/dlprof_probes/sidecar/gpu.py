"""Samples NVIDIA GPUs through NVML (nvidia-ml-py).

Every metric stands on its own: one that a card does not support is left out for that card, with the
reason in the trailer, and the others go on.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dlprof_probes.sidecar.jsonl import FLUSH_NS, Writer, anchor
from dlprof_probes.sidecar.unavailable import Unavailable

FORMAT = "dlprof.gpu/1"
SLOW_NS = 1_000_000_000
COLUMNS = (
    "utilisation_pct",
    "memory_utilisation_pct",
    "memory_used_bytes",
    "memory_total_bytes",
    "power_w",
    "temperature_c",
    "sm_clock_mhz",
    "memory_clock_mhz",
    "throttle_reasons",
    "pcie_tx_kb_per_s",
    "pcie_rx_kb_per_s",
    "process_memory_bytes",
)
_SLOW = frozenset({"pcie_tx_kb_per_s", "pcie_rx_kb_per_s", "process_memory_bytes"})
"""Read once a second: a PCIe counter takes 20 ms of waiting, the list of processes is long."""


_LIBRARY = "libnvidia-ml.so.1"
_NO_DRIVER = f"no NVIDIA driver is installed ({_LIBRARY} was not found)"


class Gpu:
    """Writes `gpu.jsonl`: rows `[time_ns, gpu, value per column]`, null where there is none."""

    def __init__(self, raw: Path, tree: Callable[[], list[int]], flush_ns: int = FLUSH_NS) -> None:
        self._nvml = _open()
        self._handles = [self._nvml.nvmlDeviceGetHandleByIndex(i) for i in range(self._nvml.nvmlDeviceGetCount())]
        if not self._handles:
            raise Unavailable("NVML works, but there is no GPU")
        self._tree = tree
        self._next_slow = 0
        self._given_up: dict[tuple[int, str], str] = {}
        self._readers = self._make_readers()
        self.writer = Writer(raw / "gpu.jsonl", self._header(), flush_ns)

    def _header(self) -> dict[str, Any]:
        ask = self._nvml
        return {
            "format": FORMAT,
            "anchor": anchor(),
            "columns": COLUMNS,
            "driver": _text(_or_none(ask.nvmlSystemGetDriverVersion)),
            "gpus": [
                {
                    "name": _text(_or_none(ask.nvmlDeviceGetName, handle)),
                    "uuid": _text(_or_none(ask.nvmlDeviceGetUUID, handle)),
                }
                for handle in self._handles
            ],
        }

    def _make_readers(self) -> dict[str, Callable[[Any], float | int | None]]:
        ask = self._nvml
        reasons = getattr(ask, "nvmlDeviceGetCurrentClocksEventReasons", None)
        reasons = reasons or ask.nvmlDeviceGetCurrentClocksThrottleReasons
        return {
            "utilisation_pct": lambda h: ask.nvmlDeviceGetUtilizationRates(h).gpu,
            "memory_utilisation_pct": lambda h: ask.nvmlDeviceGetUtilizationRates(h).memory,
            "memory_used_bytes": lambda h: ask.nvmlDeviceGetMemoryInfo(h).used,
            "memory_total_bytes": lambda h: ask.nvmlDeviceGetMemoryInfo(h).total,
            "power_w": lambda h: ask.nvmlDeviceGetPowerUsage(h) / 1000,
            "temperature_c": lambda h: ask.nvmlDeviceGetTemperature(h, ask.NVML_TEMPERATURE_GPU),
            "sm_clock_mhz": lambda h: ask.nvmlDeviceGetClockInfo(h, ask.NVML_CLOCK_SM),
            "memory_clock_mhz": lambda h: ask.nvmlDeviceGetClockInfo(h, ask.NVML_CLOCK_MEM),
            "throttle_reasons": reasons,
            "pcie_tx_kb_per_s": lambda h: ask.nvmlDeviceGetPcieThroughput(h, ask.NVML_PCIE_UTIL_TX_BYTES),
            "pcie_rx_kb_per_s": lambda h: ask.nvmlDeviceGetPcieThroughput(h, ask.NVML_PCIE_UTIL_RX_BYTES),
            "process_memory_bytes": self._process_memory,
        }

    def _process_memory(self, handle: Any) -> int | None:
        mine = set(self._tree())
        used = [p.usedGpuMemory for p in self._nvml.nvmlDeviceGetComputeRunningProcesses(handle) if p.pid in mine]
        return sum(value for value in used if value is not None) if used else None

    def sample(self) -> None:
        """Take one sample of every GPU."""
        slow = time.perf_counter_ns() >= self._next_slow
        if slow:
            self._next_slow = time.perf_counter_ns() + SLOW_NS
        for index, handle in enumerate(self._handles):
            now = time.perf_counter_ns()
            values = [self._value(index, handle, name) if slow or name not in _SLOW else None for name in COLUMNS]
            self.writer.row([now, index, *values])

    def _value(self, index: int, handle: Any, name: str) -> float | int | None:
        if (index, name) in self._given_up:
            return None
        try:
            return self._readers[name](handle)
        except self._nvml.NVMLError as error:
            if error.value in (self._nvml.NVML_ERROR_NOT_SUPPORTED, self._nvml.NVML_ERROR_FUNCTION_NOT_FOUND):
                self._given_up[index, name] = str(error)
            return None

    def trailer(self) -> dict[str, Any]:
        """What could not be measured, and why."""
        missing = [{"gpu": gpu, "metric": name, "reason": why} for (gpu, name), why in self._given_up.items()]
        return {"missing": missing}


def cards() -> list[dict[str, Any]]:
    """Name and compute capability (major, minor; None where it is not told) of every GPU.

    Raises:
        Unavailable: There is none that could be asked.
    """
    nvml = _open()
    handles = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]
    if not handles:
        raise Unavailable("NVML works, but there is no GPU")
    described = []
    for handle in handles:
        capability = _or_none(nvml.nvmlDeviceGetCudaComputeCapability, handle)
        described.append(
            {
                "name": _text(_or_none(nvml.nvmlDeviceGetName, handle)),
                "capability": tuple(capability) if capability else None,
            }
        )
    return described


def _open() -> Any:
    """The module pynvml, initialised.

    Raises:
        Unavailable: No library, driver or permission.
    """
    if not _has_library():
        raise Unavailable(_NO_DRIVER)
    try:
        import pynvml  # noqa: PLC0415  (a machine without it must still have its cores sampled)
    except ImportError as error:
        raise Unavailable(f"nvidia-ml-py is not installed ({error})") from error
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise Unavailable(_explain(pynvml, error)) from error
    return pynvml


def _has_library() -> bool:
    """Whether there is what pynvml looks for; to load pynvml only to be told so takes longer than all the rest."""
    if "pynvml" in sys.modules:
        return True
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    return True


def _explain(pynvml: Any, error: Any) -> str:
    if error.value == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND:
        return _NO_DRIVER
    if error.value == pynvml.NVML_ERROR_DRIVER_NOT_LOADED:
        return "the NVIDIA driver is installed but not loaded"
    return f"NVML says: {error}"


def _or_none(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception:  # noqa: BLE001  (names are a courtesy; their lack is no failure)
        return None


def _text(value: Any) -> str | None:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
