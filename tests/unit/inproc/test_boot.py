"""A script runs under the probe as Python would run it, and leaves a whole stream however it ends."""

from __future__ import annotations

import atexit
import builtins
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dlprof_probes
import pytest
from dlprof_probes.inproc import boot, lines, tracebacks
from dlprof_probes.inproc import session as session_module

from dlprof.ingest.own import wire
from dlprof.ingest.own.wire_stream import Stream
from tests.stand_ins import keras_versions

START = Path(dlprof_probes.__file__).parent / "inproc" / "entry"


@dataclass
class Interpreter:
    """This interpreter, as if it had just been started to run a script."""

    folder: Path

    def run(self, text: str, name: str = "train.py", module: str | None = None, **more: Any) -> None:
        """Run a script, or a module, under the probe; what it raises comes out."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        (self.folder / "status").write_bytes(b" " * 1024)
        config = {
            "raw": str(self.folder),
            "status": str(self.folder / "status"),
            "lines": None,
            "script": module or str(path),
            "module": module,
            "argv": [module or str(path), "--epochs", "2"],
            **more,
        }
        (self.folder / "config.json").write_text(json.dumps(config))
        boot.main(str(self.folder / "config.json"), 500)

    def stream(self) -> Stream:
        """What the probe has written."""
        return wire.read(self.folder / "inproc.wire")


@pytest.fixture
def interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Interpreter]:
    """State of the interpreter that a program sees is as before afterwards; what was to be done at exit is done."""
    at_exit: list[Callable[[], Any]] = []
    sessions: list[Any] = []
    real = vars(boot)["Session"]

    class Session(real):  # type: ignore[misc,valid-type]
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            sessions.append(self)

    monkeypatch.setattr(boot, "Session", Session)
    monkeypatch.setattr(atexit, "register", at_exit.append)
    monkeypatch.setattr(sys, "argv", ["start.py", "config.json"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "start.py", "config.json"])
    monkeypatch.setattr(sys, "path", ["/payload", *sys.path[1:]])
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(os, "_exit", os._exit)
    monkeypatch.setattr(os, "register_at_fork", lambda **_hooks: None)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(tracebacks, "install", lambda _patches: None)
    monkeypatch.chdir(tmp_path)
    yield Interpreter(tmp_path)
    for session in sessions:
        session.finish()
        session.probe.end()


SEEN = """
import json, sys
json.dump({
    "argv": sys.argv, "path": sys.path[0], "name": __name__, "file": __file__, "spec": __spec__ and __spec__.name,
    "package": __package__, "main": sys.modules["__main__"].__dict__ is globals(), "orig_argv": sys.orig_argv,
    "frames": sys._getframe(1).f_globals.get("__name__"), "builtins": hasattr(__builtins__, "print"),
    "loader": type(__loader__).__name__, "cached": __cached__,
}, open("seen.json", "w"))
"""


def test_a_script_finds_what_python_would_have_given_it(interpreter: Interpreter) -> None:
    """Arguments, path, `__main__` and its names."""
    interpreter.run(SEEN)
    path = str(interpreter.folder / "train.py")

    seen = json.loads((interpreter.folder / "seen.json").read_text())

    del seen["frames"]
    assert seen == {
        "argv": [path, "--epochs", "2"], "orig_argv": ["python", path, "--epochs", "2"], "path": str(interpreter.folder),
        "name": "__main__", "file": path, "spec": None, "package": None, "main": True, "builtins": True,
        "loader": "SourceFileLoader", "cached": None,
    }  # fmt: skip


def test_a_module_finds_what_python_would_have_given_it(
    interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `python -m package.train` does."""
    (interpreter.folder / "package_of_boot").mkdir()
    (interpreter.folder / "package_of_boot" / "__init__.py").touch()
    interpreter.run(SEEN, "package_of_boot/train.py", module="package_of_boot.train")
    path = str(interpreter.folder / "package_of_boot" / "train.py")

    seen = json.loads((interpreter.folder / "seen.json").read_text())

    assert (seen["argv"], seen["path"], seen["file"]) == ([path, "--epochs", "2"], str(interpreter.folder), path)
    assert (seen["name"], seen["spec"], seen["package"]) == ("__main__", "package_of_boot.train", "package_of_boot")
    assert seen["orig_argv"] == ["python", "-m", "package_of_boot.train", "--epochs", "2"]


def test_the_script_is_a_span_of_the_stream(interpreter: Interpreter) -> None:
    """After our own start, with the imports in it."""
    interpreter.run("import colorsys as module\nimport sys\n", name="train.py")

    spans = [(span.kind, span.name) for span in interpreter.stream().spans.values()]
    assert spans[:2] == [("dlprof", "start"), ("script", "script")]
    assert interpreter.stream().spans[1].start == 500


