"""Parts of a model that compute rows which a mask drops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, on, quiet
from tests.unit.runs import S

SOURCE = """\
class Mixture(nn.Module):
    def forward(self, x):
        weight, chosen = self.router(x).max(dim=-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            mask = (chosen == i).float() * weight
            out = out + expert(x) * mask.unsqueeze(-1)
        return out
"""


def kernel(layer: str, ms: float) -> dict[str, Any]:
    """A product of a layer in each step of 20 ms."""
    return {"op": "aten::mm", "category": "matmul", "layer": layer, "direction": "forward", "ms": ms}


def told(folder: Path, source: str = SOURCE, *, experts: int = 4, ms: float = 3) -> list[Finding]:
    """What is told of 6 s of steps in which each expert has so long, and the rest of the model 4 ms."""
    kernels = [kernel(f"block.experts.{number}.up", ms) for number in range(experts)]
    lines = [{"file": "train.py", "line": 7, "hits": 1200, "time_ns": S, "source": "x", "how": "exact"}]
    tables = quiet(lines=lines, **runs.window([*kernels, kernel("head", 4)]))
    found = Planted(tables, on("torch"), source=source).diagnosis(folder).findings
    return [one for one in found if one.slug == "both-branches"]


def test_experts_that_compute_all_rows_are_named_with_what_is_dropped(tmp_path: Path) -> None:
    """Four of 3 ms in steps of 20: three quarters of their 3.6 s."""
    (finding,) = told(tmp_path / "r")

    assert finding.heading == "Parts of the model computed rows that a mask drops"
    assert finding.line == 7
    assert finding.at_stake_ns == pytest.approx(2.7 * S, rel=0.01)
    assert (
        "Each of experts computes every row, and a mask takes what 1 of 4 makes of it: they have 75 %" in finding.claim
    )
    assert finding.fix is not None
    assert finding.fix.startswith("rows = (chosen == i).nonzero(")


@pytest.mark.parametrize(
    ("text", "chosen_s"), [("topk(2, dim=-1)", 1.8), ("topk(k=3, dim=-1)", 0.9), ("topk(self.k)", 2.7)]
)
def test_of_several_that_are_chosen_less_is_dropped(text: str, chosen_s: float, tmp_path: Path) -> None:
    """How many they are the source tells; else one is taken."""
    (finding,) = told(tmp_path / "r", SOURCE.replace("max(dim=-1)", text))

    assert finding.at_stake_ns == pytest.approx(chosen_s * S, rel=0.01)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mask = (chosen == i).float() * weight", "mask = weight[:, i]"),
        ("expert(x)", "expert(x[mask])"),
        ("expert(x)", "expert(mask)"),
        (" * weight\n            out = out + expert(x) * mask.unsqueeze(-1)", "\n            kept.append(expert(x))"),
        ("enumerate(self.experts)", "zip(self.gates, self.experts)"),
    ],
)
def test_parts_that_compute_what_is_used_are_not_told(old: str, new: str, tmp_path: Path) -> None:
    """Gates that are soft, rows that are routed, no product with a mask, and no number to compare with."""
    assert old in SOURCE
    assert told(tmp_path / "r", SOURCE.replace(old, new)) == []


@pytest.mark.parametrize(("experts", "ms"), [(2, 3.0), (4, 0.2)])
def test_few_parts_or_cheap_ones_are_not_told(experts: int, ms: float, tmp_path: Path) -> None:
    """Little would be saved."""
    assert told(tmp_path / "r", experts=experts, ms=ms) == []


def test_parts_that_are_called_by_their_number_are_the_same(tmp_path: Path) -> None:
    """`for i in range(len(self.experts))`."""
    source = SOURCE.replace("for i, expert in enumerate(self.experts)", "for i in range(len(self.experts))")
    (finding,) = told(tmp_path / "r", source.replace("expert(x)", "self.experts[i](x)"))

    assert finding.line == 7
