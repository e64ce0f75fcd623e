"""The program finds its own modules, as if the probe had loaded nothing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types
from pathlib import Path

import dlprof_probes
import pytest
from dlprof_probes.inproc import program, shadowing

ENTRY = Path(dlprof_probes.__file__).parent / "inproc" / "entry"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three packages that were loaded by the probe, and one that Python had loaded."""
    for name in ("made_up", "made_up.inner", "made_up_folder", "made_up_of_pythons"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))


@pytest.mark.usefixtures("loaded")
def test_a_module_beside_the_script_takes_the_place_of_one_that_the_probe_loaded(tmp_path: Path) -> None:
    """With what is in it; one that Python had loaded before stays, as without the probe."""
    (tmp_path / "made_up.py").write_text("")
    (tmp_path / "made_up_of_pythons.py").write_text("")
    (tmp_path / "made_up_folder").mkdir()

    shadowing.forget([str(tmp_path)], set(sys.modules) - {"made_up", "made_up.inner", "made_up_folder"})

    left = {name for name in sys.modules if name.startswith("made_up")}
    assert left == {"made_up_folder", "made_up_of_pythons"}


def test_what_cannot_be_shadowed_stays(tmp_path: Path) -> None:
    """Built-in modules come before all files; the program's own module and marks are needed."""
    for name in ("sys", "time", "__main__", "dlprof_probes"):
        (tmp_path / f"{name}.py").write_text("")
    before = dict(sys.modules)

    shadowing.forget([str(tmp_path)], ())

    assert sys.modules == before


def test_no_module_of_the_programs_own_is_run_by_the_probe(tmp_path: Path) -> None:
    """`json.py` and `random.py` beside the script are run when the script imports them, and not before."""
    for name in ("json", "random", "threading"):
        (tmp_path / f"{name}.py").write_text(f"print({name!r})")
    (tmp_path / "script.py").write_text("print('begins')\nimport json, random\nprint(json.__file__, random.__file__)")
    (tmp_path / "status").write_bytes(b" " * 1024)
    config = tmp_path / "config.txt"
    config.write_text(
        f'{{"raw": "{tmp_path}", "status": "{tmp_path}/status", "lines": null, "script": "{tmp_path}/script.py", '
        f'"argv": ["{tmp_path}/script.py"]}}'
    )

    done = subprocess.run([sys.executable, str(ENTRY), str(config)], capture_output=True, text=True, check=False)

    expected = f"begins\njson\nrandom\n{tmp_path}/json.py {tmp_path}/random.py\n"
    assert (done.stdout, done.stderr) == (expected, "")


def test_what_is_loaded_to_count_lines_runs_no_file_beside_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module of Python's that is first needed then, such as `types`, is Python's own, and is forgotten again."""
    (tmp_path / "this.py").write_text("raise RuntimeError")
    (tmp_path / "script.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "script.py")])
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    monkeypatch.setattr(shadowing, "forget", lambda *_told: None)

    def profiled(code: types.CodeType, _text: bytes) -> types.CodeType:
        found = importlib.util.find_spec("this")
        assert found is not None
        assert found.origin != str(tmp_path / "this.py")
        return code

    made = program.Program({"script": str(tmp_path / "script.py"), "argv": [str(tmp_path / "script.py")]})
    made.prepare_interpreter()
    before = list(sys.path)
    made.call(profiled)

    assert sys.path == before


def test_the_original_arguments_of_a_module_are_those_that_python_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m package.tool a`: its name is there once."""
    monkeypatch.setattr(sys, "argv", ["entry", "config.json"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "entry", "config.json"], raising=False)
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))

    made = program.Program({"script": "package.tool", "module": "package.tool", "argv": ["package.tool", "a"]})
    made.prepare_interpreter()

    assert sys.orig_argv == ["python", "-m", "package.tool", "a"]
