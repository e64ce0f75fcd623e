"""Pages in a real browser: what they show, say and ask for; and runs that have something to show."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlprof.store.run import Run
from tests.unit.runs import MS, S, intervals, losses, make, manifest, span, steps, trained, window


@dataclass
class Shown:
    """A page in the browser, and what it did."""

    page: Any
    said: list[str] = field(default_factory=list)
    asked_for: list[str] = field(default_factory=list)

    def refuse(self, dialog: Any) -> None:
        """Note that a script of somebody's opened a dialog."""
        self.said.append("a dialog")
        dialog.dismiss()

    def text(self, selector: str) -> str:
        """Text of an element."""
        return str(self.page.locator(selector).first.inner_text())

    def window(self, number: int = 0) -> tuple[float, float]:
        """Begin and end of what a time line shows (ns)."""
        line = f"dlprofPage.timelines[{number}]"
        return tuple(self.page.evaluate(f"[{line}.from, {line}.to]"))

    def settle(self) -> None:
        """Wait for what a key or a click does: timers of the page that are due by then, and two frames after them."""
        self.page.wait_for_timeout(150)
        self.page.evaluate(
            "() => new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 0))"
        )

    def until(self, condition: str) -> None:
        """Wait for what the browser does by itself when it comes to it, such as scrolling (an expression, half a minute)."""
        for _ in range(600):  # Playwright's own way of waiting is `eval`, which the pages forbid
            if self.page.evaluate(condition):
                self.settle()
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(condition)


def show(browser: Any, folder: Path, text: str, **options: Any) -> Shown:
    """Open a page and wait for its charts."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    shown = Shown(browser.new_page(viewport={"width": 1280, "height": 900}, **options))
    shown.page.on("console", lambda message: shown.said.append(f"{message.type}: {message.text}"))
    shown.page.on("pageerror", lambda error: shown.said.append(str(error)))
    shown.page.on("dialog", shown.refuse)
    shown.page.on("request", lambda request: shown.asked_for.append(request.url))
    shown.page.goto(path.as_uri())
    shown.page.wait_for_selector("html[data-ready]", state="attached")
    return shown


def rich(path: Path, scale: float = 1.0) -> Run:
    """A run with everything that a page shows; its kernels take `scale` times as long."""
    kernels = window(
        [
            {"op": "conv2d", "category": "conv", "layer": "conv_1", "direction": "forward", "ms": 9 * scale},
            {"op": "gemm", "category": "matmul", "layer": "dense_1", "direction": "backward", "ms": 6},
        ]
    )
    lines = [{"file": "train.py", "function": "<module>", "first_line": 1, "line": n, "hits": 1,
              "time_ns": n * S if n < 8 else 1000, "source": f"x{n} = {n}"} for n in range(1, 41)]  # fmt: skip
    frames = [
        {"stack_id": 1, "depth": depth, "function": function, "file": file, "line": 7}
        for depth, (function, file) in enumerate(
            [("<module>", "train.py"), ("work", "train.py"), ("fit", "keras/a.py"), ("call", "keras/b.py")]
        )
    ]
    stacks = [{"thread_id": 1, "thread": "MainThread", "start_ns": 3 * S, "dur_ns": 4 * S, "stack_id": 1}]
    cores = [
        {"time_ns": n * S, "interval_ns": S, "core": core, "busy_pct": 50.0 * core}
        for n in range(1, 11)
        for core in (0, 1)
    ]
    gpu = [{"time_ns": n * S, "gpu": 0, "utilisation_pct": 10.0 * n, "memory_used_bytes": 10**9} for n in range(1, 10)]
    memory = [{"time_ns": n * S, "interval_ns": S, "rss_bytes": 10**8 * n, "cpu_pct": 90.0} for n in range(1, 10)]
    made = span("construct", 1, 2, span_id=3, line=2, detail=json.dumps({"layer": "conv_1"}))
    slow = steps(250)
    slow[100]["dur_ns"] = 90 * MS
    slow[0]["compiled"] = slow[0]["first"] = True
    return trained(
        path, **kernels, lines=lines, frames=frames, stacks=stacks, cores=cores, gpu=gpu, process_samples=memory,
        spans=[*trained(path.with_name(f"{path.name}-plain")).rows("spans"), made], steps=slow, metrics=losses(1.0, 0.5),
        epochs=[{"loop_id": 1, "epoch": 0, "start_ns": 2 * S, "dur_ns": 5 * S, "steps": 250}],
        phase_intervals=intervals(("import", 0, 2), ("fit.steps", 2, 7), ("fit.callbacks", 7, 8), ("teardown", 8, 10)),
    )  # fmt: skip


def launched(path: Path) -> Run:
    """An imported trace: ten launches by `aten::mm`, each of a kernel that begins 4 ms later, and a host that waits."""
    ops = [
        {"op_id": 0, "kind": "operator", "name": "aten::mm", "op": "aten::mm", "category": "matmul"},
        {"op_id": 1, "kind": "runtime", "name": "cudaLaunchKernel", "op": None, "category": "other"},
        {"op_id": 2, "kind": "kernel", "name": "sgemm", "op": "aten::mm", "category": "matmul"},
    ]
    events = []
    for n in range(10):
        at = n * 20 * MS
        events += [
            _event(0, -1, "thread 1", at, 10 * MS, nested_ns=2 * MS),
            _event(1, -1, "thread 1", at + MS, 2 * MS),
            _event(2, 0, "stream 7", at + 5 * MS, 8 * MS, delay_ns=4 * MS),
        ]
    told = manifest(state="imported", process={"pid": None, "exit_code": None, "signal": None, "wall_ns": 200 * MS})
    return make(path, told, kernel_ops=ops, kernel_events=events)


def _event(op: int, device: int, lane: str, start_ns: int, dur_ns: int, **more: int) -> dict[str, Any]:
    return {
        "op_id": op, "device": device, "lane": lane, "start_ns": start_ns, "dur_ns": dur_ns,
        "nested_ns": 0, "window": 0, **more,
    }  # fmt: skip
