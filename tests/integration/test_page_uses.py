"""What readers do with a page's timeline and tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dlprof.report.html import run_page
from tests.integration.shown_pages import Shown, launched, rich, show
from tests.unit.report.html.pages import page_of
from tests.unit.runs import S

pytestmark = pytest.mark.integration

NONE = "\N{EN DASH}"
SIDE, RIGHT = 230, 16
"""Room beside the rows of a timeline (px)."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A page of a run with everything, and one of an imported trace of a GPU."""
    folder = tmp_path_factory.mktemp("runs")
    return page_of(rich(folder / "rich")), run_page.make(launched(folder / "gpu"), None, "it is imported")


@pytest.fixture
def shown(browser: Any, tmp_path: Path, pages: tuple[str, str]) -> Iterator[Shown]:
    """The page of the run with everything."""
    found = show(browser, tmp_path, pages[0])
    yield found
    assert found.said == []
    found.page.close()


@pytest.fixture
def gpu(browser: Any, tmp_path: Path, pages: tuple[str, str]) -> Iterator[Shown]:
    """The page of a GPU's trace."""
    found = show(browser, tmp_path, pages[1])
    yield found
    assert found.said == []
    found.page.close()


def place(shown: Shown, share: float, row: int) -> tuple[float, float]:
    """A pixel of the timeline: by the share of its width, and the number of the row."""
    chart = shown.page.locator(".timeline .chart")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    return box["x"] + SIDE + share * (box["width"] - SIDE - RIGHT), box["y"] + 8 + 17 * row + 8


def labels(shown: Shown) -> list[str]:
    """Names beside the rows."""
    return [text.strip() for text in shown.page.locator(".labels > *").all_inner_texts()]


@pytest.mark.parametrize("chart", [".timeline .chart", "#step-chart", "#flame-chart"])
def test_the_wheel_scrolls_the_page(shown: Shown, chart: str) -> None:
    """Over a chart as beside it; the timeline shows what it showed."""
    shown.page.evaluate(f"document.querySelector('{chart}').scrollIntoView({{block: 'center'}})")
    before, box = shown.page.evaluate("scrollY"), shown.page.locator(chart).bounding_box()
    shown.page.mouse.move(box["x"] + 600, box["y"] + 15)
    shown.page.mouse.wheel(0, -90)
    shown.until(f"scrollY !== {before}")
    shown.until(f"scrollY === {before - 90}")
    assert shown.window() == (0, 10 * S)


def test_the_wheel_zooms_with_ctrl(shown: Shown) -> None:
    """Around the pointer: what is there stays there."""
    x, y = place(shown, 0.25, 3)
    shown.page.mouse.move(x, y)
    shown.page.keyboard.down("Control")
    shown.page.mouse.wheel(0, -400)
    shown.page.keyboard.up("Control")
    shown.until("dlprofPage.timelines[0].to - dlprofPage.timelines[0].from < 9e9")
    begin, end = shown.window()
    assert end - begin == pytest.approx(10 * S / 2.71828, rel=0.02)
    assert (2.5 * S - begin) / (end - begin) == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("times", [1, 5, 9, 13, 17])
def test_labels_of_the_axis_differ(shown: Shown, times: int) -> None:
    """However far it is zoomed in."""
    shown.page.locator(".timeline .chart").focus()
    for _ in range(times):
        shown.page.keyboard.press("+")
    shown.settle()
    axis = """() => { const axis = dlprofPage.timelines[0].chart.getModel().getComponent('xAxis', 0).axis;
        return axis.getViewLabels().map(one => one.formattedLabel); }"""
    found = shown.page.evaluate(axis)
    assert len(found) >= 3
    assert len(set(found)) == len(found)


def test_a_gpu_stands_first(gpu: Shown) -> None:
    """Its streams by their own names, then the threads of the host."""
    assert labels(gpu) == ["▾ GPU 0", "stream 7", "▾ host operators", "thread 1"]


def test_rows_of_a_device_fold(gpu: Shown) -> None:
    """A click on its name folds them, another one shows them."""
    button = gpu.page.locator(".labels button").first
    button.click()
    assert labels(gpu) == ["▸ GPU 0", "▾ host operators", "thread 1"]
    gpu.page.locator(".labels button").first.click()
    assert labels(gpu) == ["▾ GPU 0", "stream 7", "▾ host operators", "thread 1"]


def test_a_kernel_leads_to_its_launch(gpu: Shown) -> None:
    """The call that began 4 ms before it, not the operator around it."""
    gpu.page.mouse.click(*place(gpu, 9 / 200, 1))
    assert gpu.text(".timeline .chosen").endswith("launched 4.00 ms before, by cudaLaunchKernel")
    assert gpu.page.evaluate("dlprofPage.timelines[0].links.length") == 1


def test_a_launch_leads_to_its_kernel(gpu: Shown) -> None:
    """And the operator around it leads nowhere."""
    gpu.page.mouse.click(*place(gpu, 2 / 200, 4))
    assert gpu.text(".timeline .chosen").endswith("launched sgemm")
    gpu.page.mouse.click(*place(gpu, 8 / 200, 3))
    assert "launched" not in gpu.text(".timeline .chosen")


