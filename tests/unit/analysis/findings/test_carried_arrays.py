"""Arrays that a loop of XLA carries, and goes through in each turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, keep_source, on, quiet
from tests.unit.runs import S

LOOP = "x = jnp.where(alive, x.at[t].set(h), x)\nx, _ = jax.lax.scan(step, x, ts)\n"


def found(folder: Path, source: str = LOOP, times: int = 10, ms: float = 1.0, **changes: Any) -> list[Finding]:
    """Of steps of 20 ms: a product of 5 ms, and so many kernels that write a part of an array at line 1."""
    write = {
        "op": "add_any", "name": "dynamic-update-slice_add_fusion", "category": "elementwise", "ms": ms,
        "file": "train.py", "line": 1, **changes,
    }  # fmt: skip
    tables = quiet(**runs.window([{"op": "dot", "category": "matmul", "ms": 5}, *[write] * times]))
    run = Planted(tables, on("jax")).run(folder)
    keep_source(run, source)
    return [one for one in diagnose.diagnose(run).findings if "goes through all of it" in one.claim]


def test_what_goes_through_a_carried_array_in_each_turn_is_told_with_its_line(tmp_path: Path) -> None:
    """10 of 15 ms of kernels a step, in 6 s of steps of which kernels have 15 of 20 ms; nine tenths are saved."""
    (finding,) = found(tmp_path / "r")

    assert (finding.line, finding.slug) == (1, "costly-operator")
    assert finding.at_stake_ns == pytest.approx(0.9 * 10 / 15 * 4.5 * S, rel=0.01)
    assert "10 times a step, 1.00 ms each, 67 % of the kernels' time" in finding.claim


@pytest.mark.parametrize("place", ["at[:, t]", "at[i, j]", "at[i[0]]"])
def test_a_column_an_element_or_a_row_is_a_part(place: str, tmp_path: Path) -> None:
    """However it is named."""
    assert len(found(tmp_path / "r", LOOP.replace("at[t]", place))) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"source": LOOP.replace("lax.scan", "lax.map")},
        {"source": LOOP.replace("x.at[t].set(h)", "x + h")},
        {"source": LOOP.replace("at[t]", "at[1:-1, ...]")},
        {"times": 7},
        {"ms": 0.1},
        {"ms": 0.019, "times": 300},
        {"name": "scatter"},
    ],
    ids=["no loop", "no write", "nearly all", "few turns", "little time", "in place", "a scatter"],
)
def test_what_is_written_in_place_or_not_in_a_loop_is_not_told(changes: dict[str, Any], tmp_path: Path) -> None:
    """A row that is written in place takes some microseconds."""
    assert found(tmp_path / "r", **changes) == []
