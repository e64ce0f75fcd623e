"""Activations that are computed again on the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.recomputed_activations import claims
from dlprof.schema.vocabulary import Ground
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Call, keep_source, on, quiet, sampled
from tests.unit.runs import S

BACK: list[Call] = [*FIT, ("_engine_run_backward", "torch/autograd/graph.py", 979)]
AGAIN: list[Call] = [
    *BACK,
    ("_checkpoint_hook.unpack_hook", "torch/utils/checkpoint.py", 1180),
    ("Linear.forward", "torch/nn/modules/linear.py", 134),
]
THERE: list[Call] = [
    *FIT,
    ("checkpoint", "torch/utils/checkpoint.py", 510),
    ("Linear.forward", "torch/nn/modules/linear.py", 134),
]


def told(path: Path, again: list[Call], seconds: float = 1.5, free: float = 0.8) -> list[Claim]:
    """The claims of 6 s of steps, of which the main thread stands so many in a stack, with a share of memory free."""
    whole = 16 << 30
    manifest = on("torch")
    manifest["machine"] = {**manifest.get("machine", {}), "memory_bytes": whole}
    stood = sampled((2, 2 + seconds, again), (2 + seconds, 8, BACK))
    machine = [{"time_ns": at * S, "interval_ns": S, "memory_available_bytes": int(free * whole)} for at in (2, 8)]
    run = runs.trained(path, manifest, **quiet(**stood, machine=machine))
    keep_source(run, "y = checkpoint(layer, x)\n")
    return list(claims(Case(run)))


def test_what_the_backward_pass_computes_again_is_asked_about_with_its_line(tmp_path: Path) -> None:
    """1.5 of 6 s; what they take where they are kept is not known."""
    (claim,) = told(tmp_path / "r", AGAIN)

    assert sum(claim.takes.values()) == pytest.approx(1.5 * S, rel=0.02)
    assert claim.line == ("train.py", 1)
    assert claim.support is not None
    assert claim.support.ground is Ground.MODEL


def test_the_way_there_through_a_checkpoint_is_not_computed_again(tmp_path: Path) -> None:
    """No backward pass is below it."""
    assert told(tmp_path / "r", THERE) == []


def test_where_memory_is_scarce_or_it_takes_little_nothing_is_asked(tmp_path: Path) -> None:
    """A fifth of the memory was free; and a thirtieth of the steps."""
    assert told(tmp_path / "a", AGAIN, free=0.2) == []
    assert told(tmp_path / "b", AGAIN, seconds=0.2) == []
