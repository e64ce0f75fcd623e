"""Line profiling: which files are counted, and that counting stops while the user's code does not run."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import census, lines, thinning
from dlprof_probes.inproc.lines import Lines, NoLines
from line_profiler import LineProfiler

from tests.unit.inproc.conftest import Clock

S = 1_000_000_000


class Profiler:
    """As line_profiler before 5: it is the trace function itself."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.functions: list[Any] = []

    def __call__(self, *_args: Any) -> None:
        """A trace function."""

    def enable(self) -> None:
        self.calls.append("enable")
        vars(lines)["sys"].settrace(self)

    def disable(self) -> None:
        self.calls.append("disable")

    def enable_by_count(self) -> None:
        self.calls.append("enable by count")

    def disable_by_count(self) -> None:
        self.calls.append("disable by count")

    def add_function(self, function: Any) -> None:
        self.functions.append(function.__code__.co_name)

    def get_stats(self) -> Any:
        return SimpleNamespace(unit=1e-6, timings={("train.py", 3, "step"): [(4, 10, 250)]})


class Manager:
    """The trace function of line_profiler from 5 on: one for all profilers."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, frame: Any, event: str, arg: Any) -> None:
        self.calls.append(event)


class Interpreter:
    """What `lines` asks of `sys`: a trace function that is nobody else's, such as that of a measurement of coverage."""

    def __init__(self) -> None:
        self.trace: Any = None
        self.path = sys.path
        self.modules = sys.modules

    def gettrace(self) -> Any:
        return self.trace

    def settrace(self, function: Any) -> None:
        self.trace = function

    def _getframe(self) -> Any:
        return sys._getframe()


