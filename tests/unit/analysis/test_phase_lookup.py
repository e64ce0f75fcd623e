"""In which phase a stretch of time lies."""

from __future__ import annotations

from dlprof.analysis.phase_lookup import PhaseLookup
from dlprof.schema.tree_paths import Tree
from tests.unit.runs import table

INTERVALS = table(
    "phase_intervals",
    [
        {"phase": "import", "start_ns": 0, "dur_ns": 100},
        {"phase": "fit.steps", "start_ns": 100, "dur_ns": 50},
        {"phase": "dlprof", "start_ns": 200, "dur_ns": 10},
    ],
)


def test_a_stretch_is_cut_where_phases_change() -> None:
    """What lies in no phase is not there."""
    assert PhaseLookup(INTERVALS).cut(90, 205) == [("import", 10), ("fit.steps", 50), ("dlprof", 5)]


def test_a_stretch_before_and_behind_all_phases_has_no_part() -> None:
    """Nor has one without length."""
    lookup = PhaseLookup(INTERVALS)

    assert [lookup.cut(-20, -10), lookup.cut(300, 400), lookup.cut(50, 50)] == [[], [], []]


def test_times_of_several_stretches_are_summed_by_place() -> None:
    """Dlprof's own phase is above its leaf of the tree."""
    found = PhaseLookup(INTERVALS).by_place([(0, 10), (95, 120), (200, 210)])

    assert found == {Tree.IMPORT: 15, Tree.FIT_STEPS: 20, Tree.DLPROF: 10}


def test_a_phase_that_is_not_known_is_unattributed() -> None:
    """A stored run may be damaged, or made by another dlprof."""
    lookup = PhaseLookup(table("phase_intervals", [{"phase": "fit.dreams", "start_ns": 0, "dur_ns": 10}]))

    assert lookup.cut(0, 4) == [("fit.dreams", 4)]
    assert lookup.by_place([(0, 4)]) == {Tree.UNATTRIBUTED: 4}


def test_a_run_of_foreign_traces_has_no_phases() -> None:
    """Nothing is cut."""
    lookup = PhaseLookup(INTERVALS.slice(0, 0))

    assert lookup.is_empty
    assert lookup.cut(0, 10) == []


def test_a_stretch_that_no_clock_tells_is_cut_all_the_same() -> None:
    """A damaged table may end behind the last number of 64 bits."""
    assert PhaseLookup(INTERVALS).cut(140, 2**63 + 5) == [("fit.steps", 10), ("dlprof", 10)]
