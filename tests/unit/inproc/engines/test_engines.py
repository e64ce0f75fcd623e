"""The engines of a process: which is meant, which is ready, and those of plug-ins."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from dlprof_probes.inproc import engines, hooks
from dlprof_probes.inproc.engines.base import Engine

from dlprof.engines import registry
from tests.stand_ins import engine_plugins

ABACUS = Path(engine_plugins.__path__[0]) / "abacus_engine.py"


class Notes:
    """A recorder of notes."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []

    def note(self, slug: str, message: str) -> None:
        """Keep it."""
        self.notes.append((slug, message))


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """`modules(name, **attributes)`: a module of this name is loaded."""
    for cls in engines.CLASSES:
        monkeypatch.delitem(sys.modules, cls.module, raising=False)

    def load(name: str, **attributes: Any) -> ModuleType:
        module = ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
        return module

    return load


def make(*classes: type[Engine]) -> engines.Engines:
    """The engines of a process whose hooks are not guarded."""
    probe = SimpleNamespace(guard=lambda function, default=None: function)
    return engines.Engines(probe, classes or engines.CLASSES)


def test_every_engine_has_a_half_in_the_process_and_one_outside() -> None:
    """Under the same name and module."""
    inside = {(cls.name, cls.module) for cls in engines.CLASSES}

    assert inside == {(spec.name, spec.module) for spec in registry.all_specs().values()}


@pytest.mark.parametrize("cls", engines.CLASSES)
def test_switches_have_the_names_of_the_engines_spec(cls: type[Engine]) -> None:
    """What the spec has a cost for, the process can tell."""
    spec = registry.all_specs()[cls.name]

    assert {switch.name for switch in spec.switches} <= {name for name, _read in cls.switches}


@pytest.mark.parametrize(("version", "expected"), [("1.15.5", "tensorflow1"), ("2.21.0", "tensorflow")])
def test_the_version_of_a_module_tells_its_engine(modules: Any, version: str, expected: str) -> None:
    """Two engines share the module."""
    module = modules("tensorflow", __version__=version)
    known = make()

    assert known.find("tensorflow").name == expected
    assert [(engine.name, loaded) for engine, loaded in known.loaded()] == [(expected, module)]


def test_an_engine_is_found_by_its_own_name_too(modules: Any) -> None:
    """Nobody is found by a name that is not known."""
    known = make()

    assert known.find("tensorflow1").name == "tensorflow1"
    assert known.find("plaidml") is None


def test_the_engine_that_is_meant_before_the_others_comes_first(modules: Any) -> None:
    """Torch, where Theano is loaded, too."""
    modules("theano")
    modules("torch")

    assert [engine.name for engine, _ in make().loaded()] == ["torch", "theano"]


def test_the_version_of_the_first_engine_is_noted_last(modules: Any) -> None:
    """So that it is the one which counts."""
    attachments = [waiting.module for waiting in make().attachments]

    assert attachments.index("torch") > attachments.index("jax") > attachments.index("theano")


def test_an_engine_that_cannot_be_made_is_passed_over(probed: Callable[..., Any]) -> None:
    """And noted."""
    setup = probed("torch")

    class Broken(Engine):
        def __init__(self, probe: Any) -> None:
            raise KeyError("broken")

    setup.probe.engines = engines.Engines(setup.probe, [Broken, *engines.CLASSES])

    assert setup.probe.engines.find("torch") is not None
    assert [note.slug for note in setup.stream().notes] == ["hook-failed"]


def test_an_engine_whose_hooks_fail_does_not_keep_others_from_attaching(probed: Callable[..., Any]) -> None:
    """Each is switched off by itself."""
    setup = probed("torch")
    attached = []

    class Failing(Engine):
        name = module = "torch"

        def attach(self, module: Any) -> None:
            raise KeyError("attach")

    class Working(Failing):
        def attach(self, module: Any) -> None:
            attached.append(module.__name__)

    setup.probe.engines = engines.Engines(setup.probe, [Working, Failing])
    hooks.attach_new(setup.probe, sys.modules, set())

    assert attached == ["torch"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "FileNotFoundError"),
        ("this is no Python", "SyntaxError"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("name = 1", "AttributeError"),
        ("ENGINE = 3", "TypeError: ENGINE is no subclass of Engine"),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_is_noted(tmp_path: Path, text: str | None, reason: str) -> None:
    """And passed over: the script runs all the same."""
    recorder = Notes()
    if text is not None:
        (tmp_path / "toy.py").write_text(text)

    assert engines.plugged_in({"toy": str(tmp_path / "toy.py")}, recorder) == []
    assert recorder.notes[0][0] == "engine-plugin-failed"
    assert "toy" in recorder.notes[0][1]
    assert reason in recorder.notes[0][1]


def test_a_plug_ins_engine_gets_phases_steps_and_windows(probed: Callable[..., Any], modules: Any) -> None:
    """By what the base class and the probe offer."""
    setup = probed("torch")

    class Trainer:
        def fit(self) -> int:
            for _ in range(2):
                self.run_epoch()
            return 7

        def run_epoch(self) -> None:
            for _ in range(10):
                self.train()

        def train(self) -> None:
            pass

    abacus = modules("abacus", Trainer=Trainer, __version__="0.1", careful=True, string_beads=lambda count: count)
    recorder = Notes()
    classes = engines.plugged_in({"abacus": str(ABACUS)}, recorder)
    setup.probe.engines = engines.Engines(setup.probe, classes + list(engines.CLASSES))
    setup.attach()
    abacus.string_beads(3)
    result = Trainer().fit()

    stream = setup.stream()
    spans = [(span.kind, span.name) for span in stream.spans.values() if span.kind != "dlprof"]
    assert (result, recorder.notes, stream.notes) == (7, [], [])
    assert spans == [("graph_compile", "string 3"), ("fit", "fit"), ("epoch", "0"), ("epoch", "1")]
    assert [(step[2], step[3]) for step in stream.steps] == [(epoch, step) for epoch in range(2) for step in range(10)]
    assert stream.meta["engine"] == "abacus"
    facts = json.loads((Path(setup.windows.folder) / "window-000.json").read_text())
    assert (facts["engine"], facts["steps"], facts["files"]) == ("abacus", 2, ["window-000/beads.json"])
