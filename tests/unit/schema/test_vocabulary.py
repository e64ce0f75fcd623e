"""The words."""

from __future__ import annotations

import json

from dlprof_probes import wire

from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import (
    FIT_PHASES,
    TOP_PHASES,
    EventKind,
    Phase,
    SpanKind,
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
