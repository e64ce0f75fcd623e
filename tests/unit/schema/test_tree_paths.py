"""Places of the tree of a run's wall time."""

from __future__ import annotations

import pytest

from dlprof.schema import tree_paths
from dlprof.schema.tree_paths import Tree, TreePath, UnknownPathError
from dlprof.schema.vocabulary import Category, Phase, StepPart


def test_a_phase_has_its_place_in_the_tree() -> None:
    """Dlprof's own time is a leaf beside that of tracing."""
    assert (
        tree_paths.of_phase(Phase.FIT_STEPS),
        tree_paths.of_phase(Phase.DLPROF),
        tree_paths.of_phase(Phase.SCRIPT),
    ) == ("fit/steps", "dlprof/own", "script")


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


def test_every_phase_has_a_place() -> None:
    """Also what is in none: samples may stand there."""
    assert {tree_paths.root_of(phase) for phase in Phase} >= {Tree.UNATTRIBUTED, Tree.DLPROF, Tree.FIT_VALIDATION}