@pytest.fixture
def interpreter(monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    """Takes the place of `sys`."""
    made = Interpreter()
    monkeypatch.setattr(lines, "sys", made)
    return made


@pytest.fixture
def counting(interpreter: Interpreter, tmp_path: Path, now: Clock) -> Any:
    """Line profiling of everything, begun."""
    made: Any = Lines(Profiler(), lambda *_: True, str(tmp_path / "lines.json"))
    made.start()
    return made


def test_counting_pauses_and_goes_on(counting: Any, interpreter: Interpreter) -> None:
    """As it was before the pause."""
    assert interpreter.trace is counting.profiler

    assert counting.pause() is True
    assert interpreter.trace is None

    counting.restore(True)
    assert interpreter.trace is counting.profiler


def test_what_was_not_counting_is_not_begun(counting: Any, interpreter: Interpreter) -> None:
    """Pauses nest: the inner one found it paused."""
    counting.pause()

    assert counting.pause() is False
    counting.restore(False)
    assert interpreter.trace is None


def test_a_trace_function_of_the_user_s_own_is_left_alone(counting: Any, interpreter: Interpreter) -> None:
    """Neither taken away nor replaced; the run says that counting was stopped."""
    theirs = interpreter.trace = Manager()

    assert counting.pause() is False
    counting.restore(True)
    assert counting.resume() is False
    assert interpreter.trace is theirs
    assert counting.stopped() is True


def test_counting_is_not_stopped_while_it_runs(counting: Any) -> None:
    """The trace function is ours."""
    assert counting.stopped() is False


def test_counting_resumes_inside_keras_for_code_of_the_user_s(counting: Any, interpreter: Interpreter) -> None:
    """If it was paused; else there is nothing to do."""
    assert counting.resume() is False
    counting.pause()

    assert counting.resume() is True
    assert interpreter.trace is counting.profiler


def test_other_threads_are_not_counted(counting: Any) -> None:
    """A callback that Keras calls on one of its own threads."""
    counting.pause()
    results: list[bool] = []
    thread = threading.Thread(target=lambda: results.append(counting.resume()))
    thread.start()
    thread.join()

    assert results == [False]


@pytest.fixture
def in_census(counting: Any, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same, while a census stands in for the counting."""
    monkeypatch.setattr(census, "sys", interpreter)
    cost = SimpleNamespace(event_ns=200, told_ns=1000, least_ns=20, counted=None)
    counting._thinning = thinning.Thinning(counting, 0.005, cost, False)
    counting._thinning._begin_census()
    assert interpreter.trace is not counting.profiler
    return counting


def test_a_census_ends_where_counting_pauses(in_census: Any, interpreter: Interpreter) -> None:
    """It would go on in Keras else, and turn counting on there when it is over."""
    assert in_census.pause() is True
    assert interpreter.trace is None

    in_census._thinning.end_census()
    assert interpreter.trace is None

    in_census.restore(True)
    assert interpreter.trace is in_census.profiler


def test_a_census_does_not_go_on_in_a_child(in_census: Any, interpreter: Interpreter) -> None:
    """Nothing is counted there."""
    in_census.forked()

    assert interpreter.trace is None


def test_a_census_is_nobody_else_s_trace_function(in_census: Any) -> None:
    """Counting goes on after it."""
    assert in_census.stopped() is False


def test_the_manager_of_newer_versions_is_put_back_and_called(counting: Any, interpreter: Interpreter) -> None:
    """Its first call puts its own function in place."""
    manager = counting._manager = interpreter.trace = Manager()
    was_on = counting.pause()
    counting.restore(was_on)

    assert interpreter.trace is manager
    assert manager.calls == ["call"]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="line_profiler has no trace function from 3.12 on")
def test_the_line_that_a_window_ends_in_is_told(tmp_path: Path) -> None:
    """line_profiler counts it at the next line of its frame: never, where the function is over by the next window."""
    before = sys.gettrace()
    sys.settrace(None)
    made = Lines(LineProfiler(), lambda *_: True, str(tmp_path / "lines.json"))
    source = "def work(end):\n    value = 1\n    return end()\n"
    work = FunctionType(made.register(compile(source, "train.py", "exec").co_consts[0]), {})
    try:
        made._start()
        made.switch(False)
        ended = []
        for _ in range(2):
            made.switch(True)
            ended.append([(code.co_name, line) for code, line in work(made.end_window)])
        counted = made.counts_now()
    finally:
        sys.settrace(before)

    [lines] = [lines for key, lines in made._counts().items() if key[0] == "train.py"]
    assert ended == [[("work", 3)], [("work", 3)]]
    assert [(line, hits) for line, hits, _ in lines] == [(2, 2)]
    assert counted is False


def test_an_extension_that_cannot_be_called_is_paused_too(interpreter: Interpreter, tmp_path: Path) -> None:
    """Before version 5, without the class of its package, the trace function is no function of Python."""
    profiler: Any = SimpleNamespace(enable=lambda: interpreter.settrace(profiler))
    counting = Lines(profiler, lambda path, module="": False, str(tmp_path / "lines.json"))
    counting._start()

    was_on = counting.pause()
    assert (was_on, interpreter.trace) == (True, None)

    counting.restore(was_on)
    assert interpreter.trace is profiler


def test_a_decorated_function_is_counted_inside_keras(counting: Any, interpreter: Interpreter) -> None:
    """On the main thread by resuming, elsewhere by counting calls."""
    assert counting.enter_function() == ""
    counting.pause()

    token = counting.enter_function()
    assert (token, interpreter.trace) == ("resumed", counting.profiler)
    counting.leave_function(token)
    assert interpreter.trace is None

    counting._thread = 0
    token = counting.enter_function()
    counting.leave_function(token)
    assert (token, counting.profiler.calls[-2:]) == ("enabled", ["enable by count", "disable by count"])


def test_all_functions_of_a_module_are_registered(counting: Any) -> None:
    """Those in classes and in functions too; comprehensions are parts of theirs."""
    code = compile(
        "class A:\n    def method(self):\n        return [x for x in ()]\n\ndef outer():\n    value = 1\n"
        "    def inner():\n        return value\n    return inner, lambda: 0\n",
        "train.py",
        "exec",
    )

    counting.register(code)

    assert sorted(counting.profiler.functions) == ["<module>", "inner", "method", "outer"]


def test_the_code_that_line_profiler_has_changed_is_the_one_that_runs(interpreter: Interpreter, now: Clock) -> None:
    """It tells equal code apart by padding it."""

    class Padding(Profiler):
        def add_function(self, function: Any) -> None:
            super().add_function(function)
            function.__code__ = function.__code__.replace(co_name=function.__code__.co_name + " padded")

    counting: Any = Lines(Padding(), lambda *_: True, "lines.json")
    code = counting.register(compile("def step():\n    return 1\n", "train.py", "exec"))

    names = [const.co_name for const in code.co_consts if isinstance(const, CodeType)]
    assert (code.co_name, names) == ("<module> padded", ["step padded"])


def test_registering_costs_what_it_takes(counting: Any, now: Clock) -> None:
    """Told in the run's health."""

    def slow(_function: Any) -> None:
        now.ns += 40

    counting.profiler.add_function = slow
    counting.register(compile("1", "train.py", "exec"))

    assert counting.cost_ns == 40


def test_counts_are_saved_by_function_and_line(counting: Any, tmp_path: Path) -> None:
    """Line, hits and time in the profiler's unit."""
    counting.save()

    assert json.loads((tmp_path / "lines.json").read_text()) == {
        "format": "dlprof.lines/1",
        "unit_ns": 1000.0,
        "on_threads": False,
        "functions": [
            {"file": "train.py", "first_line": 3, "function": "step", "lines": [[4, 10, 250]], "everywhere": False}
        ],
    }
    assert not (tmp_path / "lines.json.part").exists()


def test_a_function_under_profile_is_saved_as_counted_everywhere(counting: Any, tmp_path: Path) -> None:
    """What it calls is counted wherever it runs, which samples alone do not show."""
    counting.counts_everywhere(SimpleNamespace(co_filename="train.py", co_firstlineno=3, co_name="step"))
    counting.save()

    (function,) = json.loads((tmp_path / "lines.json").read_text())["functions"]
    assert function["everywhere"] is True


def test_counts_are_saved_at_most_every_so_often(counting: Any, tmp_path: Path, now: Clock) -> None:
    """Where many short loops begin."""
    counting.save(at_most_every_s=5)
    (tmp_path / "lines.json").unlink()
    now.ns += 4 * S
    counting.save(at_most_every_s=5)
    assert not (tmp_path / "lines.json").exists()

    now.ns += 2 * S
    counting.save(at_most_every_s=5)
    assert (tmp_path / "lines.json").exists()


def test_a_forked_child_does_not_save(counting: Any, tmp_path: Path) -> None:
    """It would replace what its parent has counted."""
    counting._pid = 0
    counting.save()

    assert not (tmp_path / "lines.json").exists()


def test_a_forked_child_that_forks_again_starts_no_thread(counting: Any) -> None:
    """There is none in it to be stopped; waiting for one would be for ever."""
    asked: list[str] = []
    counting._manager = None
    counting._thinning = SimpleNamespace(
        stop=lambda wait_s=0: asked.append(f"stop {wait_s}"),
        start=lambda: asked.append("start"),
        end_census=lambda: None,
    )
    counting.before_fork()
    counting.after_fork()
    counting.forked()
    assert asked == ["stop 0.5", "start", "stop 0"]

    counting.before_fork()
    counting.after_fork()

    assert asked == ["stop 0.5", "start", "stop 0"]


def test_nothing_is_left_behind_in_a_process_that_goes_on(counting: Any, interpreter: Interpreter) -> None:
    """No trace function, and the profiler is off."""
    counting.stop()

    assert interpreter.trace is None
    assert counting.profiler.calls[-1] == "disable"


def test_profiling_is_made_as_the_configuration_says(package: Path, tmp_path: Path) -> None:
    """Ready to start."""
    made = lines.make(
        {"patterns": ["pkg"], "package": str(package)}, str(tmp_path / "train.py"), str(tmp_path / "l.json")
    )

    assert made.selects("/x/y.py", "pkg") is True
    assert type(made.profiler).__name__ == "LineProfiler"


def test_a_line_profiler_that_is_not_there_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which the session tells in the run's health."""
    monkeypatch.setitem(sys.modules, "line_profiler", None)

    with pytest.raises(ImportError):
        lines.make({}, "/train.py", "lines.json")


def test_without_line_profiling_every_method_does_nothing() -> None:
    """And code stays what it is."""
    nothing, code = NoLines(), compile("1", "x", "eval")

    assert (nothing.pause(), nothing.resume(), nothing.selects("x"), nothing.on) == (False,) * 4
    assert nothing.register(code) is code
    assert (nothing.restore(True), nothing.save(), nothing.stop()) == (None, None, None)


def test_the_real_line_profiler_counts_what_runs_between_pauses(tmp_path: Path) -> None:
    """Three calls, of which the second one is not counted."""
    script = tmp_path / "train.py"
    script.write_text("def step():\n    return 1\n")
    trace = sys.gettrace()
    try:
        sys.settrace(None)
        counting = lines.make({}, str(script), str(tmp_path / "lines.json"))
        namespace: dict[str, Any] = {}
        code = counting.register(compile(script.read_text(), str(script), "exec"))
        counting.start()
        exec(code, namespace)
        namespace["step"]()
        was_on = counting.pause()
        if sys.version_info < (3, 12):
            namespace["step"]()
        counting.restore(was_on)
        namespace["step"]()
        counting.save()
        counting.stop()
    finally:
        sys.settrace(trace)

    functions = json.loads((tmp_path / "lines.json").read_text())["functions"]
    hits = {f["function"]: [(line, count) for line, count, _ in f["lines"]] for f in functions}
    assert hits["step"] == [(2, 2)]
