"""The NVML probe through the real nvidia-ml-py, over a stand-in for the driver's library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration import runner
from tests.integration.terminal import OnTerminal

pytestmark = pytest.mark.integration

SOURCE = Path(__file__).parents[1] / "nvml_stand_in" / "nvml.c"
SCRIPT = """
    import time

    def rows():
        try:
            with open("run/raw/gpu.jsonl") as file:
                return file.read().count("\\n")
        except OSError:
            return 0

    end = time.monotonic() + 60
    while rows() < 4 and time.monotonic() < end:
        time.sleep(0.05)
    print("done")
"""
"""Goes on until the GPUs were sampled, however long that takes on a busy machine."""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the stand-in library."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to build the stand-in for libnvidia-ml.so.1")
    folder = tmp_path_factory.mktemp("nvml")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(folder / "libnvidia-ml.so.1"), str(SOURCE)], check=True)
    return folder


def test_each_gpu_has_its_series(tmp_path: Path, library: Path) -> None:
    """Utilisation, memory, power, temperature, clocks, PCIe and throttling of both cards."""
    runner.write(tmp_path, "script.py", SCRIPT)

    runner.trace("script.py", cwd=tmp_path, env={"LD_LIBRARY_PATH": str(library)})

    gpus = runner.report(tmp_path)["gpu"]["gpus"]
    first = {**gpus[0], "power_mean_w": round(gpus[0]["power_mean_w"], 3)}
    assert first == {
        "gpu": 0, "name": "Stand-in A", "utilisation_mean_pct": 40.0, "memory_peak_bytes": 250_000_000,
        "memory_total_bytes": 1_000_000_000, "process_memory_peak_bytes": None, "power_mean_w": 123.4,
        "temperature_peak_c": 55.0, "sm_clock_mean_mhz": 1700.0, "memory_clock_mean_mhz": 9500.0,
        "pcie_tx_mean_kb_per_s": 1000.0, "pcie_rx_mean_kb_per_s": 2000.0, "throttled_share": 1.0,
    }  # fmt: skip


def test_a_metric_that_one_card_lacks_costs_only_that_metric(tmp_path: Path, library: Path) -> None:
    """GPU 1 has no power and no throttle reasons: null, with the reason; the rest is there."""
    runner.write(tmp_path, "script.py", SCRIPT)

    runner.trace("script.py", cwd=tmp_path, env={"LD_LIBRARY_PATH": str(library)})

    content = runner.report(tmp_path)
    second = content["gpu"]["gpus"][1]
    assert (second["power_mean_w"], second["throttled_share"], second["utilisation_mean_pct"]) == (None, None, 41.0)
    messages = [entry["message"] for entry in content["health"] if entry["slug"] == "gpu-metric-unsupported"]
    assert messages == [
        "GPU 1: power_w was not measured: Not Supported.",
        "GPU 1: throttle_reasons was not measured: Not Supported.",
    ]


def test_a_driver_that_is_not_loaded_is_the_reason(tmp_path: Path, library: Path) -> None:
    """Not measured, because; and the run is whole."""
    runner.write(tmp_path, "script.py", "print('done')")

    done = runner.trace("script.py", cwd=tmp_path, env={"LD_LIBRARY_PATH": str(library), "NVML_STAND_IN": "not-loaded"})

    assert done.out == "done\n"
    assert runner.report(tmp_path)["gpu"] == {
        "measured": False,
        "reason": "the NVIDIA driver is installed but not loaded",
    }


def test_doctor_names_the_cards(tmp_path: Path, library: Path) -> None:
    """What the driver says of itself."""
    done = runner.run([*runner.DLPROF, "doctor"], cwd=tmp_path, env={"LD_LIBRARY_PATH": str(library)})

    assert "Stand-in A, Stand-in B; driver 999.1; not supported: power_w (GPU 1)" in done.out


def test_gpus_are_on_the_live_screen(tmp_path: Path, library: Path) -> None:
    """Each with what it tells: GPU 1 has no power, and no zero for it."""
    runner.write(tmp_path, "script.py", "import os, time\nwhile not os.path.exists('seen'):\n    time.sleep(0.05)")
    command = [*runner.DLPROF, "trace", "script.py", "--live", "-o", "run", "--no-report"]
    traced = OnTerminal(command, cwd=tmp_path, columns=160, env={"LD_LIBRARY_PATH": str(library)})

    shown = traced.wait_for(lambda text: "GPU 1" in text)
    (tmp_path / "seen").touch()

    assert "GPU 0 Stand-in A  40 %  250 MB of 1.00 GB  123 W  55 C" in shown
    assert "GPU 1 Stand-in B  41 %  250 MB of 1.00 GB  55 C" in shown
    assert traced.end() == 0
