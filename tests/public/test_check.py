"""What is told of a public script is compared with what is known of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.public.case import Case, Loop, Source
from tests.public.check import Outcome, Told, complaints, masked, script_percent, told

CASE = Case(
    "one", "any", "any", Source("a/b", "0" * 40, "a.py"), (Loop("fit", 6, 2),), "", layers=("fc1",), varies=(r"\d+ s",)
)
FINE = Outcome(0, "loss 1.5 in 3 s\n", "")
TOLD = Told((Loop("fit", 6, 2),), (), 1.0, 1.0, frozenset({"fc1", "fc2"}), 0.0, ())


def changed(**fields: Any) -> Told:
    """What is told, with other fields."""
    return Told(**{**{name: getattr(TOLD, name) for name in TOLD.__dataclass_fields__}, **fields})


def test_nothing_is_wrong_with_what_is_as_it_must_be() -> None:
    """Times may differ."""
    assert complaints(CASE, FINE, Outcome(0, "loss 1.5 in 4 s\n", ""), TOLD) == []


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (changed(loops=(Loop("fit", 5, 2),)), "5 steps"),
        (changed(loops=(Loop("fit", 6, 1),)), "1 epochs"),
        (changed(loops=(Loop("fit", 6, 2, 2),)), "2 runs"),
        (changed(loops=()), "none"),
        (changed(script_percent=10.5), "10.5 %"),
        (changed(layers=frozenset({"fc2"})), "fc1"),
        (changed(errors=("lost",)), "lost"),
    ],
)
def test_each_wrong_figure_is_said(found: Told, text: str) -> None:
    """In one sentence."""
    (complaint,) = complaints(CASE, FINE, FINE, found)
    assert text in complaint


@pytest.mark.parametrize(
    ("bare", "traced", "text"),
    [
        (FINE, Outcome(0, "loss 1.6 in 3 s\n", ""), "prints something else"),
        (FINE, Outcome(1, FINE.out, "Traceback"), "exit code 1"),
        (Outcome(1, "", "no module"), Outcome(1, "", ""), "without dlprof it ends with 1"),
    ],
)
def test_a_script_that_ran_otherwise_is_said(bare: Outcome, traced: Outcome, text: str) -> None:
    """And one that does not run at all."""
    (complaint,) = complaints(CASE, bare, traced, TOLD)
    assert text in complaint


def test_what_varies_is_masked() -> None:
    """And nothing else."""
    assert masked("epoch 3 took 12 s", (r"took \d+ s",)) == "epoch 3 ~"


def span(kind: str, start: int, duration: int) -> dict[str, Any]:
    """A span."""
    return {"kind": kind, "start_ns": start, "dur_ns": duration}


def test_the_share_of_the_script_counts_from_the_first_loop_on() -> None:
    """20 before the end, and 10 between two trainings, of 100."""
    spans = [span("script", 0, 200), span("fit", 100, 40), span("epoch", 100, 30), span("fit", 150, 30)]

    assert script_percent(spans) == 30.0


def test_without_a_loop_all_is_script() -> None:
    """It is not 0."""
    assert script_percent([span("script", 0, 200)]) == 100.0


def test_figures_are_read_out_of_the_report() -> None:
    """Loops in one order, layers of kernels, the share of those without a name."""
    place = {"line": 3, "how": "inferred", "runs": 1, "epochs": None}
    report = {
        "loops": [{**place, "name": "fit", "steps": 6, "epochs": 2}, {**place, "name": "evaluate", "steps": 2}],
        "kernels": {"all_ns": 200, "unattributed_ns": 50},
        "phases": [{"name": "script", "parent": None, "dur_ns": 10}],
        "wall_ns": 100,
        "health": [{"severity": "error", "message": "lost"}, {"severity": "info", "message": "fine"}],
    }

    found = told(report, [span("script", 0, 100), span("fit", 0, 100)], [{"layer": "fc1"}, {"layer": None}])

    assert found.loops == (Loop("evaluate", 2), Loop("fit", 6, 2))
    assert (found.script_percent, found.script_in_all_percent, found.unnamed_percent) == (0.0, 10.0, 25.0)
    assert (found.layers, found.errors) == (frozenset({"fc1"}), ("lost",))
