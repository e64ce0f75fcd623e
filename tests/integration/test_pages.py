"""Pages in a real browser: they load nothing, run no one's script, and can be used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dlprof.store.run import Run
from tests.unit.report.html.pages import HOSTILE, embedded, named, page_of, page_of_both
from tests.unit.runs import MS, S, dlprof, intervals, lasting, losses, span, steps, trained, window

pytestmark = pytest.mark.integration

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium of this machine."""
    programs = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program = next((one for one in programs if one), None)
    if program is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=program, args=_FLAGS)
        yield made
        made.close()


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
        """Wait for what a key or a click does."""
        self.page.wait_for_timeout(150)


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
    lines = [{"file": "train.py", "function": "<module>", "first_line": 1, "line": n, "hits": 1, "time_ns": n * S,
              "source": f"x{n} = {n}"} for n in range(1, 8)]  # fmt: skip
    frames = [
        {"stack_id": 1, "depth": d, "function": f, "file": "train.py", "line": 7}
        for d, f in enumerate(["<module>", "work"])
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


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with everything."""
    return rich(tmp_path_factory.mktemp("runs") / "rich")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same, with a slower convolution, and 4 s longer."""
    made = rich(tmp_path_factory.mktemp("runs") / "slower", 1.2)
    return lasting(made, 14 * S)


@pytest.fixture
def shown(browser: Any, tmp_path: Path, run: Run) -> Iterator[Shown]:
    """The run's page."""
    found = show(browser, tmp_path, page_of(run))
    yield found
    found.page.close()


def test_a_page_says_nothing_and_asks_for_nothing(shown: Shown) -> None:
    """No console message, no request but that for the file itself; all charts are drawn."""
    assert shown.said == []
    assert [url for url in shown.asked_for if not url.startswith("file:")] == []
    assert len(shown.asked_for) == 1
    assert shown.page.locator("html").get_attribute("data-ready") == "yes"
    for chart in ("phase-chart", "step-chart", "flame-chart", "layer-chart"):
        assert shown.page.locator(f"#{chart} canvas").count() == 1


def test_the_figures_are_those_of_the_json(shown: Shown, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """What the page carries, what it shows, and what the command prints."""
    capsys.readouterr()
    assert dlprof("report", run.folder.path, "--json", "--top", 25) == 0
    report = json.loads(capsys.readouterr().out)

    assert embedded(shown.page.content(), "report.json") == report
    assert shown.text("#figure-wall") == "10.0 s"
    assert report["wall_ns"] == 10 * S
    assert shown.text("td[data-phase='fit']") == "6.00 s"


def test_keys_zoom_and_pan_the_time_line(shown: Shown) -> None:
    """Plus halves what is shown, an arrow moves it by a fifth, 0 shows all."""
    shown.page.locator(".timeline .chart").focus()
    assert shown.window() == (0, 10 * S)
    shown.page.keyboard.press("+")
    shown.settle()
    assert shown.window() == pytest.approx((2.5 * S, 7.5 * S), abs=0.02 * S)
    shown.page.keyboard.press("ArrowRight")
    shown.settle()
    assert shown.window() == pytest.approx((3.5 * S, 8.5 * S), abs=0.02 * S)
    shown.page.keyboard.press("0")
    shown.settle()
    assert shown.window() == pytest.approx((0, 10 * S), abs=0.02 * S)


def test_the_wheel_zooms_with_ctrl_only(shown: Shown) -> None:
    """Without it the page scrolls."""
    box = shown.page.locator(".timeline .chart").bounding_box()
    shown.page.mouse.move(box["x"] + 600, box["y"] + 30)
    shown.page.mouse.wheel(0, -300)
    shown.settle()
    assert shown.window() == (0, 10 * S)
    shown.page.locator(".timeline .chart").scroll_into_view_if_needed()
    box = shown.page.locator(".timeline .chart").bounding_box()
    shown.page.mouse.move(box["x"] + 600, box["y"] + 30)
    shown.page.keyboard.down("Control")
    shown.page.mouse.wheel(0, -300)
    shown.page.keyboard.up("Control")
    shown.settle()
    begin, end = shown.window()
    assert end - begin < 9.9 * S


def test_a_search_counts_its_matches_and_goes_to_them(shown: Shown) -> None:
    """Ten kernels of 9 ms; the first one begins at 3 s, the second one 20 ms later."""
    shown.page.locator(".timeline .search").fill("conv2d")
    assert shown.text(".timeline .matches") == "10 events, 90.0 ms"
    shown.page.keyboard.press("Enter")
    shown.settle()
    begin, end = shown.window()
    assert begin < 3 * S < 3 * S + 9 * MS < end < 3 * S + 100 * MS
    assert shown.text(".timeline .chosen").startswith("conv2d — operator, conv, conv_1, forward — 9.00 ms")
    shown.page.keyboard.press("Enter")
    shown.settle()
    assert shown.window()[0] - begin == pytest.approx(20 * MS, abs=MS)


def test_a_search_without_a_match_says_so(shown: Shown) -> None:
    """And not 0 events of something."""
    shown.page.locator(".timeline .search").fill("nothing like this")
    assert shown.text(".timeline .matches") == "no event"


def test_a_click_tells_what_an_event_is(shown: Shown) -> None:
    """The first row are the phases; in the middle of the run there is fit."""
    chart = shown.page.locator(".timeline .chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    shown.page.mouse.click(box["x"] + 190 + (box["width"] - 206) * 0.5, box["y"] + 8 + 8)
    assert shown.text(".timeline .chosen").startswith("fit — 6.00 s")


def test_a_stretch_can_be_chosen_by_name(shown: Shown) -> None:
    """The import, with a margin of 5 %."""
    shown.page.locator(".timeline .jump").select_option(label="import")
    shown.settle()
    assert shown.window() == pytest.approx((0, 2.1 * S), abs=0.02 * S)


def test_a_line_shows_time_samples_and_kernels(shown: Shown) -> None:
    """Line 2 made the layer conv_1, whose kernels took 9 of 15 ms of a step; line 7 stood on the stack for 4 s."""
    cells = shown.page.locator("#L-train_2e_py-2 td").all_inner_texts()
    assert cells[:4] == ["2", "1", "2.00 s", ""]
    assert cells[4].endswith(" s")
    assert shown.page.locator("#L-train_2e_py-7 td").all_inner_texts()[3] == "4.00 s"


def test_what_is_not_in_sight_is_not_drawn(shown: Shown) -> None:
    """During the import no kernel ran: their row is empty then, though it was full before."""
    drawn = """() => {
        const line = dlprofPage.timelines[0], row = line.labels.findIndex(label => label.startsWith('host operators'));
        const canvas = line.element.querySelector('canvas'), ratio = canvas.width / canvas.clientWidth;
        const y = (line.grids[0].top + 17 * row + 8) * ratio, width = canvas.width - 230 * ratio;
        const pixels = canvas.getContext('2d').getImageData(200 * ratio, y, width, 1).data;
        const colours = new Set();
        for (let i = 0; i < pixels.length; i += 4) colours.add(pixels.slice(i, i + 3).join());
        return colours.size;
    }"""
    assert shown.page.evaluate(drawn) > 3
    shown.page.locator(".timeline .jump").select_option(label="import")
    shown.settle()
    assert shown.page.evaluate(drawn) <= 3  # nothing but the lines of the axis


def test_a_flame_graph_can_be_searched(shown: Shown) -> None:
    """Time under the frames that match, once."""
    shown.page.locator("#flame-search").fill("work")
    assert shown.text("#flame-matches") == "1 frames, 4.00 s, 100.0 % of the phase"


def test_the_theme_can_be_changed(shown: Shown) -> None:
    """From the system's to the other one, and the charts with it."""
    assert shown.page.locator("html").get_attribute("data-theme") == "light"
    shown.page.locator("#theme").click()
    assert shown.page.locator("html").get_attribute("data-theme") == "dark"
    assert shown.said == []


def test_a_dark_system_gets_a_dark_page(browser: Any, tmp_path: Path, run: Run) -> None:
    """Without a click."""
    shown = show(browser, tmp_path, page_of(run), color_scheme="dark")
    assert shown.page.locator("html").get_attribute("data-theme") == "dark"
    shown.page.close()


def test_a_page_can_be_printed(shown: Shown, tmp_path: Path) -> None:
    """As a PDF, in light colours."""
    shown.page.pdf(path=tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").stat().st_size > 20_000
    assert shown.said == []


def test_a_comparison_zooms_both_sides_together(browser: Any, tmp_path: Path, run: Run, slower: Run) -> None:
    """Until the reader says otherwise; both have one scale, that of the longer run."""
    shown = show(browser, tmp_path, page_of_both(slower, run))
    assert shown.said == []
    assert shown.window(0) == shown.window(1) == (0, 14 * S)
    shown.page.locator(".timeline .chart").first.focus()
    shown.page.keyboard.press("+")
    shown.settle()
    assert shown.window(1) == pytest.approx((3.5 * S, 10.5 * S), abs=0.03 * S)
    shown.page.locator("#together").uncheck()
    shown.page.locator(".timeline .chart").first.focus()
    shown.page.keyboard.press("0")
    shown.settle()
    assert shown.window(0) == pytest.approx((0, 14 * S), abs=0.03 * S)
    assert shown.window(1) == pytest.approx((3.5 * S, 10.5 * S), abs=0.03 * S)
    shown.page.close()


def test_a_comparison_shows_the_gap_of_its_json(browser: Any, tmp_path: Path, run: Run, slower: Run) -> None:
    """4 s."""
    shown = show(browser, tmp_path, page_of_both(slower, run))
    assert shown.text("#figure-gap") == "4.00 s"
    assert embedded(shown.page.content(), "compare.json")["gap_ns"] == 4 * S
    assert shown.page.locator("#waterfall-chart canvas").count() == 1
    shown.page.close()


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_runs_as_a_script(browser: Any, tmp_path: Path, name: str) -> None:
    """Not in the page, and not in the charts' labels and tips."""
    bad = named(tmp_path / "r", name)
    for text in (page_of(bad), page_of_both(bad, bad)):
        shown = show(browser, tmp_path, text)
        chart = shown.page.locator(".timeline .chart").first
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for row in range(5):
            shown.page.mouse.move(box["x"] + 700, box["y"] + 16 + 17 * row)
        shown.page.locator(".timeline .search").first.fill(name[:100])
        shown.settle()
        assert shown.said == []
        assert len(shown.asked_for) == 1
        shown.page.close()
