"""What a traced cell leaves behind in the process: nothing."""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

from tests.unit.notebook.shells import HERE, Shell


def state() -> dict[str, Any]:
    """What a probe might leave changed in a process."""
    return {
        "import": sys.modules["_frozen_importlib"]._find_and_load,
        "get_code": sys.modules["_frozen_importlib_external"].SourceLoader.get_code,
        "exit": os._exit,
        "walk": traceback.walk_tb,
        "trace": sys.gettrace(),
        "profile": getattr(builtins, "profile", None),
        "callbacks": list(gc.callbacks),
        "files": sorted(
            os.readlink(f"/proc/self/fd/{fd}")
            for fd in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{fd}")
        ),
        "signal": signal.getsignal(signal.SIGINT),
        "tool": sys.monitoring.get_tool(2) if hasattr(sys, "monitoring") else None,
        "threads": threading.active_count(),
        "children": Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children").read_text().split(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["import colorsys", "1 / 0", "import no_such_module"])
def test_nothing_is_left_behind(shell: Shell, cell: str) -> None:
    """No hook, no trace function, no open file, no helper, however the cell ended."""
    shell.run("%%dlprof --no-report\n1")  # what is loaded once, and stays
    sys.modules.pop("colorsys", None)
    before = state()
    finished: list[Any] = []
    atexit.register(finished.append, 1)

    shell.run(f"%%dlprof --no-report\n{cell}")

    atexit.unregister(finished.append)
    after = state()
    assert {name: value for name, value in after.items() if value != before[name]} == {}
    assert not [name for name in ("run_code", "showtraceback") if name in vars(shell.shell)]


@pytest.mark.slow
def test_methods_of_a_class_that_were_replaced_are_its_own_again(shell: Shell) -> None:
    """A stand-in for Keras is loaded before the cell, hooked in it, and left as it was."""
    shell.run("""
        import sys, types
        keras = types.ModuleType("keras")
        class Model:
            def fit(self, steps):
                for step in range(steps):
                    callbacks.on_train_batch_begin(step)
                    callbacks.on_train_batch_end(step)
            def make_predict_function(self): pass
        class Sequential(Model): pass
        class Layer: pass
        class CallbackList:
            def on_train_batch_begin(self, batch): pass
            def on_train_batch_end(self, batch): pass
        Model.__module__ = Sequential.__module__ = "keras"
        keras.__version__ = "3.0"
        keras.Model, keras.Sequential = Model, Sequential
        keras.layers = types.SimpleNamespace(Layer=Layer)
        keras.callbacks = types.SimpleNamespace(CallbackList=CallbackList)
        keras.backend = types.SimpleNamespace(backend=lambda: "none")
        sys.modules["keras"] = keras
        model, callbacks = Sequential(), CallbackList()
        fit = Model.fit
    """)
    try:
        result = shell.run(f"{HERE}\nmodel.fit(4)")
    finally:
        sys.modules.pop("keras", None)

    assert result.success
    view = shell.names["_dlprof"]
    assert view.phases().loc["fit", "count"] == 1
    assert view.steps()["loop"].to_list() == ["train"] * 4
    assert view.table("spans").query("kind == 'fit'")[["file", "line"]].to_dict("records") == [
        {"file": "cell.py", "line": 1}
    ]
    assert shell.names["Model"].fit is shell.names["fit"]


@pytest.mark.slow
def test_a_trace_function_of_somebody_else_is_left_alone(shell: Shell) -> None:
    """A debugger's, or that of a tool that measures coverage: lines are not counted then, and the reason is told."""

    def tracer(*_: Any) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        shell.run(f"{HERE}\n1")
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)

    lines = next(row for row in shell.names["_dlprof"].summary["probes"] if row["name"] == "lines")
    assert lines["state"] == "unavailable"
    assert "a debugger" in lines["reason"]
