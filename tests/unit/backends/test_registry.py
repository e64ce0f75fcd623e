"""Backends by name: those of dlprof, and plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from msgspec.structs import replace
from packaging.specifiers import SpecifierSet

from dlprof import plugins
from dlprof.backends import registry
from dlprof.backends.base import LOCKS, BackendSpec
from dlprof.engines import registry as engines
from dlprof.engines.base import Dispatch, EngineSpec
from dlprof.errors import UsageError

OTHER = BackendSpec("other", "Other", LOCKS / "mxnet.txt", ">=3.11", "other")


@dataclass
class Entry:
    """An entry point that gives `value`, or raises it."""

    name: str
    value: object

    def load(self) -> object:
        """Give or raise."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Entry]]:
    """The installed plug-ins: a list to fill."""
    found: list[Entry] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: found if group == "dlprof.backends" else [])
    registry._plugged_in.cache_clear()
    yield found
    registry._plugged_in.cache_clear()


def test_a_plug_in_is_a_backend_like_the_others(entries: list[Entry]) -> None:
    """By the name in its spec."""
    entries.append(Entry("x", OTHER))

    assert registry.get("other") is OTHER


def test_a_plug_in_cannot_take_the_name_of_a_backend_of_dlprof(entries: list[Entry]) -> None:
    """What `--backend mxnet` means does not depend on what else is installed."""
    entries.append(Entry("x", BackendSpec("mxnet", "Mine", LOCKS / "mxnet.txt", ">=3.11", "mxnet")))

    assert registry.get("mxnet").title != "Mine"


@pytest.mark.parametrize(
    ("value", "warning"),
    [
        (ImportError("no module x"), "dlprof: warning: backend plug-in bad cannot be loaded: no module x\n"),
        ("a text", "dlprof: warning: backend plug-in bad gives no BackendSpec\n"),
    ],
)
def test_a_broken_plug_in_is_passed_over_with_one_warning(
    entries: list[Entry], capsys: pytest.CaptureFixture[str], value: object, warning: str
) -> None:
    """The others go on working."""
    entries += [Entry("bad", value), Entry("good", OTHER)]

    names = set(registry.all_specs()) & set(registry.all_specs())

    assert {"tensorflow", "native-torch", "other"} <= names
    assert "bad" not in names
    assert capsys.readouterr().err == warning


@pytest.mark.parametrize(
    ("name", "said"),
    [("tensorflwo", "There is no backend tensorflwo; did you mean tensorflow?"), ("zz", "There is no backend zz.")],
)
def test_an_unknown_backend_is_answered_with_those_there_are(entries: list[Entry], name: str, said: str) -> None:
    """And with the nearest, where one is near."""
    with pytest.raises(UsageError) as caught:
        registry.get(name)

    assert caught.value.message == said
    assert caught.value.hint == f"known backends: {', '.join(sorted(registry.all_specs()))}"


@pytest.mark.parametrize("name", [spec.name for spec in registry._OWN])
def test_the_files_of_a_backend_are_there(name: str) -> None:
    """What its environment is made of comes with dlprof."""
    spec = registry.get(name)

    files = (spec.lock, *spec.site_files, *filter(None, (spec.lighter_lock, spec.finish)))
    assert [file for file in files if not file.is_file()] == []


@pytest.mark.parametrize("name", ["jax", "mxnet", "openvino", "tensorflow", "theano", "torch"])
def test_the_interpreters_of_a_backend_are_those_of_its_lock(name: str) -> None:
    """Theano's ends with Python 3.11."""
    spec = registry.get(name)

    assert {v: SpecifierSet(spec.python).contains(v) for v in ("3.10.9", "3.11.0", "3.12.9", "3.13.0")} == {
        "3.10.9": False,
        "3.11.0": True,
        "3.12.9": name != "theano",
        "3.13.0": False,
    }


def test_every_backend_of_dlprof_names_an_engine_that_is_known() -> None:
    """What a reader of its figures must know stands there."""
    assert [spec.name for spec in registry.all_specs().values() if registry.engine_of(spec) is None] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tensorflow", Dispatch(input_inside_step=True)),
        ("tensorflow1", Dispatch()),
        ("native-tensorflow", Dispatch()),
        ("jax", Dispatch(asynchronous=True)),
        ("mxnet", Dispatch()),
        ("native-gluon", Dispatch(asynchronous=True)),
    ],
)
def test_how_steps_return_is_the_engines_affair_with_keras_or_without(name: str, expected: Dispatch) -> None:
    """keras-mxnet waits for each step, Gluon does not."""
    assert registry.dispatch_of(registry.get(name)) == expected


def test_a_plug_in_may_name_the_engine_of_a_plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it trains through Keras or alone."""
    toy = EngineSpec(name="toy", title="Toy", module="toy", distributions=("toy",), alone=Dispatch(asynchronous=True))
    monkeypatch.setattr(engines, "plugged_in", lambda: (toy,))
    spec = replace(OTHER, engine="toy", keras_backend="")

    assert registry.engine_of(spec) is toy
    assert registry.dispatch_of(spec) == Dispatch(asynchronous=True)


def test_a_backend_whose_engine_nobody_knows_is_taken_to_return_in_the_plain_way() -> None:
    """Such as one of a plug-in that names none."""
    assert registry.dispatch_of(OTHER) == Dispatch()
