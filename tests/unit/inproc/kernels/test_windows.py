"""When the tracer of an engine runs: after some steady steps, for some steps, once for each kind of loop."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dlprof_probes import wire as fmt
from dlprof_probes.inproc import loops, memory_room
from dlprof_probes.inproc.kernels import windows as module
from dlprof_probes.inproc.kernels.tracer import Tracer
from dlprof_probes.inproc.kernels.windows import NoWindows, Windows

from tests.unit.inproc.conftest import Clock, Recorded


class StandIn(Tracer):
    """A tracer that takes 5 ns to start and 7 to stop, and writes one file."""

    def __init__(self, now: Clock) -> None:
        self.calls: list[str] = []
        self._now = now
        self._folder: Path | None = None

    def drain(self) -> None:
        self.calls.append("drain")

    def start(self, folder: str) -> None:
        self.calls.append("start")
        self._now.ns += 5
        self._folder = Path(folder)

    def stop(self) -> list[str]:
        self.calls.append("stop")
        self._now.ns += 7
        if self._folder is None:  # it could not be started
            return []
        path = self._folder / "trace.json"
        if self._folder != Path():  # it was never started, or could not be
            path.write_text("{}")
        return [str(path)]

    def annotation(self, text: str) -> Callable[[], None]:
        self.calls.append("begin " + text)
        return lambda: self.calls.append("end " + text)


class WholeRun(StandIn):
    """One that can only sum up the whole run."""

    whole_run = True

    def stop(self) -> Any:
        return True


class Fixture:
    """Windows of 3 steps, and loops that are watched."""

    def __init__(self, out: Recorded, now: Clock, mode: str = "windows", tracer: Any = None) -> None:
        self.out, self.now = out, now
        self.windows = Windows(out, str(out.folder / "kernels"), mode, 3)
        self.loops = loops.Loops(out, self.windows)
        self.tracer: Any = tracer or StandIn(now)
        self.windows.use("engine", lambda: self.tracer)

    def open(self, kind: str = "fit", steps: int | None = None) -> Any:
        """A loop; Keras may say how many steps it will have."""
        loop = self.loops.open(self.out.begin(kind, kind), kind)
        if steps is not None:
            self.windows.planned(loop, steps)
        loop.start_epoch(0)
        return loop

    def step(self, loop: Any, count: int = 1, compiled: bool = False, ns: int = 100) -> None:
        """Steps."""
        for _ in range(count):
            loop.begin = self.now.ns
            self.now.ns += ns
            if compiled:
                loop.compiles[0] += 1
            loop.finish((None, loop.step_index), self.now.ns)

    def kept(self) -> list[tuple[str, int]]:
        """Loop and number of steps of each window."""
        paths = sorted((self.out.folder / "kernels").glob("*.json"))
        return [(facts["loop"], facts["steps"]) for facts in (json.loads(path.read_text()) for path in paths)]

    def state(self) -> tuple[str, str | None]:
        """What the run is told of kernels at its end."""
        self.windows.finish()
        told = self.out.stream().probes[-1]
        return told["state"], told["reason"]


@pytest.fixture(autouse=True)
def left(monkeypatch: pytest.MonkeyPatch) -> dict[str, int | None]:
    """How much memory is left: not known."""
    told: dict[str, int | None] = {"bytes": None}
    monkeypatch.setattr(memory_room, "left", lambda: told["bytes"])
    return told


@pytest.fixture
def run(out: Recorded, now: Clock) -> Fixture:
    """Loops with windows."""
    return Fixture(out, now)


@pytest.mark.parametrize(("ns", "kept"), [(600_000_000, [("fit", 2)]), (400_000_000, []), (9_000_000_000, [])])
def test_a_loop_of_few_long_steps_has_its_window_sooner(run: Fixture, ns: int, kept: list[tuple[str, int]]) -> None:
    """Four steps of which nobody knew the number: of half a second to five two of them are traced."""
    loop = run.open()
    run.step(loop, 4, ns=ns)
    run.loops.close(loop)

    assert run.kept() == kept


def test_a_window_opens_after_five_steady_steps_and_holds_three(run: Fixture) -> None:
    """Drained before and after, so that it holds whole steps."""
    loop = run.open()
    run.step(loop, 4)
    assert run.tracer.calls == []

    run.step(loop)
    assert run.tracer.calls == ["drain", "start"]

    run.step(loop, 3)
    assert run.tracer.calls == ["drain", "start", "drain", "stop"]
    assert run.kept() == [("fit", 3)]


def test_a_window_is_described_in_a_file_beside_its_folder(run: Fixture, out: Recorded) -> None:
    """Engine, times, cost and files, relative to the folder of kernels."""
    loop = run.open()
    run.step(loop, 8)

    facts = json.loads((out.folder / "kernels" / "window-000.json").read_text())

    assert {name: facts[name] for name in ("engine", "loop", "loop_id", "steps", "files", "zero_ns")} == {
        "engine": "engine",
        "loop": "fit",
        "loop_id": 1,
        "steps": 3,
        "files": ["window-000/trace.json"],
        "zero_ns": None,
    }
    assert (facts["begin_ns"], facts["end_ns"]) == (1505, 1805)
    assert (facts["start_cost_ns"], facts["stop_cost_ns"]) == (5, 7)


def test_switching_is_a_phase_of_its_own(run: Fixture, out: Recorded) -> None:
    """And no wait of the step after it."""
    loop = run.open()
    run.step(loop, 9)

    assert [row for row in out.spans() if row[0] == "dlprof"] == [
        ("dlprof", "start kernel tracing", 1500, 1505),
        ("dlprof", "stop kernel tracing", 1805, 1812),
    ]
    assert [row[7] for row in out.stream().steps] == [0] * 9


def test_steps_that_compile_are_not_steady(run: Fixture) -> None:
    """Counting begins again."""
    loop = run.open()
    run.step(loop, 3)
    run.step(loop, compiled=True)
    run.step(loop, 4)
    assert run.tracer.calls == []

    run.step(loop)
    assert run.tracer.calls == ["drain", "start"]


def test_each_kind_of_loop_gets_one_window(run: Fixture) -> None:
    """The first that is long enough."""
    for kind in ("fit", "fit", "evaluate", "evaluate"):
        loop = run.open(kind)
        run.step(loop, 20)
        run.loops.close(loop)

    assert run.kept() == [("fit", 3), ("evaluate", 3)]
    assert run.state() == ("on", None)


def test_a_loop_in_a_loop_gets_none(run: Fixture) -> None:
    """Validation in fit is of another kind than fit, and not to be mixed with it."""
    fit = run.open()
    validation = run.open("evaluate")
    run.step(validation, 20)

    assert validation.watch is None
    assert run.tracer.calls == []
    run.loops.close(fit)


def test_a_window_counts_the_steps_of_its_own_loop_only(run: Fixture) -> None:
    """Those of a validation in between do not close it."""
    fit = run.open()
    run.step(fit, 6)
    validation = run.open("evaluate")
    run.step(validation, 20)
    run.loops.close(validation)
    run.step(fit, 2)

    assert run.kept() == [("fit", 3)]


@pytest.mark.parametrize(
    ("planned", "warm", "steps"),
    [(100, 5, 3), (21, 5, 3), (12, 2, 3), (9, 2, 3), (5, 1, 1), (4, 1, 1), (3, 1, 1), (2, 1, 1)],
)
def test_a_short_loop_gets_a_shorter_window_sooner(run: Fixture, planned: int, warm: int, steps: int) -> None:
    """A quarter of its steps is warm, half of the others are traced."""
    loop = run.open(steps=planned)

    assert (loop.window_after, loop.window_steps) == (warm, steps)


def test_a_loop_of_one_step_gets_none(run: Fixture) -> None:
    """And the run says why it has no kernels."""
    loop = run.open(steps=1)
    run.step(loop)
    run.loops.close(loop)

    assert run.tracer.calls == []
    assert run.state() == ("unavailable", "too few steady steps for a window; --kernels all traces them too")


def test_a_loop_that_ends_before_it_is_warm_leaves_the_window_to_the_next(run: Fixture) -> None:
    """Of the same kind."""
    loop = run.open()
    run.step(loop, 4)
    run.loops.close(loop)
    loop = run.open()
    run.step(loop, 8)

    assert run.kept() == [("fit", 3)]


def test_a_window_that_the_loop_s_end_cuts_has_the_steps_so_far(run: Fixture) -> None:
    """The tracer stops with the loop."""
    loop = run.open()
    run.step(loop, 7)
    run.loops.close(loop)

    assert run.kept() == [("fit", 2)]


def test_a_window_without_a_step_is_given_up(run: Fixture, out: Recorded) -> None:
    """Its folder goes, and the next loop may have one."""
    loop = run.open()
    run.step(loop, 5)
    run.loops.close(loop)
    assert not (out.folder / "kernels" / "window-000").exists()

    loop = run.open()
    run.step(loop, 8)
    assert run.kept() == [("fit", 3)]


def test_a_window_that_is_open_at_the_end_is_closed(run: Fixture) -> None:
    """The program may leave in the middle of a loop."""
    run.step(run.open(), 6)

    assert run.state() == ("on", None)
    assert run.kept() == [("fit", 1)]


def test_several_steps_in_one_execution_count_as_so_many(run: Fixture) -> None:
    """A window may then hold more than was asked for."""
    loop = run.open()
    for first in (0, 4, 8):
        loop.begin, loop.step_index = run.now.ns, first
        run.now.ns += 100
        loop.finish((None, first + 3), run.now.ns)

    assert run.kept() == [("fit", 4)]


def test_where_little_memory_is_left_no_tracer_is_started(run: Fixture, left: dict[str, int | None]) -> None:
    """It might be what ends the program."""
    left["bytes"] = 900_000_000
    loop = run.open()
    run.step(loop, 9)

    assert run.tracer.calls == []
    assert run.state() == (
        "unavailable",
        "only 900 MB of memory were left; tracing may take 1000 MB",
    )


def test_all_means_whole_loops(out: Recorded, now: Clock) -> None:
    """Each of them, from its first step to its last."""
    run = Fixture(out, now, mode="all")
    for kind in ("fit", "fit", "predict"):
        loop = run.open(kind, steps=4)
        run.step(loop, 4)
        run.loops.close(loop)

    assert run.kept() == [("fit", 4), ("fit", 4), ("predict", 4)]


def test_a_tracer_that_cannot_be_started_is_given_up(run: Fixture, out: Recorded) -> None:
    """Training goes on; the run says what happened, once."""
    run.tracer.start = lambda _folder: 1 / 0
    loop = run.open()
    run.step(loop, 9)
    run.loops.close(loop)
    loop = run.open("evaluate")
    run.step(loop, 9)

    reason = "the tracer could not be started: ZeroDivisionError: division by zero"
    assert out.notes() == [("kernels-failed", "Kernels are missing: %s." % reason)]
    assert run.state() == ("failed", reason)


def test_a_tracer_that_cannot_be_stopped_is_given_up(run: Fixture, out: Recorded) -> None:
    """The loop is not watched any more."""
    run.tracer.stop = lambda: 1 / 0
    loop = run.open()
    run.step(loop, 20)

    assert loop.watch is None
    assert run.windows.active is None
    assert [slug for slug, _ in out.notes()] == ["kernels-failed"]
    assert run.state()[0] == "failed"


def test_an_error_of_the_program_that_draining_finds_is_left_to_it(run: Fixture) -> None:
    """It comes again in the user's own call; the window is kept."""
    loop = run.open()
    run.step(loop, 5)
    run.tracer.drain = lambda: 1 / 0
    run.step(loop, 3)

    assert run.kept() == [("fit", 3)]
    assert run.state() == ("on", None)


