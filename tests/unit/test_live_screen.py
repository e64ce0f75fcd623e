"""The live screen: exactly as large as the terminal, and without anything that could steer it."""

from __future__ import annotations

import re

import pyte
import pytest
from rich.cells import cell_len

from dlprof.live.model import Span, State, Step
from dlprof.live.screen import Painter, Row, Screen, columns, text

MS = 1_000_000
MAIN = 7
HOSTILE = "\x1b[2J\x07<script>\x9b31m\u202eabc'\"漢字\n" + "x" * 10_000
SIZES = [(80, 24), (120, 40), (200, 60)]


def training(name: str = "mlp", metric: str = "loss") -> State:
    """In the second epoch of three, an outlier among the steps."""
    state = State(name, "tensorflow", 0)
    state.pid = 4242
    state.meta({"main_thread": MAIN, "boot_ns": 30 * MS})
    state.begin(Span(1, "script", "script", MAIN), 100 * MS)
    state.begin(Span(2, "import", "keras", MAIN), 100 * MS)
    state.end(2, 4_100 * MS)
    state.begin(Span(3, "fit", "fit", MAIN), 4_200 * MS)
    state.detail(3, {"epochs": 3, "samples": 8192, "batch_size": 128})
    state.begin(Span(4, "epoch", "1", MAIN), 4_300 * MS)
    for number in range(40):
        begin = (5_000 + 10 * number) * MS
        took = 45 * MS if number == 20 else 5 * MS
        state.step(Step(MAIN, 3, 1, number, 1, begin, begin + took, 0, 0, 0, 0, False))
    state.metric(metric, 0.123456, 1, 39)
    state.metric("accuracy", 0.9, 0, -1)
    state.cores_header({"page_bytes": 4096, "ticks_per_s": 100})
    state.cores_sample(0, [[0] * 5, [0] * 5], [[4242, 0, 100_000]])
    state.cores_sample(1_000 * MS, [[80, 10, 0, 0, 10], [5, 5, 0, 0, 90]], [[4242, 95, 150_000]])
    state.machine_sample(16_000_000_000)
    state.probe("gpu", "unavailable", "no NVIDIA driver is installed")
    state.probe("stacks", "failed", "py-spy was killed")
    return state


def screen(
    state: State, size: tuple[int, int] = (120, 40), *, now: int = 5_500, output: list[str] | None = None
) -> str:
    """The screen as text at `now` (ms)."""
    return "\n".join(text(Screen(*size).rows(state, now * MS, output or [])))


@pytest.mark.parametrize("size", [*SIZES, (40, 10), (76, 12), (20, 5), (1, 1), (300, 200)])
def test_the_screen_fills_the_terminal_and_no_more(size: tuple[int, int]) -> None:
    """Every row is exactly as wide, in cells, at any size and with any name."""
    for state in (State("a", "", 0), training(), training(HOSTILE, HOSTILE)):
        rows = text(Screen(*size).rows(state, 5_500 * MS, ["漢" * 500, HOSTILE] * 100))

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


def test_the_step_strip_has_its_outlier() -> None:
    """One column stands at the top, the others at the median."""
    shown = screen(training())

    assert " " + "▃" * 20 + "█" + "▃" * 19 + " " in shown


def test_a_gpu_is_shown_with_what_it_told() -> None:
    """What it did not tell is left out, and is no zero."""
    state = training()
    state.gpu_names = ["NVIDIA H200"]
    state.gpu_sample(
        0, {"utilisation_pct": 87, "power_w": 412.4, "memory_used_bytes": 12.3e9, "memory_total_bytes": 141e9}
    )

    shown = screen(state)

    assert "GPU 0 NVIDIA H200  87 %  12.30 GB of 141.00 GB  412 W" in shown
    assert " C " not in shown
    assert "no GPU" not in shown


def test_a_run_of_which_nothing_is_known_shows_no_zero() -> None:
    """Before the first record."""
    shown = screen(State("a", "b", 0), now=0)

    assert "0 %" not in shown
    assert "no phases are known" in shown
    assert "no step yet" in shown
    assert "memory: no sample yet" in shown
    assert "cores: starting" in shown
    assert "GPU: starting" in shown


