"""A damaged manifest or table is bad data with a sentence, or is read; it is never a bug, and steers nothing.

`DLPROF_MUTATIONS=1500` tries so many of each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import dlprof
from dlprof.errors import DlprofError
from dlprof.store import seal
from tests.hostile import mutations
from tests.unit import runs
from tests.unit.export.run_of_everything import whole

_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SEED = 17
_QUICK, _SLOW = 4, int(os.environ.get("DLPROF_MUTATIONS", "30"))
_COUNTS = (_QUICK, pytest.param(_SLOW, marks=[pytest.mark.slow, pytest.mark.timeout(0)]))


def _commands(run: Path, other: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield "report", run, "--full"
    yield "report", run, "--json"
    yield "lines", run
    yield "kernels", run
    yield "diagnose", run, "--evidence"
    yield "compare", run, other
    yield "view", run, "--no-open"
    yield "sql", run, "SELECT * FROM steps"
    for to in ("json", "tensorboard", "perfetto", "pprof"):
        yield "export", run, "--to", to, "-o", out / to, "--force"


def _bugs(run: Path, other: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What went wrong."""
    found = []
    for words in _commands(run, other, run.parent):
        code = runs.dlprof(*words)
        said = "".join(capsys.readouterr())
        if code == 70 or _STEERING.search(said):
            found.append(f"{words[0]}: {said.strip()[-300:]!r}")
        if code == 4 and words[0] == "report":
            return found
    return [*found, *_bugs_of_notebook(run)]


def _bugs_of_notebook(run: Path) -> list[str]:
    try:
        shown = dlprof.open(str(run))._repr_html_()
    except DlprofError:
        return []
    except Exception as error:  # noqa: BLE001  (that is what is looked for)
        return [f"notebook: {error!r}"]
    return ["notebook: markup"] if "<script>own" in shown else []


@pytest.mark.slow
@pytest.mark.parametrize("count", _COUNTS)
def test_a_changed_manifest_is_no_bug(count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every field, with other types, other numbers, and without."""
    anchor = {"perf_ns": 1, "wall_ns": 2, "width_ns": 1}
    told = runs.manifest(
        probes=[{"name": "phases", "state": "on", "reason": None, "cost_ns": 5, "cost_source": "x"}],
        health=[{"slug": "a", "severity": "warning", "message": "m", "count": 1}],
        gpus=[{"gpu": 0, "name": "x", "uuid": "u", "kind": "gpu"}],
        git={"commit": "abc", "dirty": False},
        cells={"a": "b"},
        recorded=None,
        gpu_tracer={"name": "nsys", "reason": "r"},
        conductor={"pid": 1, "started": 1.0},
        clock={"origin_perf_ns": 0, "origin_wall_ns": 10**18, "anchor_start": anchor, "anchor_end": anchor},
    )
    run = whole(tmp_path / "run", told).folder
    other = whole(tmp_path / "other").folder.path
    found = {}
    for what, made in mutations.manifests(told, count, _SEED):
        run.manifest_path.write_text(json.dumps(made))
        found[what] = _bugs(run.path, other, capsys)

    assert {what: bugs for what, bugs in found.items() if bugs} == {}


@pytest.mark.slow
@pytest.mark.parametrize("count", _COUNTS)
def test_a_changed_table_is_no_bug(count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every column, with other types, without values, and gone."""
    good = whole(tmp_path / "good").folder
    found = {}
    for what, file, table in mutations.tables(good.tables, count, _SEED):
        run = shutil.copytree(good.path, tmp_path / "run", dirs_exist_ok=True)
        pq.write_table(table, run / "tables" / file)
        seal.write(run / "tables")  # as whoever changed it would
        found[what] = _bugs(run, good.path, capsys)

    assert {what: bugs for what, bugs in found.items() if bugs} == {}
