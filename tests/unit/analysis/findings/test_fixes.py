"""Changes that findings ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import fixes
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, SourceLine
from dlprof.schema.tree_paths import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, quiet
from tests.unit.runs import S

OWN_LOOP = runs.manifest(keras=None)
"""A script on torch without Keras."""


def fix(path: Path, slug: str, text: str = "", *, told: dict[str, Any] | None = None) -> str | None:
    """Of a finding at the one line of train.py."""
    run = runs.trained(path / "r", told, **quiet())
    if text:
        keep_source(run, text + "\n")
    line: SourceLine = ("train.py", 1)
    return fixes.of_claim(Case(run), slug, Claim(Sentence("It takes"), {Tree.FIT_STEPS: S}, (), "Stop.", line))


def test_a_line_that_can_be_changed_is_a_diff(tmp_path: Path) -> None:
    """Only that line."""
    told = fix(tmp_path, "double-precision", "model = model.double()")

    assert told is not None
    assert told.splitlines()[-2:] == ["-model = model.double()", "+model = model.float()"]


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("set_global_policy('mixed_bfloat16')", "set_global_policy('float32')"),
        ("net = Net().half()", "net = Net().float()"),
        ("with autocast():", "with autocast(enabled=False):"),
        ("with autocast('cpu', enabled=args.amp):", "with autocast('cpu', enabled=False):"),
        ("with torch.autocast('cpu', dtype=kind):", "with torch.autocast('cpu', dtype=kind, enabled=False):"),
    ],
)
def test_floats_of_16_bits_are_taken_back_where_they_are_asked_for(line: str, changed: str, tmp_path: Path) -> None:
    """By a policy, a cast, or casts that are automatic."""
    assert str(fix(tmp_path, "half-precision", line)).splitlines()[-1] == f"+{changed}"


def test_advice_is_of_the_engine_that_ran(tmp_path: Path) -> None:
    """No tf.data on PyTorch, and no DataLoader on TensorFlow, nor where Keras is given something else."""
    tensorflow = on("tensorflow", input_inside_step=True)

    assert "DataLoader" in str(fix(tmp_path / "a", "input-bound", told=OWN_LOOP))
    assert "prefetch" in str(fix(tmp_path / "b", "input-bound", told=tensorflow))
    assert "PyDataset" in str(fix(tmp_path / "c", "input-bound"))


def test_advice_is_of_the_version_of_keras(tmp_path: Path) -> None:
    """Keras 2.2 had a period; own loops have no callbacks."""
    old = {**on("mxnet"), "keras": {"backend": "mxnet", "version": "2.2.4"}}

    assert "save_freq" in str(fix(tmp_path / "a", "checkpoint-heavy"))
    assert "period=" in str(fix(tmp_path / "b", "checkpoint-heavy", told=old))
    assert "Sequence" in str(fix(tmp_path / "c", "input-bound", told=old))
    assert "ModelCheckpoint" not in str(fix(tmp_path / "d", "checkpoint-heavy", told=OWN_LOOP))


def test_where_keras_is_only_loaded_advice_is_the_engine_s(tmp_path: Path) -> None:
    """TensorFlow loads it for loops of the script's own, too."""
    fit = {**runs.fit_span(), "detail": json.dumps({"how": "inferred"})}
    run = runs.trained(tmp_path / "r", on("tensorflow"), **quiet(spans=[fit]))
    claim = Claim(Sentence("It takes"), {Tree.FIT_STEPS: S}, (), "Stop.", ("train.py", 1))

    assert str(fixes.of_claim(Case(run), "retracing", claim)).startswith("pass tensors (tf.constant(n))")


@pytest.mark.parametrize(
    ("text", "epochs", "is_told"),
    [("data = data.map(load)", 3, True), ("data = data.map(load).cache()", 3, False), ("data = data.map(load)", 1, False),
     ("data = list(files)", 3, False)],
)  # fmt: skip
def test_what_a_pipeline_makes_can_be_kept_for_the_next_epoch(
    tmp_path: Path, text: str, epochs: int, is_told: bool
) -> None:
    """Where it maps, does not keep it yet, and there is another epoch."""
    rows = [{"loop_id": 1, "epoch": n, "start_ns": (2 + n) * S, "dur_ns": S, "steps": 50} for n in range(epochs)]
    lines = [{"file": "train.py", "function": "<module>", "first_line": 1, "line": 1, "hits": 1, "time_ns": 0}]
    told = on("tensorflow", input_inside_step=True)
    run = runs.trained(tmp_path / "r", told, **quiet(epochs=rows, lines=lines))
    keep_source(run, text + "\n")
    claim = Claim(Sentence("It waits"), {Tree.FIT_INPUT: S}, (), "Prefetch.", ("train.py", 1))

    assert (".cache() behind .map(...) at line 1" in str(fixes.of_claim(Case(run), "input-bound", claim))) == is_told
