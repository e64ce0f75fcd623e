"""What dlprof's hooks record of Chainer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlprof.analysis import kernels
from dlprof.ingest.formats import registry as formats
from dlprof.pipeline import importing
from dlprof.store.run import Run


def imported(path: Path) -> Run:
    """A run made of a file."""
    return importing.import_files([path], path.parent / "run", reader=None, report=lambda _line: None)


def test_functions_of_chainer_have_link_and_pass(tmp_path: Path) -> None:
    """What the update of a parameter does is the optimiser's."""

    def event(name: str, ts: float, dur: float, link: str, direction: str) -> dict[str, Any]:
        told = {"name": link, "op": direction}
        return {"name": name, "cat": "chainer", "ph": "X", "ts": ts, "dur": dur, "pid": 1, "tid": 7, "args": told}

    path = tmp_path / "trace.json"
    path.write_text(
        json.dumps(
            {
                "traceEvents": [
                    event("LinearFunction", 10, 5, "dense_1", "forward"),
                    event("LinearGradWeight", 22, 3, "dense_1", "backward"),
                    event("LinearFunction", 20, 7, "dense_1", "backward"),
                    event("RMSpropRule", 30, 2, "", "update"),
                ]
            }
        )
    )

    assert formats.find(path).name == "chainer"
    run = imported(path)

    found = [
        (r.keys["layer"], r.keys["direction"], r.keys["op"], r.total_ns) for r in kernels.summarise(run, "layer").rows
    ]
    assert sorted(found) == [
        ("dense_1", "backward", "LinearFunction", 4000),
        ("dense_1", "backward", "LinearGradWeight", 3000),
        ("dense_1", "forward", "LinearFunction", 5000),
        ("optimizer", "update", "RMSpropRule", 2000),
    ]
