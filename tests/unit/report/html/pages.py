"""Pages of literal runs, and what stands in them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from dlprof.analysis import compare, line_pairs
from dlprof.analysis.compare import Side
from dlprof.analysis.findings import diagnose
from dlprof.analysis.turned import turned
from dlprof.report.html import comparison_page, run_page
from dlprof.store.run import Run
from tests.unit.runs import S, manifest, span, trained, window

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "\x1b[2J\x07bell",
    "{{ 7 * 7 }}",
    "日本語 ünï \u202e reversed",
    "x" * 10_000,
]


class Elements(HTMLParser):
    """Elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def embedded(text: str, name: str) -> Any:
    """JSON that the page carries under a name."""
    found = re.search(rf'<script type="application/json" id="{re.escape(name)}">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def unpacked(text: str) -> tuple[dict[str, Any], bytes]:
    """Header and columns of what the page packed."""
    found = re.search(r'<script type="text/plain" id="packed">(.*?)</script>', text, re.DOTALL)
    assert found
    return header(found[1])


def header(text: str) -> tuple[dict[str, Any], bytes]:
    """The same of the packed text alone."""
    whole = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(whole[:4], "little")
    return json.loads(whole[4 : 4 + length]), whole[4 + length :]


def column(content: dict[str, Any], columns: bytes, number: int) -> list[float]:
    """A column, as the page's script reads it."""
    offset, count, kind = content["columns"][number]
    if kind == "f":
        return [float(value) for value in np.frombuffer(columns, "<f4", count, offset)]
    values, at, before = [], offset, 0
    for _ in range(count):
        value = shift = 0
        while True:
            byte = columns[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        before = before + value if kind == "d" else value
        values.append(float(before))
    return values


def page_of(run: Run) -> str:
    """The page of a run, with its diagnosis."""
    return run_page.make(run, diagnose.diagnose(run))


def page_of_both(a: Run, b: Run) -> str:
    """The page of a comparison of two runs."""
    found = compare.compare(Side("a", (a,)), Side("b", (b,)))
    return comparison_page.make(
        found, line_pairs.join((a,), (b,)), diagnose.diagnose_gap(found), of_b=diagnose.diagnose_gap(turned(found))
    )


def named(path: Path, name: str) -> Run:
    """A run in which everything that has a name has this one."""
    kernels = window([{"op": name, "category": name[:50], "layer": name, "direction": "forward", "ms": 15}])
    lines = [
        {"file": name, "function": name, "first_line": 1, "line": n, "hits": 1, "time_ns": S, "source": name}
        for n in (1, 2)
    ]
    frames = [{"stack_id": 1, "depth": 0, "function": name, "file": name, "line": 1}]
    stacks = [{"thread_id": 1, "thread": name, "start_ns": 3 * S, "dur_ns": S, "stack_id": 1}]
    metrics = [{"loop_id": 1, "epoch": 0, "step": None, "name": name, "value": 1.0, "time_ns": 0}]
    epochs = [{"loop_id": 1, "epoch": 0, "start_ns": 2 * S, "dur_ns": S, "steps": 250}]
    probes = [{"name": "lines", "state": "failed", "reason": name, "cost_ns": None, "cost_source": None}]
    health = [{"slug": "odd", "severity": "warning", "message": name, "count": 1}]
    made = span("construct", 1, 2, span_id=3, name=name, file=name, line=1, detail=json.dumps({"layer": name}))
    told = manifest(command={"script": f"{name}.py", "module": None, "program": None, "argv": [name]})
    changes: dict[str, Any] = {
        **kernels,
        "lines": lines,
        "frames": frames,
        "stacks": stacks,
        "metrics": metrics,
        "epochs": epochs,
        "probes": probes,
        "health": health,
        "spans": [*trained(path.with_name("s")).rows("spans"), made],
    }
    return trained(path.with_name("named"), told, **changes)
