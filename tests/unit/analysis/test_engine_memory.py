"""What engines' own allocators counted."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis import engine_memory, memory
from dlprof.analysis.engine_memory import EngineMemory
from tests.unit.runs import fit_span, trained


def test_of_several_trainings_the_most_is_told(tmp_path: Path) -> None:
    """JAX on a CPU counts arrays that are alive, and no peak."""
    spans = [fit_span(engine_memory={"jax": {"live_bytes": size}}) for size in (300, 500, 400)]

    assert engine_memory.of_run(trained(tmp_path / "r", spans=spans)) == (EngineMemory("jax", 500, None),)


def test_an_allocator_of_gpus_has_a_peak(tmp_path: Path) -> None:
    """Beside what it holds at the end."""
    spans = [fit_span(engine_memory={"torch": {"live_bytes": 300, "peak_bytes": 900}})]

    assert engine_memory.of_run(trained(tmp_path / "r", spans=spans)) == (EngineMemory("torch", 300, 900),)


def test_what_a_step_holds_is_told_with_who_says_so(tmp_path: Path) -> None:
    """Of several trainings the most."""
    how = "tensors that autograd has saved"
    spans = [fit_span(engine_memory={"torch": {"step_bytes": size, "step_how": how}}) for size in (70, 90)]

    assert engine_memory.of_run(trained(tmp_path / "r", spans=spans)) == (EngineMemory("torch", None, None, 90, how),)


def test_where_no_engine_counts_it_is_said_why(tmp_path: Path) -> None:
    """TensorFlow on a CPU."""
    found = memory.of_run(trained(tmp_path / "r"))

    assert found.engines == ()
    assert found.not_measured["engines"] == engine_memory.WHY_NONE