def test_an_engine_whose_tracer_cannot_be_made_has_no_windows(out: Recorded, now: Clock) -> None:
    """And the run says why."""
    run = Fixture(out, now)
    run.windows._tracer = None
    run.windows.use("engine", lambda: vars(out)["absent"])
    loop = run.open()
    run.step(loop, 20)

    assert run.state() == ("failed", "KeyError: 'absent'")


def test_the_cost_of_switching_is_told(run: Fixture, out: Recorded) -> None:
    """5 ns to start and 7 to stop."""
    loop = run.open()
    run.step(loop, 8)
    run.windows.finish()

    assert out.stream().probes[-1]["cost_ns"] == 12


def test_ranges_go_to_the_tracer_of_an_open_window(run: Fixture) -> None:
    """Outside there is nothing to put them into."""
    loop = run.open()
    assert run.windows.annotation("layer") is None

    run.step(loop, 5)
    end = run.windows.annotation("layer")
    assert end is not None
    end()
    assert run.tracer.calls[-2:] == ["begin layer", "end layer"]


def test_a_tracer_of_whole_runs_has_no_windows(out: Recorded, now: Clock) -> None:
    """It sums up at the end."""
    run = Fixture(out, now, tracer=WholeRun(now))
    run.step(run.open(), 20)

    assert run.tracer.calls == []
    assert run.state() == ("on", None)


