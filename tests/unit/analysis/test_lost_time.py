"""What the machine took of each part."""

from __future__ import annotations

from dlprof.analysis.lost_time import LostTime
from dlprof.schema.tree_paths import Tree, TreePath
from tests.unit.runs import S


def test_what_was_waited_in_a_phase_counts_in_its_parts() -> None:
    """A quarter of fit is a quarter of its steps; a phase that was not measured has the share of all."""
    lost = LostTime({Tree.FIT: 0.25, Tree.IMPORT: 0.5}, of_all=0.3)

    assert lost.of(TreePath("fit/steps/host_python"), 4 * S) == S
    assert lost.of(Tree.IMPORT, 4 * S) == 2 * S
    assert lost.of(Tree.TEARDOWN, 10 * S) == 3 * S


def test_a_throttled_gpu_costs_the_training_alone_and_the_disk_the_start() -> None:
    """A quota costs both; more than all of a part is lost nowhere."""
    lost = LostTime({}, everywhere=0.1, in_training=0.4, disk_ns=S)

    assert lost.of(TreePath("fit/steps/idle"), 10 * S) == 5 * S
    assert lost.of(Tree.IMPORT, 10 * S) == 2 * S
    assert lost.of(Tree.STARTUP, S // 2) == S // 2
    assert lost.of(Tree.TEARDOWN, 10 * S) == S
