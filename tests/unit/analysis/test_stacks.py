"""Which stacks stood longest."""

from __future__ import annotations

from dlprof.analysis import stacks
from dlprof.analysis.phase_threads import PhaseThreads
from tests.unit.runs import table


def test_a_stack_is_shared_out_over_the_phases_it_stood_in() -> None:
    """60 ms in one, 40 ms in the next."""
    stood = table("stacks", [{"thread_id": 1, "thread": "MainThread", "start_ns": 0, "dur_ns": 100, "stack_id": 0}])
    frames = table("frames", [{"stack_id": 0, "depth": 0, "function": "f", "file": "a.py", "line": 1}])
    cuts = table(
        "phase_intervals",
        [{"phase": "import", "start_ns": 0, "dur_ns": 60}, {"phase": "script", "start_ns": 60, "dur_ns": 500}],
    )

    found = stacks.hottest([stood], frames, cuts, per_phase=1, whose=PhaseThreads(None))

    assert [(stack.phase, stack.dur_ns) for stack in found] == [("import", 60), ("script", 40)]


def test_code_outside_of_functions_is_named_by_its_file() -> None:
    """Forty rows of `<module>` would tell nothing; a package's own file is told with its folder."""
    assert stacks.shown_name("<module>", "train.py") == "train.py (module)"
    assert stacks.shown_name("<module>", "keras/src/models/model.py") == "model.py (module)"
    assert stacks.shown_name("<module>", "keras/activations/__init__.py") == "activations/__init__.py (module)"
    assert stacks.shown_name("fit", "keras/trainer.py") == "fit"


def test_a_file_belongs_to_the_package_at_the_head_of_its_name() -> None:
    """Python's own frozen modules are Python."""
    assert stacks.package("keras/src/models/model.py") == "keras"
    assert stacks.package("<frozen abc>") == stacks.package("<python>/abc.py") == "<python>"
    assert stacks.package("train.py") == "train.py"