def test_a_whole_run_without_a_call_says_so(out: Recorded, now: Clock) -> None:
    """Nothing was compiled under its profiler."""
    tracer: Any = WholeRun(now)
    tracer.stop = lambda: False

    assert Fixture(out, now, tracer=tracer).state() == ("unavailable", "no function was compiled under its profiler")


def windows(out: Recorded) -> Windows:
    """Windows that no engine uses yet."""
    return Windows(out, str(out.folder / "kernels"), "windows", 3, gpu=False)


def state(out: Recorded, made: Windows) -> tuple[str, str]:
    """What the run is told."""
    made.finish()
    told = out.stream().probes[-1]
    return told["state"], told["reason"]


def test_a_run_without_an_engine_says_so(out: Recorded) -> None:
    """There is nothing to trace."""
    assert state(out, windows(out)) == ("unavailable", "no engine with a tracer was seen")


def test_an_engine_without_a_tracer_is_named(out: Recorded) -> None:
    """As Keras calls it."""
    made = windows(out)
    made.use("numpy")

    assert state(out, made) == ("unavailable", "no tracer for numpy")


def test_a_reason_that_an_engine_gives_is_told(out: Recorded) -> None:
    """Where it has no windows here."""
    made = windows(out)
    made.decline("it only traces whole runs")

    assert state(out, made) == ("unavailable", "it only traces whole runs")


