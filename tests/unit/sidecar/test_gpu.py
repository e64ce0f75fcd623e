"""Samples of GPUs, over a stand-in for NVML: what a card does not support is left out for that card."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.sidecar import gpu
from dlprof_probes.sidecar.unavailable import Unavailable

NOT_SUPPORTED, NOT_FOUND, GONE = 3, 13, 15


class NVMLError(Exception):
    """As that of pynvml."""

    def __init__(self, value: int) -> None:
        super().__init__(f"error {value}")
        self.value = value


class NVML(ModuleType):
    """Two cards; the second one tells no power, and its use only now and then."""

    NVMLError = NVMLError
    NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_FUNCTION_NOT_FOUND = NOT_SUPPORTED, NOT_FOUND
    NVML_ERROR_LIBRARY_NOT_FOUND, NVML_ERROR_DRIVER_NOT_LOADED = 12, 9
    NVML_TEMPERATURE_GPU, NVML_CLOCK_SM, NVML_CLOCK_MEM = 0, 1, 2
    NVML_PCIE_UTIL_TX_BYTES, NVML_PCIE_UTIL_RX_BYTES = 0, 1

    def __init__(self, cards: int = 2, init: int | None = None) -> None:
        super().__init__("pynvml")
        self.cards = cards
        self.asked_power = 0
        self._init = init

    def nvmlInit(self) -> None:
        if self._init is not None:
            raise NVMLError(self._init)

    def nvmlDeviceGetCount(self) -> int:
        return self.cards

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlSystemGetDriverVersion(self) -> bytes:
        return b"550.1"

    def nvmlDeviceGetName(self, handle: int) -> str:
        return f"card {handle}"

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        if handle:
            raise NVMLError(GONE)
        return "GPU-0"

    def nvmlDeviceGetCudaComputeCapability(self, handle: int) -> list[int]:
        if handle:
            raise NVMLError(NOT_SUPPORTED)
        return [9, 0]

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> Any:
        if handle:
            raise NVMLError(GONE)
        return SimpleNamespace(gpu=80, memory=40)

    def nvmlDeviceGetMemoryInfo(self, _handle: int) -> Any:
        return SimpleNamespace(used=1000, total=4000)

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:
        if handle:
            self.asked_power += 1
            raise NVMLError(NOT_SUPPORTED)
        return 250_500

    def nvmlDeviceGetTemperature(self, _handle: int, _sensor: int) -> int:
        return 61

    def nvmlDeviceGetClockInfo(self, _handle: int, clock: int) -> int:
        return 1000 * clock

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _handle: int) -> int:
        return 4

    def nvmlDeviceGetPcieThroughput(self, _handle: int, counter: int) -> int:
        return 100 + counter

    def nvmlDeviceGetComputeRunningProcesses(self, _handle: int) -> list[Any]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in ((1, 9), (42, 500), (43, 30), (44, None))]


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> NVML:
    """NVML of this process."""
    made = NVML()
    monkeypatch.setitem(sys.modules, "pynvml", made)
    return made


def rows(folder: Path) -> list[Any]:
    """What was written."""
    return [json.loads(line) for line in (folder / "gpu.jsonl").read_text().splitlines()]


def values(row: list[Any]) -> dict[str, Any]:
    """A row by name of its columns."""
    return dict(zip(gpu.COLUMNS, row[2:], strict=True))


def test_a_sample_has_a_row_per_card(nvml: NVML, tmp_path: Path) -> None:
    """Each metric in its unit; memory of the traced tree only."""
    sampler = gpu.Gpu(tmp_path, lambda: [42, 43, 44])
    sampler.sample()
    sampler.writer.finish(sampler.trailer())

    header, first, second, trailer = rows(tmp_path)
    assert header["gpus"] == [{"name": "card 0", "uuid": "GPU-0"}, {"name": "card 1", "uuid": None}]
    assert header["driver"] == "550.1"
    assert values(first) == {
        "utilisation_pct": 80, "memory_utilisation_pct": 40, "memory_used_bytes": 1000, "memory_total_bytes": 4000,
        "power_w": 250.5, "temperature_c": 61, "sm_clock_mhz": 1000, "memory_clock_mhz": 2000, "throttle_reasons": 4,
        "pcie_tx_kb_per_s": 100, "pcie_rx_kb_per_s": 101, "process_memory_bytes": 530,
    }  # fmt: skip
    assert (first[1], second[1], values(second)["power_w"], values(second)["temperature_c"]) == (0, 1, None, 61)
    assert trailer["missing"] == [{"gpu": 1, "metric": "power_w", "reason": "error 3"}]


def test_what_a_card_does_not_support_is_asked_once(nvml: NVML, tmp_path: Path) -> None:
    """What fails for another reason is asked again."""
    sampler = gpu.Gpu(tmp_path, list)
    sampler.sample()
    sampler.sample()
    assert nvml.asked_power == 1

    nvml.nvmlDeviceGetUtilizationRates = lambda handle: SimpleNamespace(gpu=7, memory=3)  # type: ignore[method-assign]
    sampler.sample()
    sampler.writer.finish({})
    assert values(rows(tmp_path)[-2])["utilisation_pct"] == 7


def test_slow_metrics_are_read_once_a_second(nvml: NVML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PCIe counter takes 20 ms."""
    clock = SimpleNamespace(ns=5)
    clock.perf_counter_ns = lambda: clock.ns
    monkeypatch.setattr(gpu, "time", clock)
    sampler = gpu.Gpu(tmp_path, list)
    for ns in (5, 6, 1_000_000_004, 1_000_000_005):
        clock.ns = ns
        sampler.sample()
    sampler.writer.finish({})

    found = [values(row)["pcie_tx_kb_per_s"] for row in rows(tmp_path)[1:-1] if row[1] == 0]
    assert found == [100, None, None, 100]


def test_a_tree_that_has_no_gpu_memory_has_none(nvml: NVML, tmp_path: Path) -> None:
    """Not zero: nothing is known of it."""
    sampler = gpu.Gpu(tmp_path, lambda: [7])

    assert sampler._process_memory(0) is None


def test_newer_libraries_tell_reasons_by_another_name(nvml: NVML, tmp_path: Path) -> None:
    """Which is asked where it is there."""
    nvml.nvmlDeviceGetCurrentClocksEventReasons = lambda _handle: 9  # type: ignore[attr-defined]

    assert gpu.Gpu(tmp_path, list)._value(0, 0, "throttle_reasons") == 9


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        (NVML(cards=0), "NVML works, but there is no GPU"),
        (NVML(init=12), r"no NVIDIA driver is installed \(libnvidia-ml.so.1 was not found\)"),
        (NVML(init=9), "the NVIDIA driver is installed but not loaded"),
        (NVML(init=4), "NVML says: error 4"),
        (None, "nvidia-ml-py is not installed"),
    ],
)
def test_why_there_is_no_gpu_to_be_sampled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, library: NVML | None, reason: str
) -> None:
    """In words for the user, from sampling as from asking for the cards."""
    monkeypatch.setitem(sys.modules, "pynvml", library)

    with pytest.raises(Unavailable, match=reason):
        gpu.Gpu(tmp_path, list)
    with pytest.raises(Unavailable, match=reason):
        gpu.cards()
    assert not (tmp_path / "gpu.jsonl").exists()


def test_cards_have_a_name_and_what_they_can(nvml: NVML) -> None:
    """Where it is told."""
    assert gpu.cards() == [{"name": "card 0", "capability": (9, 0)}, {"name": "card 1", "capability": None}]
