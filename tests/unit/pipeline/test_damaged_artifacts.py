"""Any raw file may be damaged, empty or gone: the run opens, and it is said what was lost."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dlprof.pipeline import sound_tables
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Probe
from tests.unit import raw_runs
from tests.unit.raw_runs import MAIN, ORIGIN, S

PROBES = {
    "inproc.wire": "phases",
    "cores.jsonl": "cores",
    "gpu.jsonl": "gpu",
    "lines.json": "lines",
    "stacks-000.json": "stacks",
}
WINDOW = "kernels/window-000.json"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with an artifact of each kind."""
    probes = tuple(Probe(name=name) for name in ("phases", "lines", "stacks", "kernels", "cores", "gpu"))
    folder = raw_runs.make(tmp_path_factory.mktemp("whole") / "run", raw_runs.manifest(probes=probes))
    for name, content in artifacts():
        path = folder.raw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in content))
    assert [row["slug"] for row in sound_tables.stored(folder).rows("health")] == []
    shutil.rmtree(folder.tables)
    folder.write_manifest(raw_runs.manifest(probes=probes))
    return folder.path


def artifacts() -> Iterator[tuple[str, list[object]]]:
    """Small ones, line by line."""
    head = {"format": "dlprof.gpu/1", "columns": ["utilisation_pct"], "gpus": [{"name": "X", "uuid": "u"}]}
    yield "gpu.jsonl", [head, [ORIGIN + S, 0, 50.0], {"end": True, "rows": 1, "missing": []}]
    function = {"file": "/nowhere/train.py", "function": "f", "first_line": 1, "lines": [[1, 2, 3]]}
    yield "lines.json", [{"format": "dlprof.lines/1", "unit_ns": 1.0, "functions": [function], "on_threads": True}]
    anchor = {"before_ns": ORIGIN, "after_ns": ORIGIN + 1, "rate_hz": 20, "samples": 40, "errors": 0, "reason": None}
    yield "stacks-000.anchor.json", [anchor]
    event = {"pid": 42, "tid": MAIN, "name": "f", "args": {"filename": "/nowhere/train.py", "line": 1}}
    yield "stacks-000.json", [[{**event, "ts": 0, "ph": "B"}, {**event, "ts": 2e6, "ph": "E"}]]
    trace = {"traceEvents": [], "otherData": {"version": "x"}}
    yield "kernels/window-000/profile.json", [trace]
    window = {
        "engine": "mxnet",
        "files": ["window-000/profile.json"],
        "begin_ns": ORIGIN + 3 * S,
        "end_ns": ORIGIN + 4 * S,
    }
    yield WINDOW, [{**window, "loop": "fit", "loop_id": 3, "steps": 10, "start_cost_ns": 1, "stop_cost_ns": 1}]


def damaged(whole: Path, place: Path, name: str, how: str, seed: int = 0) -> RunDir:
    """A copy of the run with that file damaged."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(whole, place)
    path = place / "raw" / name
    content = bytearray(path.read_bytes())
    if how == "gone":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(content[: len(content) // 3])
    else:
        rng = random.Random(seed)
        for _ in range(1 + seed % 5):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content)
    return RunDir(place)


@pytest.mark.parametrize("how", ["gone", "empty", "cut"])
@pytest.mark.parametrize("name", PROBES)
def test_what_was_lost_is_said_of_its_probe(whole: Path, tmp_path: Path, name: str, how: str) -> None:
    """Once in the health section, with the same reason in the ledger; the other probes are as they were."""
    run = sound_tables.stored(damaged(whole, tmp_path / "run", name, how))

    rows = {row["name"]: row for row in run.rows("probes")}
    reason = rows[PROBES[name]]["reason"]
    assert reason
    warned = [row["message"] for row in run.rows("health") if row["severity"] != "info"]
    assert len([message for message in warned if f"because {reason}" in message]) == 1
    others = [
        row for row in rows.values() if row["name"] not in (PROBES[name], "lines" if name == "inproc.wire" else "")
    ]
    assert [row["reason"] for row in others if row["name"] != "kernels"] == [None] * (len(others) - 1)


@pytest.mark.parametrize("how", ["empty", "cut", "flipped"])
def test_a_damaged_window_is_a_sentence(whole: Path, tmp_path: Path, how: str) -> None:
    """Without the name of an exception's class where its reader knows what is wrong."""
    for name in (WINDOW, "kernels/window-000/profile.json"):
        run = sound_tables.stored(damaged(whole, tmp_path / "run", name, how))

        assert run.count("steps") == 55
        messages = " ".join(row["message"] for row in run.rows("health"))
        assert "by a bug" not in messages


@pytest.mark.slow
def test_nothing_in_an_artifact_makes_a_run_unopenable(whole: Path, tmp_path: Path) -> None:
    """Some bytes of each are others."""
    for seed in range(4):
        for name, _ in [*artifacts(), ("cores.jsonl", 0), ("inproc.wire", 0)]:
            run = sound_tables.stored(damaged(whole, tmp_path / "run", name, "flipped", seed))
            assert run.count("phase_intervals")


@pytest.mark.slow
def test_nothing_in_many_artifacts_makes_a_run_unopenable(whole: Path, tmp_path: Path) -> None:
    """The same many times."""
    for seed in range(50):
        for name, _ in [*artifacts(), ("cores.jsonl", 0), ("inproc.wire", 0)]:
            run = sound_tables.stored(damaged(whole, tmp_path / "run", name, "flipped", seed))
            assert run.count("phase_intervals")