def test_a_run_without_loops_says_so(out: Recorded, now: Clock) -> None:
    """There was an engine, but no training."""
    assert Fixture(out, now).state() == ("unavailable", "no loop with enough steps was seen")


def test_a_tracer_is_told_whether_it_may_take_the_gpu(out: Recorded, now: Clock) -> None:
    """Another program may have it."""
    made, tracer = windows(out), StandIn(now)
    made.use("engine", lambda: tracer)

    assert tracer.gpu is False
    assert made.is_set


def test_without_kernels_every_method_does_nothing() -> None:
    """And there is never a window."""
    nothing, loop = NoWindows(), object()

    results = (
        nothing.use("engine", None),
        nothing.decline("reason"),
        nothing.opened(loop, "fit", False),
        nothing.planned(loop, 9),
        nothing.closed(loop),
        nothing.finish(),
        nothing.annotation("text"),
    )

    assert set(results) == {None}
    assert (nothing.folder, nothing.active, nothing.everything) == (None, None, False)


def test_a_step_that_compiled_first_does_not_count_as_warm(run: Fixture) -> None:
    """The first call of a step function."""
    loop = run.open()
    loop.first = True
    run.step(loop)
    assert loop.warmed == 0

    run.step(loop)
    assert loop.warmed == 1
    assert run.out.stream().steps[0][12] & fmt.STEP_FIRST


