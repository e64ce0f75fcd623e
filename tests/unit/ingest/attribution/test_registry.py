"""The ways of attribution by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dlprof import plugins
from dlprof.ingest.artifact import ProcessId
from dlprof.ingest.attribution import by_launch, registry
from dlprof.ingest.attribution.base import Attribution, Attributor
from dlprof.ingest.attribution.labels import Labels, Model
from dlprof.ingest.formats import registry as formats
from dlprof.ingest.kernels.assemble import Assembly
from dlprof.ingest.kernels.context import TraceContext
from dlprof.ingest.kernels.events import CPU, Events
from dlprof.ingest.kernels.linking import Linked
from dlprof.ingest.kernels.trace import Trace
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import make_trace
from tests.unit.ingest.imports import DATA


@dataclass
class AllOfOneLayer(Attributor):
    """Gives every event to one layer."""

    trace: Trace
    model: Model

    def labels(self, events: Events, linked: Linked) -> Labels:
        """The labels."""
        labels = Labels.empty(len(events))
        labels.label[:] = labels.number("only", None)
        return labels


class Entry:
    """An entry point."""

    name = "toy"

    def __init__(self, value: object) -> None:
        self.value = value

    def load(self) -> object:
        """Give the value, or fail."""
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Entry]]:
    """The installed plug-ins: a list to fill."""
    entries: list[Entry] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: entries if group == registry.GROUP else [])
    registry.all_attributions.cache_clear()
    yield entries
    registry.all_attributions.cache_clear()


def test_a_plug_ins_attribution_labels_the_traces_that_name_it(plugged: list[Entry]) -> None:
    """From its entry point to the table."""
    plugged.append(Entry(Attribution("toy", AllOfOneLayer)))
    assembly = Assembly()

    assembly.add(
        make_trace([(EventKind.OPERATOR, "f", 0, 1, CPU, 0, -1)], "toy"), TraceContext(ProcessId("h", 0, 1, 0), 0, 0)
    )

    assert assembly.tables()["kernel_ops"]["layer"].to_pylist() == ["only"]


def test_a_plug_in_that_cannot_be_loaded_is_a_warning(plugged: list[Entry], capsys: pytest.CaptureFixture[str]) -> None:
    """The others are there."""
    plugged.append(Entry(ImportError("no such module")))

    assert "launch" in registry.all_attributions()
    assert "attribution plug-in toy cannot be loaded: no such module" in capsys.readouterr().err


def test_an_unknown_name_is_attribution_by_launches() -> None:
    """Which needs nothing of the trace."""
    assert registry.named("nobody's") is by_launch.ATTRIBUTION


@pytest.mark.parametrize(
    "path", sorted(path for path in DATA.iterdir() if path.suffix != ".md"), ids=lambda path: path.name
)
def test_every_format_names_an_attribution_that_there_is(path: Path) -> None:
    """Or the typed-in name of a reader would go to the wrong one in silence."""
    trace = formats.find(path).read(path).trace

    assert trace is None or trace.attribution in registry.all_attributions()