def test_a_loop_that_makes_no_step_is_said_to_stand_still() -> None:
    """Five medians and a second without one."""
    assert "no step for 3.60 s" in screen(training(), now=8_995)
    assert "no step for" not in screen(training(), now=5_800)


def test_many_cores_become_a_strip_with_their_mean() -> None:
    """Where there is no row for each."""
    state = training()
    state.cores_sample(2_000 * MS, [[0] * 5] * 128, [])
    state.cores_sample(3_000 * MS, [[25, 0, 0, 0, 75]] * 128, [])

    shown = screen(state, (80, 24))

    assert "128 cores, mean 25 %" in shown
    assert " " + "▃" * 37 + " \n" in shown


def test_phases_that_find_no_row_are_summed() -> None:
    """Small ones first; the sum stays whole."""
    state = training()
    for number, kind in enumerate(("data", "construct", "compile", "evaluate", "predict", "save")):
        state.end(3, 5_500 * MS)
        state.begin(Span(100 + number, kind, kind, MAIN), (5_500 + number) * MS)
        state.end(100 + number, (5_501 + number) * MS)

    shown = screen(state, (80, 24), now=5_510)

    assert " others " in shown
    assert " import " in shown


def test_no_control_code_reaches_the_terminal() -> None:
    """Names, metrics and output are hostile; only our own sequences are sent."""
    state = training(HOSTILE, HOSTILE)
    state.begin(Span(99, "import", HOSTILE, MAIN), 5_400 * MS)
    state.probe("lines", "failed", HOSTILE)
    state.gpu_names = [HOSTILE]
    state.gpu_sample(0, {"utilisation_pct": 1})
    rows = Screen(120, 40).rows(state, 5_500 * MS, [HOSTILE])

    assert all(character.isprintable() for row in text(rows) for character in row)
    sent = Painter("truecolor").frame(rows)
    assert "\x1b[2J" not in sent
    assert "\x07" not in sent


def test_a_terminal_without_block_characters_gets_none() -> None:
    """Its encoding knows ASCII only."""
    rows = Screen(120, 40, ascii_only=True).rows(training(), 5_500 * MS, [])

    assert "".join(text(rows)).isascii()


def painted(painter: Painter, terminal: pyte.ByteStream, rows: list[Row]) -> int:
    """Draw a frame; returns how much was sent."""
    sent = painter.frame(rows).encode()
    terminal.feed(sent)
    return len(sent)


def test_only_rows_that_changed_are_drawn_and_the_terminal_shows_the_rows() -> None:
    """On an emulated terminal, frame after frame; the same frame again sends nothing."""
    emulated = pyte.Screen(80, 24)
    terminal, painter, state = pyte.ByteStream(emulated), Painter("256"), training()
    made = Screen(80, 24)
    whole = painted(painter, terminal, made.rows(state, 5_500 * MS, ["one"]))

    for output in (["one", "two"], ["one", "two", "three"]):
        rows = made.rows(state, 5_500 * MS, output)
        assert painted(painter, terminal, rows) < whole / 5
        assert [row.rstrip() for row in emulated.display] == [row.rstrip() for row in text(rows)]
    assert painted(painter, terminal, rows) == 0


def test_without_colours_rows_are_plain() -> None:
    """NO_COLOR."""
    sent = Painter(None).frame(Screen(80, 24).rows(training(), 5_500 * MS, []))

    assert not re.search("\x1b\\[[0-9;]*m", sent)


def test_columns_of_the_strip_hold_the_slowest_of_their_steps() -> None:
    """And keep their steps together as more come."""
    times = [float(n % 7) for n in range(512)]

    assert columns(times, 512, 256) == [max(times[n], times[n + 1]) for n in range(0, 512, 2)]
    assert columns([1.0, 5.0, 2.0], 3, 2) == [5.0, 2.0]
    assert columns([5.0, 2.0, 3.0], 4, 2) == [5.0, 3.0]
    assert columns([], 0, 80) == []
    assert len(columns(times, 513, 100)) <= 100
