"""The page of a run with a million kernel events: its size, its first paint, and the longest stall while it is used."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dlprof.report.html import run_page
from dlprof.schema.tables import TABLES
from dlprof.store.run import Run
from dlprof.store.writer import write_tables
from tests.unit import runs
from tests.unit.runs import S

EVENTS = 1_000_000
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
_WATCH = """
window.stalls = [];
new PerformanceObserver(list => list.getEntries().forEach(one => window.stalls.push(one.duration)))
  .observe({entryTypes: ['longtask']});
"""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    """Print a line of figures."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("no Chromium is installed (apt-get install chromium)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        start = time.perf_counter()
        path = Path(folder) / "page.html"
        path.write_text(run_page.make(large(Path(folder) / "run"), None, "it is a benchmark"), encoding="utf-8")
        made_s = time.perf_counter() - start
        browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        shown = browser.new_page(viewport={"width": 1280, "height": 900})
        shown.add_init_script(_WATCH)
        shown.goto(path.as_uri())
        shown.wait_for_selector("html[data-ready]", state="attached")
        loading = shown.evaluate("window.stalls.splice(0)")
        use(shown)
        using = shown.evaluate("window.stalls")
        print(
            f"pages    {EVENTS:,} events: {path.stat().st_size / 1e6:.2f} MB, made in {made_s:.1f} s; first paint "
            f"{shown.evaluate(_PAINT):.0f} ms; longest task {max(loading, default=0):.0f} ms while loading, "
            f"{max(using, default=0):.0f} ms while used (tasks below 50 ms are not seen)",
            flush=True,
        )


def use(shown: Any) -> None:
    """Zoom, pan, drag and search, as a reader does."""
    chart = shown.locator(".timeline .chart")
    chart.scroll_into_view_if_needed()
    chart.focus()
    box = chart.bounding_box()
    for key in ["+"] * 8 + ["ArrowRight"] * 4 + ["-"] * 4 + ["+"] * 6 + ["0"]:
        shown.keyboard.press(key)
        shown.wait_for_timeout(50)
    shown.mouse.move(box["x"] + 600, box["y"] + 60)
    shown.keyboard.down("Control")
    for delta in [-200] * 15 + [200] * 10:
        shown.mouse.wheel(0, delta)
        shown.wait_for_timeout(40)
    shown.keyboard.up("Control")
    shown.mouse.down()
    for moved in range(20):
        shown.mouse.move(box["x"] + 600 - 10 * moved, box["y"] + 60)
    shown.mouse.up()
    shown.locator(".timeline .search").type("kernel_7", delay=40)
    for _ in range(4):
        shown.keyboard.press("Enter")
        shown.wait_for_timeout(150)


def large(path: Path) -> Run:
    """A run with kernels on two streams whose times no compression can foresee."""
    draw = np.random.default_rng(1)
    gap = draw.exponential(9000, EVENTS).astype(np.int64) + 2
    ops = [
        {
            "op_id": n,
            "kind": "kernel",
            "name": f"kernel_{n}",
            "op": f"op{n % 40}",
            "layer": f"layer_{n % 50}",
            "category": ("conv", "matmul", "elementwise")[n % 3],
            "direction": ("forward", "backward")[n % 2],
        }
        for n in range(400)
    ]
    columns = {
        "op_id": draw.integers(0, 400, EVENTS),
        "device": np.zeros(EVENTS, np.int16),
        "lane": np.asarray(["stream 7", "stream 13"])[draw.integers(0, 2, EVENTS)],
        "start_ns": 2 * S + np.cumsum(gap),
        "dur_ns": np.minimum(gap - 1, draw.exponential(6000, EVENTS).astype(np.int64) + 1),
        "nested_ns": np.zeros(EVENTS, np.int64),
        "window": np.zeros(EVENTS, np.int16),
    }
    schema = TABLES["kernel_events"]
    arrays = [
        pa.array(columns[one.name]).cast(one.type) if one.name in columns else pa.nulls(EVENTS, one.type)
        for one in schema
    ]
    run = runs.trained(path)
    write_tables(
        run.folder.tables,
        {"kernel_events": pa.table(arrays, schema=schema), "kernel_ops": runs.table("kernel_ops", ops)},
    )
    return run
