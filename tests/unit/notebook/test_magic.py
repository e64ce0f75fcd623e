"""`%%dlprof` in a real IPython shell, with cells of plain Python."""

from __future__ import annotations

import atexit
import builtins
import gc
import json
import os
import signal
import sys
import textwrap
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dlprof
from dlprof.notebook.views import RunView

HERE = "%%dlprof --probes phases,lines --no-report"


class Shell:
    """A shell of its own, whose cells are run as a notebook runs them."""

    def __init__(self, folder: Path) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        InteractiveShell.clear_instance()
        self.shell = InteractiveShell.instance(config=config, ipython_dir=str(folder / "ipython"), colors="nocolor")
        self.names = self.shell.user_ns

    def run(self, text: str) -> Any:
        """Run a cell; IPython's `ExecutionResult`."""
        return self.shell.run_cell(textwrap.dedent(text).strip() + "\n", store_history=True)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell that knows the magic, in an empty folder."""
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.chdir(tmp_path)
    made = Shell(tmp_path)
    made.run("%load_ext dlprof")
    yield made
    InteractiveShell.clear_instance()


def rows(view: RunView) -> list[tuple[Any, ...]]:
    """(file, function, line, hits, source) of each line that ran."""
    frame = view.lines()
    frame = frame[frame["hits"] > 0]
    return list(frame[["file", "function", "line", "hits", "source"]].itertuples(index=False, name=None))


# -- the cell is the notebook's ----------------------------------------------------------------------


def test_a_traced_cell_uses_the_names_of_the_notebook_and_leaves_its_own(shell: Shell) -> None:
    """As if there were no magic."""
    shell.run("a = 3")

    result = shell.run(f"{HERE}\nb = a + 1\ndef double(x):\n    return 2 * x\n")

    assert result.success
    assert shell.names["b"] == 4
    assert shell.run("double(b)").result == 8


def test_the_run_is_kept_in_a_variable_and_among_the_runs(shell: Shell) -> None:
    """`_dlprof`, or the name of `--into`."""
    shell.run(f"{HERE}\n1")
    shell.run(f"{HERE} --into second\n2")

    assert shell.names["second"].name == dlprof.open("last").name
    assert shell.names["_dlprof"].name != shell.names["second"].name
    assert shell.names["second"].summary["script"] == "cell.py"
    assert shell.names["second"].manifest["backend"]["source"] == "notebook"


def test_a_value_at_the_end_is_displayed_and_kept_as_underscore(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a semicolon keeps it from being displayed."""
    shell.run(f"{HERE}\n6 * 7")
    shell.run(f"{HERE}\n'not' + ' shown';")

    out = capsys.readouterr().out
    assert "Out[2]: 42" in out
    assert "not shown" not in out
    assert shell.names["_2"] == 42


def test_magics_and_commands_work_in_a_traced_cell(shell: Shell) -> None:
    """They are IPython's own."""
    shell.run(f"{HERE}\nfiles = !echo one\nwhere = %pwd")

    assert list(shell.names["files"]) == ["one"]
    assert shell.names["where"] == os.getcwd()