def test_an_area_has_sums(gpu: Shown) -> None:
    """From 0 to 100 ms, all rows: half of everything, the operator without its launch, GPU and host apart."""
    begin, end = place(gpu, 0, 1), place(gpu, 0.5, 4)
    gpu.page.keyboard.down("Shift")
    gpu.page.mouse.move(*begin)
    gpu.page.mouse.down()
    gpu.page.mouse.move(*end, steps=4)
    gpu.page.mouse.up()
    gpu.page.keyboard.up("Shift")
    told = gpu.page.locator(".area p").all_inner_texts()
    assert told[0].endswith("100 ms")
    assert told[1].startswith("GPU 0: 5 events, at least one of them for 40.0 ms (40.")
    assert told[2].startswith("host operators: 10 events, at least one of them for 50.0 ms (50.")
    rows = [row.locator("td").all_inner_texts() for row in gpu.page.locator(".area tbody tr").all()]
    assert rows == [
        ["sgemm", "GPU 0", "5", "40.0 ms", "40.0 ms"],
        ["aten::mm", "host operators", "5", "40.0 ms", "50.0 ms"],
        ["cudaLaunchKernel", "host operators", "5", "10.0 ms", "10.0 ms"],
    ]


def test_sums_of_what_is_in_sight_need_no_mouse(gpu: Shown) -> None:
    """The key s; Escape puts them away."""
    gpu.page.locator(".timeline .chart").focus()
    gpu.page.keyboard.press("s")
    assert (
        gpu.page.locator(".area p").nth(1).inner_text().startswith("GPU 0: 10 events, at least one of them for 80.0 ms")
    )
    gpu.page.keyboard.press("Escape")
    assert gpu.page.locator(".area p").count() == 0


def test_the_legend_picks_a_colour_out(gpu: Shown) -> None:
    """Matmul: ten operators and ten kernels."""
    gpu.page.locator(".legend button", has_text="matmul").click()
    assert gpu.text(".timeline .matches") == "20 events, 180 ms"
    gpu.page.locator(".legend button", has_text="matmul").click()
    assert gpu.text(".timeline .matches") == ""


def test_fit_has_one_colour(shown: Shown) -> None:
    """As a phase and as a call."""
    colours = """() => { const {names} = dlprofPage.timelines[0].content;
        return [...new Set(names.text.flatMap((text, at) => /^fit( |$)/.test(text) ? [names.colour[at]] : []))]; }"""
    assert shown.page.evaluate(colours) == ["#0072b2"]


def test_a_table_sorts_by_its_headings(browser: Any, tmp_path: Path, pages: tuple[str, str]) -> None:
    """Figures from the largest on, then from the smallest; what has none comes last both times."""
    text = _with_own_table(pages[1])
    shown = show(browser, tmp_path, text)
    heading = shown.page.locator("#mine th").nth(1)
    times = "[...document.querySelectorAll('#mine tbody td:last-child')].map(cell => cell.textContent)"
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert shown.page.evaluate(times)[:2] == ["899 ns", "898 ns"]
    assert shown.page.evaluate(times)[-1] == NONE
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert shown.page.evaluate(times)[:2] == ["887 ns", "888 ns"]
    assert shown.page.evaluate(times)[-1] == NONE
    shown.page.close()


def test_a_table_filters(browser: Any, tmp_path: Path, pages: tuple[str, str]) -> None:
    """Rows that have all words; how many they are is said."""
    shown = show(browser, tmp_path, _with_own_table(pages[1]))
    shown.page.locator(".filter input").first.fill("OP3")
    assert shown.text(".filter [role=status]") == "1 of 14 rows"
    assert shown.page.locator("#mine tbody tr:visible").all_inner_texts() == ["op3\t897 ns"]
    shown.page.close()


def _with_own_table(page: str) -> str:
    """The page with a table of fourteen rows, of which the first has no time."""
    rows = [f'<tr><td>op0</td><td class="number">{NONE}</td></tr>'] + [
        f'<tr><td>op{chr(96 + n) if n > 9 else n}</td><td class="number" data-value="{900 - n}">{900 - n} ns</td></tr>'
        for n in range(1, 14)
    ]
    head = '<table class="sorts" id="mine"><thead><tr><th>name</th><th class="number">time</th></tr></thead><tbody>'
    return page.replace("<main>", f"<main>{head}{''.join(rows)}</tbody></table>", 1)


def test_a_link_unfolds_the_lines_it_leads_to(shown: Shown) -> None:
    """Lines that take little are folded until somebody goes there."""
    assert shown.page.locator("#L-train_2e_py-30").is_visible() is False
    shown.page.evaluate("location.hash = '#L-train_2e_py-30'")
    shown.settle()
    assert shown.page.locator("#L-train_2e_py-30").is_visible() is True


def test_library_frames_fold(shown: Shown) -> None:
    """Two frames of one library become one; the time stays, and the user's frames stay as they are."""
    nodes = "dlprofPage.flames.nodes.map(node => [node[0], node[2], node[3]])"
    assert shown.page.evaluate(nodes) == [
        [0, 4 * S, "train.py (module)"],
        [1, 4 * S, "work"],
        [2, 4 * S, "fit"],
        [3, 4 * S, "call"],
    ]
    shown.page.locator("#flame-fold").check()
    assert shown.page.evaluate(nodes) == [[0, 4 * S, "train.py (module)"], [1, 4 * S, "work"], [2, 4 * S, "keras"]]
