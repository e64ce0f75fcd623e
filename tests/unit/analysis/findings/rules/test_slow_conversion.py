"""Data that a model's own code converts at each call."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    FIT,
    Call,
    Planted,
    diagnosed,
    keep_source,
    on,
    pick,
    quiet,
    sampled,
    slugs,
)
from tests.unit.runs import S

CALL: list[Call] = [*FIT, ("call", "train.py", 3)]
CONVERTS: list[Call] = [("convert_to_tensor", "keras/src/backend/torch/core.py", 9), ("flatten", "torch/_pytree.py", 7)]


def planted(*above: Call, seconds: float = 3.0) -> Planted:
    """Of 6 s of steps the main thread stands for so long below line 3, which a layer runs; then in the engine."""
    stacks = sampled(
        (2, 2 + seconds, [*CALL, *(above or CONVERTS)]),
        (2 + seconds, 8, [*FIT, ("backward", "torch/_tensor.py", 9)]),
    )
    return Planted(quiet(**stacks))


def test_a_list_that_is_converted_at_each_call_is_named_with_its_line(tmp_path: Path) -> None:
    """Half of the steps; nothing was said before, for the stack stands in Keras."""
    finding = pick(planted().diagnosis(tmp_path), "slow-conversion")

    assert finding.at_stake_ns == pytest.approx(3 * S, rel=0.01)
    assert finding.line == 3


@pytest.mark.parametrize(
    ("told", "fix"),
    [
        (on("torch"), "self.table = torch.tensor(rows), once, in build(), where it is the same at each call"),
        (
            {**on("torch"), "keras": None},
            "self.register_buffer('table', torch.tensor(rows)), once, in __init__(), where it is the same at each call",
        ),
        ({**on("mxnet"), "keras": None}, None),
    ],
)
def test_the_line_is_told_where_it_runs_once(tmp_path: Path, told: dict[str, object], fix: str | None) -> None:
    """As an attribute of the layer, or as a buffer of the module."""
    run = runs.trained(tmp_path / "r", told, **planted().tables)
    keep_source(run, "\n\n        table = torch.tensor(rows)\n")

    assert pick(diagnose.diagnose(run), "slow-conversion").fix == fix


def test_a_line_that_goes_on_in_the_next_one_is_not_told_in_part(tmp_path: Path) -> None:
    """It would be no Python."""
    run = runs.trained(tmp_path / "r", None, **planted().tables)
    keep_source(run, "\n\n        table = torch.tensor(\n            rows)\n")

    assert pick(diagnose.diagnose(run), "slow-conversion").fix is None


def test_what_takes_a_few_hundredths_is_not_worth_a_word(tmp_path: Path) -> None:
    """0.3 of 6 s."""
    assert "slow-conversion" not in slugs(planted(seconds=0.3).diagnosis(tmp_path))


def test_operations_and_batches_are_none(tmp_path: Path) -> None:
    """Tensors that are joined; a row that a loader has changed; and a batch that the script's own loop converts, uncalled."""
    product = planted(("concatenate", "keras/src/ops/numpy.py", 9))
    batch = sampled((2, 5, [("<module>", "train.py", 7), *CONVERTS]), (5, 8, FIT))

    rows = planted(("array", "mxnet/ndarray/utils.py", 9))
    stacks = [*FIT, ("__iter__", "mxnet/gluon/data/dataloader.py", 9), ("change", "train.py", 3)]
    changed = sampled((2, 5, [*stacks, ("array", "mxnet/ndarray/utils.py", 9)]), (5, 8, FIT))

    assert "slow-conversion" in slugs(rows.diagnosis(tmp_path / "c"))
    assert "slow-conversion" not in slugs(diagnosed(tmp_path / "d", **quiet(**changed)))
    assert "slow-conversion" not in slugs(product.diagnosis(tmp_path / "a"))
    assert "slow-conversion" not in slugs(diagnosed(tmp_path / "b", **quiet(**batch)))
