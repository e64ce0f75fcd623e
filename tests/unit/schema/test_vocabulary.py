"""The words, and the places of the tree."""

from __future__ import annotations

import json

import pytest
from dlprof_probes import wire

from dlprof.schema.vocabulary import (
    FIT_PHASES,
    TOP_PHASES,
    Category,
    EventKind,
    Phase,
    SpanKind,
    StepPart,
    Tree,
    TreePath,
    UnknownPathError,
    known_category,
    known_phase,
)


def test_every_kind_of_span_of_the_probe_has_its_word() -> None:
    """A kind that the probe gains must be added here."""
    told = {value for name, value in vars(wire.SpanKind).items() if not name.startswith("_")}

    assert {str(kind) for kind in SpanKind} == told


def test_phases_of_fit_are_those_that_the_tables_name() -> None:
    """In the order of reports."""
    assert list(FIT_PHASES) == [
        "fit.build",
        "fit.graph_compile",
        "fit.input",
        "fit.steps",
        "fit.wait",
        "fit.callbacks",
        "fit.validation",
    ]
    assert "fit.steps" not in TOP_PHASES


def test_a_phase_has_its_place_in_the_tree() -> None:
    """Dlprof's own time is a leaf beside that of tracing."""
    assert (Phase.FIT_STEPS.path, Phase.DLPROF.path, Phase.SCRIPT.path) == ("fit/steps", "dlprof/own", "script")


def test_a_path_is_made_of_parts_and_categories() -> None:
    """Words of two parts are joined as tables and JSON have them."""
    assert Tree.FIT_STEPS / StepPart.KERNELS / Category.DATA_MOVEMENT == "fit/steps/kernels/data_movement"
    assert Tree.PREDICT_STEPS / StepPart.HOST_PYTHON == "predict/steps/host_python"


@pytest.mark.parametrize("text", ["fit/stepz", "fit.steps", "fit/steps/kernels/host python", "kernels", ""])
def test_a_path_that_no_tree_has_cannot_be_made(text: str) -> None:
    """A slip fails where it is made, not in an empty answer."""
    with pytest.raises(UnknownPathError):
        TreePath(text)


def test_a_place_holds_itself_and_what_is_below() -> None:
    """Not what only begins alike."""
    held = [Tree.FIT_STEPS.holds(other) for other in ("fit/steps", "fit/steps/idle", "fit/steps_x", "fit")]

    assert held == [True, True, False, False]


def test_words_are_plain_text_in_json() -> None:
    """What is stored does not tell that it was an enumeration."""
    assert (
        json.dumps([Phase.FIT_INPUT, Tree.FIT_INPUT, EventKind.KERNEL.word]) == '["fit.input", "fit/input", "kernel"]'
    )


def test_a_phase_that_is_not_known_is_unattributed() -> None:
    """A stored run may be damaged, or of another dlprof."""
    assert [known_phase(text) for text in ("fit.steps", "fit.dreams", "")] == [
        Phase.FIT_STEPS,
        Phase.UNATTRIBUTED,
        Phase.UNATTRIBUTED,
    ]


def test_a_category_that_is_not_known_is_other() -> None:
    """As is none at all."""
    assert [known_category(text) for text in ("data movement", "quantum", None)] == ["data movement", "other", "other"]


def test_every_phase_has_a_place() -> None:
    """Also what is in none: samples may stand there."""
    assert {phase.root for phase in Phase} >= {Tree.UNATTRIBUTED, Tree.DLPROF, Tree.FIT_VALIDATION}
