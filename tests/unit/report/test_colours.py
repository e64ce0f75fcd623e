"""Colours of phases, events and names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlprof.report import colours
from dlprof.schema.vocabulary import Category, EventKind, Phase


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.UNATTRIBUTED])
def test_every_phase_has_a_colour_of_its_own(phase: Phase) -> None:
    """Not that of what is unknown."""
    assert re.fullmatch("#[0-9a-f]{6}", colours.of_phase(phase))
    assert colours.of_phase(phase) != colours.OTHER


def test_what_is_unattributed_is_grey() -> None:
    """As is a phase that is not known."""
    assert colours.of_phase("unattributed") == colours.of_phase("of tomorrow") == "#999999"


def test_what_computes_has_the_colour_of_its_category() -> None:
    """On the host and on a device; grey without one."""
    kernel, operator = EventKind.KERNEL.word, EventKind.OPERATOR.word

    assert colours.of_event(kernel, Category.MATMUL) == colours.of_event(operator, Category.MATMUL) == "#009e73"
    assert colours.of_event(kernel) == "#999999"


def test_all_else_has_the_colour_of_its_kind() -> None:
    """Whatever its category."""
    assert colours.of_event(EventKind.TRANSFER.word, Category.MATMUL) == "#8c564b"
    assert colours.of_event("gc") == "#d55e00"


def test_a_name_always_has_the_same_colour() -> None:
    """One of the cycle."""
    assert colours.of_text("numpy") == colours.of_text("numpy")
    assert colours.of_event("numpy") == colours.of_text("numpy")
    assert colours.of_text("numpy") in colours.CYCLE


def test_the_same_thing_has_one_colour_as_a_phase_and_as_a_call() -> None:
    """Calls have other names for some phases."""
    assert colours.of_event("fit") == colours.of_phase("fit") == "#0072b2"
    assert colours.of_event("graph_compile") == colours.of_phase("fit.graph_compile")
    assert colours.of_event("callbacks") == colours.of_phase("fit.callbacks")


def test_slower_and_faster_have_one_colour_on_pages_and_in_notebooks() -> None:
    """Pages draw by themselves, in the same colours."""
    script = (Path(colours.__file__).parent / "html" / "assets" / "charts.js").read_text(encoding="utf-8")

    assert f"const SLOWER = '{colours.SLOWER}', FASTER = '{colours.FASTER}';" in script