S = 1_000_000_000


def short_then(run: Fixture, steps: int, ns: int) -> Any:
    """A loop of 9 steps of 0.1 s, whose window went on for four of them, and another loop."""
    first = run.open()
    run.step(first, 9, ns=S // 10)
    run.loops.close(first)
    other = run.open()
    run.step(other, steps, ns=ns)
    return other


def test_a_loop_that_goes_on_much_longer_has_a_window_of_its_own(run: Fixture) -> None:
    """After five times as long as the first one went on, 2 s, from the end of its first step on."""
    other = short_then(run, 20, S // 10)
    assert run.tracer.calls.count("start") == 1

    run.step(other, 2, ns=S // 10)
    assert run.tracer.calls.count("start") == 2


def test_windows_of_a_loop_that_mattered_less_are_taken_away(run: Fixture, out: Recorded) -> None:
    """Folder and file are gone."""
    short_then(run, 25, S // 10)

    (path,) = (out.folder / "kernels").glob("*.json")
    assert (path.name, json.loads(path.read_text())["steps"]) == ("window-001.json", 3)
    assert not (out.folder / "kernels" / "window-000").exists()


def test_a_window_is_taken_again_once(run: Fixture) -> None:
    """However long a third loop goes on."""
    second = short_then(run, 25, S // 10)
    run.loops.close(second)
    third = run.open()
    run.step(third, 500, ns=S // 10)

    assert run.tracer.calls.count("start") == 2


def test_loops_as_long_as_the_first_have_no_window(run: Fixture) -> None:
    """Folds of one training."""
    for _ in range(4):
        loop = run.open()
        run.step(loop, 9, ns=S)
        run.loops.close(loop)

    assert run.tracer.calls.count("start") == 1


def test_a_longer_loop_of_less_than_a_second_has_none(run: Fixture) -> None:
    """What it takes would be more than it tells."""
    short_then(run, 30, S // 100)

    assert run.tracer.calls.count("start") == 1


def test_a_loop_beside_one_that_has_its_window_and_still_runs_is_recorded(run: Fixture) -> None:
    """On another thread: how long the first goes on is not known yet."""
    first, others = run.open(), []
    thread = threading.Thread(target=lambda: others.append(run.open()))
    thread.start()
    thread.join()
    run.step(first, 20, ns=S // 10)
    run.step(others[0], 50, ns=S // 10)

    assert run.tracer.calls.count("start") == 1
    assert [note.slug for note in run.out.stream().notes] == []


def in_thread(work: Callable[[], object], daemon: bool = False) -> None:
    """Run that on a thread of its own, to its end."""
    thread = threading.Thread(target=work, daemon=daemon)
    thread.start()
    thread.join()


def test_a_window_is_closed_on_its_thread_when_that_ends(run: Fixture) -> None:
    """Its loop was left without a word; what was traced of it is kept."""

    def train() -> None:
        run.step(run.open(), 7)
        run.windows.thread_ended(threading.get_ident())

    in_thread(train)
    assert run.tracer.calls == ["drain", "start", "drain", "stop"]
    assert run.kept() == [("fit", 2)]


def test_another_thread_neither_ends_a_window_nor_makes_ranges_in_it_where_the_tracer_is_of_a_thread(
    run: Fixture,
) -> None:
    """Not with a step of the same loop, its end, its own end, or the end of the process."""
    run.tracer.of_thread = True
    loop = run.open()
    run.step(loop, 5)
    assert run.windows.annotation("mine") is not None

    def other() -> None:
        run.step(loop, 5)
        run.windows.closed(loop)
        run.windows.thread_ended(threading.get_ident())
        assert run.windows.annotation("theirs") is None
        run.windows.finish()

    in_thread(other)
    assert run.tracer.calls == ["drain", "start", "begin mine"]
    told = run.out.stream().probes[-1]
    assert (told["state"], told["reason"]) == (
        "unavailable",
        "the process ended while another thread was traced, which alone could end that",
    )


def test_the_end_of_the_process_closes_a_window_of_another_thread_where_the_tracer_is_of_the_process(
    run: Fixture,
) -> None:
    """As one of a daemon."""
    in_thread(lambda: run.step(run.open(), 7))
    run.windows.finish()

    assert run.kept() == [("fit", 2)]


@pytest.mark.parametrize(
    ("of_thread", "step_ns", "calls"),
    [(True, S // 10, ["drain", "start"]), (True, 2 * S, []), (False, 2 * S, ["drain", "start", "drain", "stop"])],
)
def test_a_thread_that_python_may_stop_is_traced_by_a_tracer_of_threads_where_its_steps_can_be_waited_for(
    run: Fixture, of_thread: bool, step_ns: int, calls: list[str]
) -> None:
    """A daemon: the process may end in the middle of its window."""
    run.tracer.of_thread = of_thread
    in_thread(lambda: run.step(run.open(), 7, ns=step_ns), daemon=True)

    assert run.tracer.calls == calls


_MAY_BE_STOPPED = (
    "the training ran on a thread that Python does not wait for (a daemon), in steps too long to be waited for as the "
    "process ends"
)


def test_it_is_said_that_a_daemon_was_not_traced(run: Fixture) -> None:
    """Where nothing else was."""
    run.tracer.of_thread = True
    in_thread(lambda: run.step(run.open(), 7, ns=2 * S), daemon=True)

    state, reason = run.state()
    assert (state, reason) == ("unavailable", _MAY_BE_STOPPED)


def test_whole_loops_of_a_daemon_are_not_traced_by_a_tracer_of_threads(out: Recorded, now: Clock) -> None:
    """Before its first step nobody knows how long they are."""
    run = Fixture(out, now, "all")
    run.tracer.of_thread = True
    in_thread(lambda: run.step(run.open(), 7), daemon=True)

    assert run.tracer.calls == []


def test_a_window_of_a_daemon_is_closed_at_its_next_step_when_the_process_ends(run: Fixture) -> None:
    """The end waits for that, and no window is begun any more."""
    run.tracer.of_thread = True
    opened, ending = threading.Event(), threading.Event()

    def train() -> None:
        loop = run.open()
        run.step(loop, 7, ns=S // 10)
        opened.set()
        ending.wait()
        run.step(loop, 1, ns=S // 10)
        run.step(run.open("predict"), 9, ns=S // 10)

    thread = threading.Thread(target=train, daemon=True)
    thread.start()
    opened.wait()
    threading.Timer(0.02, ending.set).start()
    run.windows.leave_others()
    assert run.windows.active is None
    thread.join()

    assert run.tracer.calls == ["drain", "start", "drain", "stop"]
    assert run.kept() == [("fit", 3)]


def test_a_daemon_that_ends_no_step_is_not_waited_for_for_long(
    run: Fixture, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may stand in a queue for ever; what it has traced is lost, as it would be with the process."""
    run.tracer.of_thread = True
    in_thread(lambda: run.step(run.open(), 7, ns=S // 10), daemon=True)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now.ns += S // 10

    monkeypatch.setattr(module, "sleep", sleep)
    run.windows.leave_others()

    assert (run.tracer.calls, len(slept)) == (["drain", "start"], 3)
    assert run.windows.active is not None


def test_two_threads_do_not_start_windows_at_the_same_time(run: Fixture) -> None:
    """The one that comes while the other's tracer starts goes without, and does not wait."""
    first, second = run.open(), run.open("evaluate")
    second.watch, second.kind, second.window_after, second.window_steps = run.windows._after_step, "evaluate", 5, 3
    start = run.tracer.start

    def slow_start(folder: str) -> None:
        in_thread(lambda: run.step(second, 7))
        start(folder)

    run.tracer.start = slow_start
    run.step(first, 9)

    assert run.tracer.calls == ["drain", "start", "drain", "stop"]
    assert (run.kept(), run.out.notes()) == ([("fit", 3)], [])
