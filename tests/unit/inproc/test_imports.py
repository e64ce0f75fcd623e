"""Imports: recorded by time, hooks attached when Keras arrives, lines of the user's modules counted."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dlprof_probes.inproc import imports
from dlprof_probes.inproc.probe import Probe

from tests.stand_ins import keras_versions
from tests.unit.inproc.conftest import Clock, Recorded


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of modules of the user's: `outer_of_the_user` imports `inner_of_the_user`."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "outer_of_the_user.py").write_text("import inner_of_the_user\n")
    (folder / "inner_of_the_user.py").write_text("value = 1\n")
    (folder / "broken_of_the_user.py").write_text("1 // 0\n")
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in [name for name in sys.modules if name.endswith("_of_the_user")]:
        del sys.modules[name]


@pytest.fixture
def watched(probe: Probe, modules: Path) -> imports.Imports:
    """Imports that are recorded."""
    made = imports.Imports(probe)
    made.install()
    return made


class Lines:
    """Line profiling that selects the modules of this test."""

    on = True

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def pause(self) -> bool:
        self.calls.append("pause")
        return True

    def restore(self, was_on: bool) -> None:
        self.calls.append(("restore", was_on))

    def resume(self) -> None:
        self.calls.append("resume")

    def selects(self, path: str, module: str) -> bool:
        return module.endswith("_of_the_user")

    def register(self, code: Any) -> Any:
        self.calls.append("register")
        return code


@pytest.mark.usefixtures("now")
def test_an_import_is_a_span_at_the_line_that_asked(watched: imports.Imports, out: Recorded) -> None:
    """The imports in it are part of it: on a clock that stands, none is long."""
    import outer_of_the_user  # type: ignore[import-not-found]  # noqa: F401

    spans = list(out.stream().spans.values())
    assert [(span.kind, span.name) for span in spans] == [("import", "outer_of_the_user")]
    assert spans[0].file == __file__


def test_a_long_import_inside_another_is_recorded_too(watched: imports.Imports, out: Recorded, now: Clock) -> None:
    """From 5 ms on."""
    machinery = sys.modules["_frozen_importlib"]
    enter, leave = watched._enter, watched._leave
    assert machinery is not None
    outer = enter("outer_of_the_user")
    short = enter("short_of_the_user")
    now.ns += 5_000_000
    leave(short, "short_of_the_user")
    long = enter("long_of_the_user")
    now.ns += 5_000_001
    leave(long, "long_of_the_user")
    leave(outer, "outer_of_the_user")

    assert [(kind, name) for kind, name, _, _ in out.spans()] == [
        ("import", "outer_of_the_user"),
        ("import", "long_of_the_user"),
    ]
    assert out.spans()[1][2:] == (5_001_000, 10_001_001)


def test_what_is_there_already_is_no_import(watched: imports.Imports, out: Recorded) -> None:
    """`importlib.import_module` asks for it all the same."""
    importlib.import_module("json")

    assert out.names() == []


@pytest.mark.parametrize(
    ("name", "error"), [("absent_of_the_user", ModuleNotFoundError), ("broken_of_the_user", ZeroDivisionError)]
)
def test_an_import_that_fails_raises_what_it_raised(
    watched: imports.Imports, out: Recorded, name: str, error: type[Exception]
) -> None:
    """Its span has ended, and the next import is outermost again."""
    with pytest.raises(error):
        importlib.import_module(name)
    importlib.import_module("inner_of_the_user")

    assert out.names() == [("import", name), ("import", "inner_of_the_user")]
    assert out.stack() == []


@pytest.mark.parametrize("version", sorted(keras_versions.FOLDERS))
def test_keras_is_hooked_as_soon_as_it_is_loaded(probe: Probe, out: Recorded, version: str) -> None:
    """To its end, not when a part of it is there."""
    imports.Imports(probe).install()
    with keras_versions.loaded(version) as keras:
        probe.end()
        assert out.stream().meta["keras_version"] == keras.__version__
        assert not hasattr(keras.Model.fit, "_dlprof")
    assert ("import", "keras") in out.names()
    assert out.notes() == []


def test_keras_that_was_there_before_is_hooked_when_asked(probe: Probe, out: Recorded) -> None:
    """In a notebook."""
    with keras_versions.loaded("3") as keras:
        made = imports.Imports(probe)
        made.attach()
        assert keras.Model.fit._dlprof
        made.attach()
        probe.end()
    assert out.stream().meta["keras"] == "keras"


def test_settings_of_a_trial_are_applied_after_each_outermost_import(probe: Probe, modules: Path) -> None:
    """As soon as the module they belong to may be there."""
    applied: list[str] = []

    class Overrides:
        def apply(self) -> None:
            applied.append("applied")

    imports.Imports(probe, Overrides()).install()
    importlib.import_module("outer_of_the_user")
    importlib.import_module("json")

    assert applied == ["applied"]


def test_lines_of_the_user_s_modules_are_counted_while_they_load(probe: Probe, modules: Path) -> None:
    """And not those of the import system around them."""
    lines = probe.lines = Lines()
    imports.Imports(probe).install()

    importlib.import_module("inner_of_the_user")
    probe.end()

    assert lines.calls == ["pause", "register", "resume", "pause", ("restore", True)]


def test_a_module_whose_lines_cannot_be_counted_is_loaded_all_the_same(
    probe: Probe, modules: Path, out: Recorded
) -> None:
    """With a note of which it is."""
    lines = probe.lines = Lines()
    lines.register = lambda code: 1 / 0  # type: ignore[method-assign]
    imports.Imports(probe).install()

    module = importlib.import_module("inner_of_the_user")
    probe.end()

    assert module.value == 1
    assert out.notes() == [("line-profiling-failed", "inner_of_the_user: division by zero")]


def test_the_import_system_is_its_own_again_afterwards(probe: Probe) -> None:
    """Nothing stays replaced."""
    machinery: Any = sys.modules["_frozen_importlib"]
    loader: Any = sys.modules["_frozen_importlib_external"].SourceLoader
    before = machinery._find_and_load, vars(loader)["get_code"]
    probe.lines = Lines()
    imports.Imports(probe).install()
    assert (machinery._find_and_load, vars(loader)["get_code"]) != before

    probe.end()
    assert (machinery._find_and_load, vars(loader)["get_code"]) == before
