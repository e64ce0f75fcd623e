"""The functions that stand between the user's code and Keras: they call, and pass on what comes back."""

from __future__ import annotations

import copy
import pickle
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import wrappers

from tests.unit.inproc.conftest import Clock

HERE = threading.get_ident


class Loop:
    """What wrappers need of a loop."""

    def __init__(self, user_callbacks: bool = False) -> None:
        self.begin = self.callbacks = self.waited = self.step_index = self.device_wait = 0
        self.user_callbacks = user_callbacks
        self.calls: list[tuple[int, int, bool]] = []
        self.finished: list[tuple[Any, int]] = []

    def called(self, start: int, end: int, first: bool) -> None:
        self.calls.append((start, end, first))

    def finish(self, args: tuple[Any, ...], end: int) -> None:
        self.finished.append((args[1], end))


class Lines:
    """Notes when counting of lines is resumed and paused."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def resume(self) -> None:
        self.calls.append("resume")

    def pause(self) -> None:
        self.calls.append("pause")


def takes(now: Clock, spent_ns: int, result: Any = None) -> Any:
    """A function that takes so long."""

    def function(*args: Any, **kwargs: Any) -> Any:
        now.ns += spent_ns
        return result if result is not None else (args, kwargs)

    return function


def fails(*_args: Any, **_kwargs: Any) -> None:
    """A function of the user's that fails."""
    raise LookupError("of the user's own")


def test_a_spanned_call_is_between_its_hooks() -> None:
    """With all of its arguments, and its result."""
    calls: list[Any] = []

    def enter(args: Any) -> str:
        calls.append(args)
        return "token"

    wrapped = wrappers.spanned(lambda *args, **more: (args, more), enter, lambda *told: calls.append(told))

    assert wrapped(1, two=2) == ((1,), {"two": 2})
    assert calls == [(1,), ("token", (1,))]


def test_an_exception_leaves_a_spanned_call_after_its_hook() -> None:
    """The very exception."""
    left: list[Any] = []

    with pytest.raises(LookupError, match="of the user's own"):
        wrappers.spanned(fails, lambda _args: 1, lambda token, _args: left.append(token))()

    assert left == [1]


def test_an_import_is_between_its_hooks() -> None:
    """The function keeps the name that tracebacks leave out."""
    calls: list[Any] = []
    wrapped = wrappers.importing(lambda name, import_: (name, import_), calls.append, lambda *a: calls.append(a))

    assert wrapped("json", "import") == ("json", "import")
    assert calls == ["json", (None, "json")]
    assert wrapped.__name__ == "_find_and_load"


def test_code_of_a_module_goes_through_the_selection() -> None:
    """With the loader and the module's name."""
    wrapped = wrappers.getting_code(lambda _loader, name: "code of " + name, lambda *told: told)

    assert wrapped("loader", "module") == ("code of module", "loader", "module")


def test_a_hook_after_a_call_gets_its_result() -> None:
    """Nothing is called where the call failed."""
    calls: list[Any] = []

    assert wrappers.after(lambda value: value + 1, lambda *told: calls.append(told))(4) == 5
    with pytest.raises(LookupError):
        wrappers.after(fails, lambda *told: calls.append(told))()
    assert calls == [(5, (4,))]


def test_keywords_are_added_to_those_of_the_call() -> None:
    """And take the place of the same ones."""
    calls: list[Any] = []
    wrapped = wrappers.with_keywords(
        lambda *args, **kwargs: (args, kwargs),
        lambda given: {"batch_size": given["batch_size"] * 2},
        lambda *told: calls.append(told),
    )

    assert wrapped(1, batch_size=4, epochs=2) == ((1,), {"batch_size": 8, "epochs": 2})
    assert calls == [(((1,), {"batch_size": 8, "epochs": 2}), (1,))]


def test_batch_hooks_bound_a_step(now: Clock) -> None:
    """Its callbacks are the time of both; the step's number is the batch's."""
    loop, lines = Loop(), Lines()
    current: dict[int, Any] = {HERE(): loop}
    begin = wrappers.batch_begin(takes(now, 5, "began"), current, now, lines)
    end = wrappers.batch_end(takes(now, 7, "ended"), current, now, lines)

    assert begin("list", 3) == "began"
    assert (loop.begin, loop.step_index, loop.callbacks) == (1000, 3, 5)

    now.ns += 100
    assert end("list", 3, {"loss": 1}) == "ended"
    assert (loop.callbacks, loop.finished) == (12, [(3, 1112)])
    assert lines.calls == []


def test_a_batch_hook_of_2_3_is_both(now: Clock) -> None:
    """Which it is, the arguments say."""
    loop, lines = Loop(), Lines()
    hook = wrappers.batch_hook(takes(now, 5, "called"), {HERE(): loop}, now, lines)

    assert hook("list", "train", "begin", 3) == "called"
    assert (loop.begin, loop.step_index, loop.callbacks) == (1000, 3, 5)

    assert hook("list", "train", "end", 3, logs={"loss": 1}) == "called"
    assert (loop.callbacks, loop.finished) == (10, [(3, 1010)])


@pytest.mark.parametrize("make", [wrappers.batch_begin, wrappers.batch_end])
def test_batch_hooks_outside_loops_only_call(now: Clock, make: Any) -> None:
    """A program may call its own list of callbacks."""
    assert make(takes(now, 5), {}, now, Lines())("list", 1, logs={}) == (("list", 1), {"logs": {}})
    assert wrappers.batch_hook(takes(now, 5), {}, now, Lines())("list", "train", "end", 1) == (
        ("list", "train", "end", 1, None),
        {},
    )