def test_facts_of_the_process_are_told(interpreter: Interpreter) -> None:
    """Which it is, and where its clock stands."""
    interpreter.run("pass")
    meta = interpreter.stream().meta

    assert (meta["pid"], meta["boot_ns"], meta["implementation"]) == (os.getpid(), 500, sys.implementation.name)
    assert meta["python"] == "%d.%d.%d" % sys.version_info[:3]
    assert meta["clock_start"]["width_ns"] >= 0


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("raise KeyError('gone')", KeyError),
        ("import sys; sys.exit(3)", SystemExit),
        ("raise KeyboardInterrupt", KeyboardInterrupt),
        ("def broken(:\n", SyntaxError),
    ],
)
def test_what_a_script_raises_comes_out(interpreter: Interpreter, text: str, error: type[BaseException]) -> None:
    """And is reported without our frames."""
    before = sys.excepthook

    with pytest.raises(error):
        interpreter.run(text)

    assert sys.excepthook is not before
    script = [span for span in interpreter.stream().spans.values() if span.kind == "script"]
    assert script[0].end is not None


def test_a_script_that_is_not_there_is_the_script_s_error(interpreter: Interpreter) -> None:
    """Python says the same."""
    with pytest.raises(FileNotFoundError):
        interpreter.run("pass", script="absent.py", argv=["absent.py"])


def test_a_module_that_is_not_there_is_python_s_own_error(interpreter: Interpreter) -> None:
    """As `python -m` says it."""
    with pytest.raises(SystemExit, match="No module named absent_of_boot"):
        interpreter.run("pass", module="absent_of_boot")


def test_a_probe_that_cannot_start_leaves_its_reason_and_the_script_runs(interpreter: Interpreter) -> None:
    """A stream that is there already is another process's."""
    (interpreter.folder / "inproc.wire").touch()

    interpreter.run(SEEN)

    assert (interpreter.folder / "seen.json").exists()
    reason = json.loads((interpreter.folder / "status").read_text())["failed"]
    assert reason.startswith("the in-process probe did not start: FileExistsError: ")


def test_the_process_tells_its_number_where_it_is_asked(interpreter: Interpreter) -> None:
    """A tool around it has another one."""
    interpreter.run("pass", pid=str(interpreter.folder / "pid"))

    assert (interpreter.folder / "pid").read_text() == str(os.getpid())


def session(interpreter: Interpreter, **more: Any) -> Any:
    """The session of a script that is over, not yet of its process."""
    sessions = []
    real = vars(boot)["Session"]

    class Session(real):  # type: ignore[misc,valid-type]
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            sessions.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boot, "Session", Session)
        interpreter.run("pass", **more)
    return sessions[0]


def test_the_end_says_what_each_part_could_do(interpreter: Interpreter) -> None:
    """Collections, hooks that this version lacks, and that the stream is whole."""
    made = session(interpreter)
    made.probe.missing.extend(["Model.b", "Model.a", "Model.b"])
    made.finish()
    made.finish()

    stream = interpreter.stream()
    assert stream.complete
    assert sorted(stream.meta["gc"]) == ["count", "total_ns"]
    assert [(p["name"], p["state"], p["reason"]) for p in stream.probes] == [
        ("phases", "on", "not in this version: Model.a, Model.b")
    ]


def test_an_end_that_fails_still_ends_the_stream(interpreter: Interpreter) -> None:
    """With a note of what failed."""
    made = session(interpreter)
    made.probe.loops.finish = lambda: 1 / 0
    made.finish()

    stream = interpreter.stream()
    assert stream.complete
    assert [(n.slug, n.message) for n in stream.notes] == [("finish-failed", "ZeroDivisionError: division by zero")]


def test_an_end_that_cannot_be_written_is_kept_from_the_program(interpreter: Interpreter) -> None:
    """Its reason is where one looks for it."""
    made = session(interpreter)
    made.recorder.finish = lambda: 1 / 0
    made.finish()

    status = (interpreter.folder / "status").read_bytes().strip()
    assert json.loads(status) == {"failed": "the stream could not be ended: ZeroDivisionError"}


