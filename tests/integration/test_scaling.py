"""`dlprof bench` with ranks on real PyTorch, and its ranks gathered again as if they had run on two machines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.integration import runner

pytestmark = [pytest.mark.integration, pytest.mark.measured, pytest.mark.timeout(600)]

SCRIPT = Path(__file__).parents[2] / "scenarios" / "ranks" / "ddp_torch.py"
MATRIX = f"""
repeat = 1
backends = ["native-torch"]
ranks = [1, 2]
[trace]
probes = "phases,cores"
kernels = "off"
[[work]]
script = "{SCRIPT}"
arguments = ["--samples", 4096, "--batch-size", "{{256/ranks}}", "--units", 256]
"""
SHIFT_NS = 1_234_567_890
"""What the clock of the second machine is to show more."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the benchmark was run, with its table in `table.json`."""
    path = tmp_path_factory.mktemp("scaling")
    runner.write(path, "m.toml", MATRIX)
    done = runner.run([*runner.DLPROF, "bench", "m.toml", "-o", "out", "--format", "json"], cwd=path)
    assert done.code == 0, done.err
    (path / "table.json").write_text(done.out)
    return path


def test_each_number_of_ranks_is_a_row_with_its_efficiency(folder: Path) -> None:
    """16 steps of 256 rows in each epoch, alone and shared; what is lost is told by part, and sums up."""
    rows = {row["ranks"]: row for row in json.loads((folder / "table.json").read_text())["rows"]}

    assert sorted(rows) == [1, 2]
    alone, both = rows[1]["median"], rows[2]["median"]
    assert (rows[1]["efficiency"], rows[1]["lost"]) == (1.0, {})
    assert rows[2]["efficiency"] == pytest.approx(alone["train_s"] / 2 / both["train_s"])
    assert rows[2]["lost_s"] == pytest.approx(sum(rows[2]["lost"].values()))
    assert {"input", "wait", "transfer", "work"} <= set(rows[2]["lost"])
    assert both["train_transfer_s"] > 0
    told = runner.report(folder, "out/runs/ddp_torch-native-torch-2-ranks-001")
    assert [(one["rank"], one["steps"]) for one in told["ranks"]] == [(0, 32), (1, 32)]


def test_ranks_of_two_machines_are_gathered_and_their_clocks_compared(folder: Path) -> None:
    """The clock of rank 1 is put forward by a second and more: found again, within the error that is stated."""
    whole = folder / "out/runs/ddp_torch-native-torch-2-ranks-001"
    for rank in (0, 1):
        place = folder / f"node{rank}" / f"rank-{rank:03d}"
        shutil.copytree(whole / place.name, place)
    path = folder / "node1/rank-001/manifest.json"
    path.write_text(json.dumps(_on_another_machine(json.loads(path.read_text()))))

    done = runner.run([*runner.DLPROF, "collect", "node0", "node1", "-o", "gathered"], cwd=folder)

    assert (done.code, done.out) == (0, "gathered\n"), done.err
    told, before = runner.report(folder, "gathered"), runner.report(folder, str(whole))
    clock = told["clock"]
    assert abs(clock["offset_ns"] - SHIFT_NS) <= clock["error_ns"] < 20_000_000
    assert [one["host"] for one in told["ranks"]][1] == "elsewhere"
    for one, other in zip(told["ranks"], before["ranks"], strict=True):
        assert one["median_ns"] == other["median_ns"]
        assert one["collective_wait_ns"] == pytest.approx(other["collective_wait_ns"], abs=clock["error_ns"])


def _on_another_machine(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest of a machine that started at another time, and whose wall clock is wrong."""
    clock = manifest["clock"]
    for anchor in ("anchor_start", "anchor_end"):
        if clock.get(anchor):
            clock[anchor]["perf_ns"] += 10**15
            clock[anchor]["wall_ns"] += SHIFT_NS
    clock["origin_perf_ns"] += 10**15
    if clock.get("origin_wall_ns"):
        clock["origin_wall_ns"] += SHIFT_NS
    manifest["machine"]["host"] = "elsewhere"
    return manifest
