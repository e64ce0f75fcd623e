"""The live screen: exactly as large as the terminal, and without anything that could steer it."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from dlprof.live.model import LiveRun, ProbeStatus
from dlprof.live.painter import Painter
from dlprof.live.records import GpuFigures, Span
from dlprof.live.rows import text
from dlprof.live.screen import Screen
from tests.unit.live.live_runs import MAIN, MS, training

HOSTILE = "\x1b[2J\x07<script>\x9b31m\u202eabc'\"漢字\n" + "x" * 10_000
SIZES = [(80, 24), (120, 40), (200, 60)]


def screen(
    live: LiveRun, size: tuple[int, int] = (120, 40), *, now: int = 5_500, output: list[str] | None = None
) -> str:
    """The screen as text at `now` (ms)."""
    return "\n".join(text(Screen(*size).rows(live, now * MS, output or [])))


@pytest.mark.slow
@pytest.mark.parametrize("size", [*SIZES, (40, 10), (76, 12), (20, 5), (1, 1), (300, 200)])
def test_the_screen_fills_the_terminal_and_no_more(size: tuple[int, int]) -> None:
    """Every row is exactly as wide, in cells, at any size and with any name."""
    for live in (LiveRun("a", "", 0), training(), training(HOSTILE, HOSTILE)):
        rows = text(Screen(*size).rows(live, 5_500 * MS, ["漢" * 500, HOSTILE] * 100))

        assert len(rows) == size[1]
        assert {cell_len(row) for row in rows} == {size[0]}


@pytest.mark.parametrize("size", SIZES)
def test_the_screen_says_where_the_run_is(size: tuple[int, int]) -> None:
    """At every usual size: where, how long, how fast, how busy, and what was printed."""
    shown = screen(training(), size, output=["Epoch 2/3", "41/64 loss: 0.1"])

    for part in (
        "dlprof  mlp on tensorflow · running · 00:05 · process 4242",
        " fit.steps for 1.20 s   epoch 2/3   step 40/64",
        "import                   4.00 s  72.7 %",
        "fit.build                100 ms   1.8 %",
        "core 0    90 %",
        "core 1    10 %",
        "CPU 95 %   memory 614 MB (peak 614 MB)",
        "no GPU: no NVIDIA",
        "train steps · epoch 2/3 · step 40/64 · 167 per second",
        "median 5.00 ms   last 5.00 ms   slowest of 40: 45.0 ms (9.0 x)",
        "loss 0.1235",
        "accuracy 0.9 (epoch 1)",
        "Epoch 2/3",
        "41/64 loss: 0.1",
        "probes  on: phases, lines  failed: stacks (py-spy was killed)  waiting: kernels",
    ):
        assert part in shown


def test_a_run_of_which_nothing_is_known_shows_no_zero() -> None:
    """Before the first record."""
    shown = screen(LiveRun("a", "b", 0), now=0)

    assert "0 %" not in shown
    assert "no phases are known" in shown
    assert "no step yet" in shown
    assert "memory: no sample yet" in shown
    assert "cores: starting" in shown
    assert "GPU: starting" in shown


def test_phases_that_find_no_row_are_summed() -> None:
    """Small ones first; the sum stays whole."""
    live = training()
    for number, kind in enumerate(("data", "construct", "compile", "evaluate", "predict", "save")):
        live.end(3, 5_500 * MS)
        live.begin(Span(100 + number, kind, kind, MAIN), (5_500 + number) * MS)
        live.end(100 + number, (5_501 + number) * MS)

    shown = screen(live, (80, 24), now=5_510)

    assert " others " in shown
    assert " import " in shown


def test_no_control_code_reaches_the_terminal() -> None:
    """Names, metrics and output are hostile; only our own sequences are sent."""
    live = training(HOSTILE, HOSTILE)
    live.begin(Span(99, "import", HOSTILE, MAIN), 5_400 * MS)
    live.probe_said("lines", ProbeStatus("failed", HOSTILE))
    live.machine.gpu_names = (HOSTILE,)
    live.machine.gpu_sample(0, GpuFigures(utilisation_pct=1))
    rows = Screen(120, 40).rows(live, 5_500 * MS, [HOSTILE])

    assert all(character.isprintable() for row in text(rows) for character in row)
    sent = Painter("truecolor").frame(rows)
    assert "\x1b[2J" not in sent
    assert "\x07" not in sent


def test_a_terminal_without_block_characters_gets_none() -> None:
    """Its encoding knows ASCII only."""
    rows = Screen(120, 40, ascii_only=True).rows(training(), 5_500 * MS, [])

    assert "".join(text(rows)).isascii()