def test_an_end_without_a_beginning_ends_nothing(now: Clock) -> None:
    """The loop began before the hooks were there."""
    loop = Loop()
    current: dict[int, Any] = {HERE(): loop}
    wrappers.batch_end(takes(now, 5), current, now, Lines())("list", 1)
    wrappers.batch_hook(takes(now, 5), current, now, Lines())("list", "train", "end", 1)

    assert loop.finished == []


def test_lines_of_the_user_s_callbacks_are_counted(now: Clock) -> None:
    """Only while they run, also when they fail."""
    loop, lines = Loop(user_callbacks=True), Lines()
    current: dict[int, Any] = {HERE(): loop}
    wrappers.batch_begin(takes(now, 5), current, now, lines)("list", 0)
    wrappers.batch_end(takes(now, 5), current, now, lines)("list", 0)
    wrappers.batch_hook(takes(now, 5), current, now, lines)("list", "train", "begin", 0)
    with pytest.raises(LookupError):
        wrappers.batch_begin(fails, current, now, lines)("list", 0)

    assert lines.calls == ["resume", "pause"] * 4


def test_a_context_lasts_as_long_as_the_call() -> None:
    """On its own thread, also when it fails."""
    contexts: dict[int, Any] = {}
    seen: list[Any] = []
    wrapped = wrappers.in_context(lambda _value: seen.append(dict(contexts)), lambda args: args[0] * 2, contexts)

    wrapped(4)
    with pytest.raises(LookupError):
        wrappers.in_context(fails, lambda _args: 1, contexts)()

    assert seen == [{HERE(): 8}]
    assert contexts == {}


def test_a_profiled_function_is_between_resuming_and_restoring() -> None:
    """Also when it fails."""
    calls: list[Any] = []
    resume, restore = (lambda: "token"), calls.append

    assert wrappers.profiled(lambda value: value + 1, resume, restore)(1) == 2
    with pytest.raises(LookupError):
        wrappers.profiled(fails, resume, restore)()
    assert calls == ["token", "token"]


class Function:
    """A step function with state of its own."""

    name = "one_step"

    def __init__(self, calls: int = 0) -> None:
        self.calls = calls

    def __call__(self, batch: int, scale: int = 1) -> int:
        self.calls += 1
        return batch * scale


def test_a_step_function_tells_its_loop_when_it_ran(now: Clock) -> None:
    """And that its first call was the first."""
    loop = Loop()
    function = wrappers.StepFunction(takes(now, 50, "result"), {HERE(): loop}, now)

    assert [function(1), function(2)] == ["result", "result"]
    assert loop.calls == [(1000, 1050, True), (1050, 1100, False)]


def test_a_step_function_that_was_made_again_has_no_first_call(now: Clock) -> None:
    """keras-mxnet makes it anew for each batch."""
    loop = Loop()
    wrappers.StepFunction(takes(now, 50), {HERE(): loop}, now, is_again=True)(1)

    assert loop.calls == [(1000, 1050, False)]


def test_a_step_function_that_fails_has_run(now: Clock) -> None:
    """Its exception goes on."""
    loop = Loop()

    with pytest.raises(LookupError, match="of the user's own"):
        wrappers.StepFunction(fails, {HERE(): loop}, now)(1)

    assert loop.calls == [(1000, 1000, True)]


def test_outside_loops_a_step_function_only_calls(now: Clock) -> None:
    """Its first call in a loop is the first."""
    current: dict[int, Any] = {}
    function = wrappers.StepFunction(Function(), current, now)
    assert function(3, scale=2) == 6

    loop = current[HERE()] = Loop()
    function(3)
    assert [first for _, _, first in loop.calls] == [True]


def test_all_other_names_of_a_step_function_are_the_real_one_s(now: Clock) -> None:
    """And those that it lacks are lacking."""
    function = wrappers.StepFunction(Function(), {}, now)

    assert (function.name, function.calls) == ("one_step", 0)
    with pytest.raises(AttributeError, match="absent"):
        _ = function.absent


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_step_function_can_be_copied_and_pickled(copied: Any) -> None:
    """As a model is that somebody clones or sends away."""
    import time

    function = wrappers.StepFunction(Function(calls=5), {}, time.perf_counter_ns)

    assert copied(function).calls == 5
    assert copied(function)(3) == 3


def test_a_step_function_on_another_thread_is_of_no_loop(now: Clock) -> None:
    """Loops are those of their thread."""
    loop = Loop()
    function = wrappers.StepFunction(takes(now, 5), {HERE(): loop}, now)
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()

    assert loop.calls == []
    assert SimpleNamespace(**vars(loop)).finished == []


def test_a_timed_call_tells_its_begin_and_its_result() -> None:
    """Only one that returned."""
    told: list[Any] = []
    timed = wrappers.timed(lambda one: one + 1, lambda *args: told.append(args), lambda: 7)

    assert (timed(1), told) == (2, [(2, (1,), 7)])


def test_a_module_that_is_no_longer_trained_is_told() -> None:
    """With the argument by place or by name; so is one that is trained again."""
    told: list[str] = []
    train = wrappers.switching(lambda _module, mode: mode, lambda: told.append("off"), lambda: told.append("on"))

    assert [train(1), train(1, True), train(1, False), train(1, mode=False)] == [True, True, False, False]
    assert told == ["on", "on", "off", "off"]


def test_what_a_call_gives_may_be_exchanged() -> None:
    """Where nothing is to take its place, it is given itself."""
    assert wrappers.remade(lambda x: x, lambda result, args: (result, args))(1) == (1, (1,))
    assert wrappers.remade(lambda x: x, lambda _result, _args: None)(1) == 1