def test_the_report_is_displayed(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """By its plain text where there is no browser."""
    shell.run("%%dlprof --probes phases\n1;")

    assert f"<dlprof run {shell.names['_dlprof'].name}>" in capsys.readouterr().out


# -- errors ------------------------------------------------------------------------------------------


def test_an_exception_is_shown_as_ipython_shows_it(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """To the letter as without the magic; the cell has failed."""
    shell.run("def broken():\n    return 1 / 0")
    capsys.readouterr()

    result = shell.run(f"{HERE}\nz = 5\nbroken()\nz = 6")

    shown = capsys.readouterr()
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert shell.names["z"] == 5
    assert "dlprof: the run up to here is in _dlprof" in shown.err
    assert shell.names["_dlprof"].manifest["process"]["exit_code"] == 1
    shell.run("z = 5\nbroken()\nz = 6")
    assert shown.out == capsys.readouterr().out.replace("In[4]", "In[3]")
    assert "ZeroDivisionError: division by zero" in shown.out


def test_an_exception_that_passed_through_hooks_shows_none_of_them(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import that fails goes through the wrapper of the import system."""
    shell.run(f"{HERE}\nimport no_such_module_anywhere")

    shown = capsys.readouterr().out
    assert "ModuleNotFoundError: No module named 'no_such_module_anywhere'" in shown
    assert "dlprof" not in shown


def test_a_caught_exception_is_printed_without_our_frames(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """By the traceback module."""
    shell.run(
        f"{HERE}\nimport traceback\ntry:\n    import no_such_module\nexcept ImportError:\n    traceback.print_exc()"
    )

    assert "dlprof" not in capsys.readouterr().err


def test_showing_an_exception_is_no_part_of_the_run(shell: Shell) -> None:
    """IPython may load half of itself for that."""
    shell.run(f"{HERE}\n1 / 0")

    assert "import" not in shell.names["_dlprof"].phases().index


def test_an_exit_is_told_by_its_code(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The notebook goes on."""
    with pytest.warns(UserWarning, match="To exit: use"):
        shell.run(f"{HERE}\nraise SystemExit(3)")

    assert shell.names["_dlprof"].manifest["process"]["exit_code"] == 3
    assert capsys.readouterr().out.count("An exception has occurred") == 1


def test_a_value_that_cannot_be_displayed_is_said_so(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """By IPython; the cell has not failed."""
    result = shell.run(f"{HERE}\nclass Shy:\n    def __repr__(self): raise ValueError('shy')\nShy()")

    assert result.success
    assert "ValueError: shy" in capsys.readouterr().out


def test_an_interrupt_ends_the_cell_and_keeps_the_run(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """As Interrupt of a notebook sends it."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

    result = shell.run(f"{HERE}\nimport time\ntime.sleep(30)")

    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "KeyboardInterrupt" in capsys.readouterr().out
    assert shell.names["_dlprof"].manifest["state"] == "interrupted"


def test_a_syntax_error_is_shown_and_nothing_is_traced(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no run."""
    result = shell.run(f"{HERE}\nx = = 1")

    assert isinstance(result.error_in_exec, SyntaxError)
    assert "x = = 1" in capsys.readouterr().out
    assert "_dlprof" not in shell.names
    assert not Path("dlprof_runs").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--probes nothing", "There is no probe nothing."),
        ("--into 3x", "--into takes the name of a variable, not 3x"),
        ("--wrong", "unrecognized arguments: --wrong"),
        ("-o dlprof_full", "The output folder dlprof_full exists and is not empty."),
    ],
)
def test_a_wrong_flag_is_one_line(shell: Shell, capsys: pytest.CaptureFixture[str], flags: str, message: str) -> None:
    """And the cell is not run."""
    Path("dlprof_full").mkdir()
    Path("dlprof_full", "file").write_text("")

    result = shell.run(f"%%dlprof {flags}\nran = True")

    assert not result.success
    assert message in capsys.readouterr().err
    assert "ran" not in shell.names


def test_a_cell_that_awaits_is_refused(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The loop of the notebook runs already."""
    shell.run(f"{HERE}\nimport asyncio\nawait asyncio.sleep(0)")

    assert "a traced cell cannot await at its top level" in capsys.readouterr().err


def test_a_traced_cell_cannot_trace_another(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The probes are there once."""
    result = shell.run(f"{HERE}\nget_ipython().run_cell_magic('dlprof', '', '1')")

    assert not result.success
    assert "a traced cell cannot trace another" in capsys.readouterr().err
    assert shell.run(f"{HERE}\n1").success


# -- what is measured --------------------------------------------------------------------------------


def test_lines_of_the_cell_are_counted_under_one_name(shell: Shell) -> None:
    """The code of the cell is `cell.py`, in one piece; its text is kept in the run."""
    shell.run(f"{HERE}\ntotal = 0\nfor i in range(10):\n    total += i\ndef f():\n    return 1\na = f(); b = f()")

    assert rows(shell.names["_dlprof"]) == [
        ("cell.py", "<module>", 1, 1, "total = 0"),
        ("cell.py", "<module>", 2, 11, "for i in range(10):"),
        ("cell.py", "<module>", 3, 10, "    total += i"),
        ("cell.py", "<module>", 4, 1, "def f():"),
        ("cell.py", "<module>", 6, 2, "a = f(); b = f()"),
        ("cell.py", "f", 5, 2, "    return 1"),
    ]
    assert shell.names["_dlprof"].run.folder.source_lines("cell.py")[0] == "total = 0"


def test_lines_of_a_function_of_the_notebook_are_counted_when_asked_for(shell: Shell) -> None:
    """Under the number of its cell; its code is its own again afterwards."""
    shell.run("def work():\n    x = 1\n    return x")
    code = shell.names["work"].__code__

    shell.run(f"{HERE} --lines work\nwork()")

    assert [row[:4] for row in rows(shell.names["_dlprof"]) if row[1] == "work"] == [
        ("In[2]", "work", 2, 1),
        ("In[2]", "work", 3, 1),
    ]
    assert shell.names["work"].__code__ is code


def test_two_runs_of_a_cell_can_be_compared_line_by_line(shell: Shell) -> None:
    """Also when the cell was changed in between."""
    shell.run(f"{HERE} --into a\nx = 1\nfor i in range(3):\n    i")
    shell.run(f"{HERE} --into b\nfor i in range(5):\n    i")

    lines = dlprof.compare(shell.names["a"], shell.names["b"]).lines().set_index("source")

    assert lines.loc["i", ["a_hits", "b_hits"]].to_list() == [3, 5]
    assert lines.loc["x = 1", "a_hits"] == 1
    assert lines["b_hits"].isna()["x = 1"]


def test_the_time_line_begins_and_ends_with_the_cell(shell: Shell) -> None:
    """Phases sum to the wall time, without the time in which the process was there before."""
    shell.run(f"{HERE}\nimport time\ntime.sleep(0.2)")
    view = shell.names["_dlprof"]

    phases = view.phases()
    assert phases["dur_ns"].sum() == view.wall_ns
    assert 0.2 <= phases.loc["script", "dur_ns"] / 1e9 < 2
    assert phases.loc["startup", "dur_ns"] < 0.1e9


def test_marks_in_a_cell_make_phases_and_steps(shell: Shell) -> None:
    """For training without Keras; marks do nothing again afterwards."""
    from dlprof_probes import mark

    shell.run(f"""
        {HERE}
        from dlprof_probes import mark
        with mark.phase("fit", batch_size=4):
            for batch in mark.steps(range(3)):
                pass
    """)

    assert shell.names["_dlprof"].steps()["loop"].to_list() == ["train"] * 3
    assert mark._sink is None


def test_all_probes_work_beside_the_notebook(shell: Shell) -> None:
    """Cores of the machine, this process, and stacks that begin with the cell; not dlprof's own helpers."""
    shell.run("""
        %%dlprof --stacks-hz 100
        import time
        end = time.time() + 1.5
        while time.time() < end:
            sum(range(1000))
    """)
    view = shell.names["_dlprof"]
    states = {row["name"]: row["state"] for row in view.summary["probes"]}

    assert states["cores"] == "on"
    assert view.cores()["time_ns"].min() > 0
    commands = dict(zip(view.table("processes")["pid"], view.table("processes")["command"], strict=True))
    assert os.getpid() in commands
    assert [one for one in commands.values() if "py-spy" in str(one) or "dlprof_probes" in str(one)] == []
    assert view.summary["process"]["dlprof_cpu_pct"] is not None
    if states["stacks"] == "on":  # a machine may forbid it
        outer = view.sql(
            "SELECT DISTINCT file FROM frames JOIN stacks USING (stack_id) WHERE depth = 0 AND thread = 'MainThread'"
        )
        assert "cell.py" in outer["file"].to_list()


def test_two_traced_cells_measure_the_same(shell: Shell) -> None:
    """Nothing of the first is left to disturb the second."""
    for name in ("a", "b"):
        shell.run(f"{HERE} --into {name}\nfor i in range(10):\n    i * i")

    assert rows(shell.names["a"]) == rows(shell.names["b"])
    assert not [row for name in "ab" for row in shell.names[name].summary["health"]]


# -- what is left behind -----------------------------------------------------------------------------


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
    }


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
    assert not Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children").read_text().strip()
    assert not [name for name in ("run_code", "showtraceback") if name in vars(shell.shell)]


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


# -- a process of its own ----------------------------------------------------------------------------


def elsewhere(text: str, flags: str = "") -> str:
    """A cell in a process of its own."""
    return f"%%dlprof --python {sys.executable} --probes phases,lines --no-report {flags}\n{textwrap.dedent(text)}"


def test_a_cell_in_a_process_of_its_own_leaves_the_names_of_the_notebook_alone(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its output comes to the notebook; modules beside the notebook are found."""
    Path("beside.py").write_text("value = 7\n")

    result = shell.run(
        elsewhere("import beside, sys\nx = beside.value\nprint('x is', x)\nprint('oh', file=sys.stderr)")
    )

    shown = capsys.readouterr()
    assert result.success
    assert shown.out == "x is 7\n"
    assert "oh\n" in shown.err
    assert "x" not in shell.names
    assert rows(shell.names["_dlprof"])[1] == ("cell.py", "<module>", 2, 1, "x = beside.value")


def test_a_name_of_the_notebook_that_the_process_lacks_is_named(
    shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do."""
    shell.run("model = 1")

    result = shell.run(elsewhere("print(model)"))

    shown = capsys.readouterr().err
    assert not result.success
    assert "NameError: name 'model' is not defined" in shown
    assert "model is a name of the notebook, and the cell ran in a process of its own" in shown


def test_a_process_that_fails_fails_the_cell(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The run is kept."""
    result = shell.run(elsewhere("raise SystemExit(3)"))

    assert not result.success
    assert "the cell's process ended with exit code 3" in capsys.readouterr().err
    assert shell.names["_dlprof"].manifest["process"]["exit_code"] == 3


def test_magics_in_a_process_of_its_own_are_refused(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no IPython."""
    shell.run(elsewhere("!ls"))

    assert "in a process of its own a cell is plain Python" in capsys.readouterr().err


def test_interrupt_reaches_the_process(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    """The first one is the cell's own: it may end as it likes."""
    cell = elsewhere("""
        import time
        print("began", flush=True)
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            print("interrupted")
    """)

    def interrupt() -> None:
        for _ in range(300):
            if list(Path("dlprof_runs").glob("*/raw/inproc.wire")):
                break
            threading.Event().wait(0.1)
        threading.Event().wait(0.7)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    result = shell.run(cell)

    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert "interrupted\n" in capsys.readouterr().out
    assert json.loads(next(Path("dlprof_runs").glob("*/manifest.json")).read_text())["state"] == "interrupted"