def test_counts_that_cannot_be_saved_are_told_with_the_rest(interpreter: Interpreter) -> None:
    """As what became of counting, with the reason; the end says what each other part could do."""
    made = session(interpreter)
    made.start_script()

    def refused() -> None:
        raise PermissionError(1, "Operation not permitted", "lines.json")

    counts = {"on": True, "stopped": lambda _: False, "end": lambda _: None, "save": lambda _: refused()}
    made.lines = type("Lines", (), counts)()
    made.end_script()
    made.finish()

    failed = "their file could not be written: PermissionError: [Errno 1] Operation not permitted: 'lines.json'"
    assert {(p["name"], p["state"], p["reason"]) for p in interpreter.stream().probes} == {
        ("lines", "failed", failed),
        ("phases", "on", None),
    }
    assert interpreter.stream().notes == []


def test_an_end_of_the_script_that_fails_is_noted(interpreter: Interpreter) -> None:
    """The script has gone through."""
    made = session(interpreter)
    made.start_script()
    made.lines = type("Lines", (), {"on": True, "stopped": lambda _self: 1 / 0})()
    made.end_script()
    made.lines = lines.NoLines()
    made.finish()

    assert [note.slug for note in interpreter.stream().notes] == ["end-failed"]


def test_leaving_by_os_exit_ends_the_stream_first(interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some launchers leave so."""
    left: list[int] = []
    monkeypatch.setattr(os, "_exit", left.append)

    interpreter.run("import os\nos._exit(3)\n")

    assert left == [3]
    assert interpreter.stream().complete


def test_a_forked_child_is_not_recorded(interpreter: Interpreter) -> None:
    """Its stream is its parent's."""
    made = session(interpreter)
    size = (interpreter.folder / "inproc.wire").stat().st_size

    made.forked()
    made.recorder.note("slug", "of a child")
    made.finish()

    assert (interpreter.folder / "inproc.wire").stat().st_size == size


def test_an_engine_plug_in_that_cannot_be_loaded_is_noted(interpreter: Interpreter) -> None:
    """And passed over."""
    (interpreter.folder / "toy.py").write_text("1 // 0\n")
    interpreter.run("pass", engine_plugins={"toy": str(interpreter.folder / "toy.py")})

    assert [note.slug for note in interpreter.stream().notes] == ["engine-plugin-failed"]


def test_settings_of_a_trial_are_taken(interpreter: Interpreter) -> None:
    """As soon as Keras is imported."""
    with keras_versions.importable("3"):
        interpreter.run("import keras\nassert keras.backend.floatx() == 'float16'\n", overrides={"floatx": "float16"})

    assert interpreter.stream().notes == []


def test_a_run_that_is_no_trial_takes_no_settings(interpreter: Interpreter) -> None:
    """Those of the script's own."""
    assert session(interpreter).imports._overrides is None


def test_windows_are_made_where_kernels_are_wanted(interpreter: Interpreter) -> None:
    """And the end says why there were none."""
    made = session(interpreter, kernels={"mode": "windows", "steps": 3})
    made.finish()

    assert (made.probe.windows.folder, made.probe.windows.everything) == (str(interpreter.folder / "kernels"), False)
    assert [p["reason"] for p in interpreter.stream().probes if p["name"] == "kernels"] == [
        "no engine with a tracer was seen"
    ]


class Lines:
    """Line profiling with what the session asks of it."""

    on = True
    not_thinned = None
    thinned: dict[str, Any] | None = None

    def __init__(self, fails: bool = False, stopped: bool = False) -> None:
        self.calls: list[str] = []
        self._fails, self._stopped = fails, stopped

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_more: self.calls.append(name)

    def register(self, code: Any) -> Any:
        if self._fails:
            raise RuntimeError("no room")
        self.calls.append("register")
        return code

    def stopped(self) -> bool:
        return self._stopped

    def took(self, ns: int) -> None:
        """No call of the session's: the recorder tells that of each span of our own."""

    def spending(self) -> dict[str, Any] | None:
        return self.thinned

    def tax_ns(self) -> int:
        return 40


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """Line profiling of the script."""
    made = Lines()
    monkeypatch.setattr(lines, "make", lambda *_args: made)
    return made


def test_lines_of_the_script_are_counted_and_saved(interpreter: Interpreter, counted: Lines) -> None:
    """From its first to its last."""
    made = session(interpreter, lines={"patterns": []})
    made.finish()

    passing = ("pause", "restore", "spending")
    assert [call for call in counted.calls if call not in passing] == ["register", "start", "end", "save", "save"]
    told = next(p for p in interpreter.stream().probes if p["name"] == "lines")
    assert (told["state"], told["cost_ns"]) == ("on", 40)


def test_lines_that_were_counted_in_windows_are_told_with_their_part_of_the_time(
    interpreter: Interpreter, counted: Lines
) -> None:
    """As the ledger has what other probes left out."""
    counted.thinned = {"duty": 0.0123}

    session(interpreter, lines={"patterns": []}).finish()

    told = next(p for p in interpreter.stream().probes if p["name"] == "lines")
    assert {key: told["thinned"][key] for key in ("what", "from", "to")} == {
        "what": "% of the time in which lines are counted",
        "from": 100,
        "to": 1.23,
    }


def test_a_script_whose_lines_cannot_be_counted_runs_all_the_same(interpreter: Interpreter, counted: Lines) -> None:
    """And the run says why."""
    counted._fails = True

    session(interpreter, lines={"patterns": []}).finish()

    told = [p for p in interpreter.stream().probes if p["name"] == "lines"]
    assert [(p["state"], p["reason"]) for p in told] == [("failed", "RuntimeError: no room")]


def test_a_program_that_sets_a_trace_function_ends_line_profiling(interpreter: Interpreter, counted: Lines) -> None:
    """The run says so."""
    counted._stopped = True

    session(interpreter, lines={"patterns": []}).finish()

    assert [note.slug for note in interpreter.stream().notes] == ["line-profiling-stopped"]


def test_a_line_profiler_that_is_not_there_is_told(interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch) -> None:
    """All else is recorded."""

    def missing(*_args: Any) -> None:
        raise ImportError("No module named 'line_profiler'")

    monkeypatch.setattr(lines, "make", missing)
    session(interpreter, lines={"patterns": []}).finish()

    told = next(p for p in interpreter.stream().probes if p["name"] == "lines")
    assert told["reason"] == "line_profiler cannot be loaded: No module named 'line_profiler'"


def test_profile_is_known_to_a_script_that_names_it(interpreter: Interpreter, counted: Lines) -> None:
    """And to no other."""
    try:
        interpreter.run("profile\n", lines={"patterns": []})
        assert type(builtins.profile).__name__ == "ProfileDecorator"  # type: ignore[attr-defined]
    finally:
        del builtins.profile  # type: ignore[attr-defined]


def test_the_wrappers_are_of_the_import_machinery() -> None:
    """So that warnings and tracebacks pass over them."""
    loaded = session_module.load_wrappers()

    for wrapper in (loaded.spanned, loaded.reading, loaded.opening):  # of each file
        assert wrapper.__code__.co_filename == "<frozen importlib._bootstrap>"
    assert loaded.__name__ == "dlprof_probes.inproc.wrappers"


def python(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, under the probe."""
    (folder / "train.py").write_text(text)
    (folder / "status").write_bytes(b" " * 1024)
    config = {
        "raw": str(folder),
        "status": str(folder / "status"),
        "script": "train.py",
        "argv": ["train.py"],
        "lines": None,
    }
    (folder / "config.json").write_text(json.dumps(config))
    command = [sys.executable, *options, str(START), "config.json"]
    environment = {**os.environ, "PYTHONPATH": str(START)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


WHOLE = """
import atexit, os, sys, warnings
atexit.register(lambda: print("at exit"))
child = os.fork()
if not child:
    print("child", flush=True)
    sys.exit(4)
print("code of child", os.waitpid(child, 0)[1] >> 8)
warnings.warn("of the user's own")
def fail():
    raise LookupError("gone")
fail()
"""


def test_a_process_of_its_own_ends_as_under_python(tmp_path: Path) -> None:
    """Output, exit code, what is done at exit, a forked child, warnings and the uncaught exception."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "train.py").write_text(WHOLE)
    plain = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path / "plain", capture_output=True, text=True, check=False
    )

    done = python(tmp_path, WHOLE)

    assert (
        (done.stdout, done.returncode)
        == (plain.stdout, plain.returncode)
        == (
            "child\nat exit\ncode of child 4\nat exit\n",
            1,
        )
    )
    assert done.stderr.replace(str(tmp_path), "") == plain.stderr.replace(str(tmp_path / "plain"), "")
    assert wire.read(tmp_path / "inproc.wire").complete


def test_a_process_that_leaves_by_os_exit_has_a_whole_stream(tmp_path: Path) -> None:
    """With its exit code."""
    done = python(tmp_path, "import os\nos._exit(5)\n")

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 5)
    assert wire.read(tmp_path / "inproc.wire").complete


def test_a_syntax_error_is_shown_as_python_shows_it(tmp_path: Path) -> None:
    """With the line and the mark below it, and no frame of ours."""
    done = python(tmp_path, "x = (\n")

    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == '  File "%s", line 1' % (tmp_path / "train.py")
    assert "SyntaxError: '(' was never closed" in done.stderr
    assert "dlprof" not in done.stderr
