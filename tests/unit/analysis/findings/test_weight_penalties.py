"""A penalty on all weights that a script adds to its loss."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.weight_penalties import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, quiet
from tests.unit.runs import S

_FUNCTION = "def size(net):\n    flat = torch.cat([w.reshape(-1) for w in net.parameters()])\n    return {}\n"
_MAIN = """def main():
    n = sum(w.numel() for w in net.parameters())
    for x in data:
        with timer:
            loss = f(x) + sum((w ** 2).sum() for w in net.parameters())
        print(loss.item())
"""


def told(path: Path, text: str, ms: float = 8, layer: str | None = None) -> list[Claim]:
    """The claims of 6 s of steps of 20 ms, of which products of that layer take so many, where the script is that."""
    product = {"op": "aten::mul", "category": "elementwise", "layer": layer, "direction": "backward", "ms": ms}
    rest = {"op": "aten::mm", "category": "matmul", "layer": "fc", "direction": "forward", "ms": 16 - ms}
    run = runs.trained(path, on("torch"), **quiet(**runs.window([product, rest])))
    keep_source(run, text)
    return list(claims(Case(run)))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (_FUNCTION.format("(flat * flat).sum()"), 2),
        (_FUNCTION.format("flat.pow(2).sum()"), 2),
        ("loss = mse(net(x), y) + 0.1 * sum(w.norm() for w in net.parameters())\n", 1),
        (_MAIN, 5),
        ("for name, w in net.named_parameters():\n    loss = loss + 0.1 * (w ** 2).sum()\n", 1),
    ],
)
def test_a_penalty_is_named_where_the_weights_are_gone_through(tmp_path: Path, text: str, line: int) -> None:
    """8 of 20 ms of each step are work of no layer: nine tenths of 2.4 s."""
    (claim,) = told(tmp_path / "r", text)

    assert claim.line == ("train.py", line)
    assert sum(claim.takes.values()) == pytest.approx(2.16 * S, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "count = sum(w.numel() ** 2 for w in net.parameters())\n",
        "with torch.no_grad():\n    for w, old in zip(net.parameters(), before):\n        w.mul_(0.9)\n",
        "def length(net):\n    return sum(w.grad.norm() ** 2 for w in net.parameters())\n",
        "@torch.no_grad()\ndef length(net):\n    return sum(w.norm() ** 2 for w in net.parameters())\n",
        "print(sum(w.norm() for w in net.parameters()))\n",
        "optimizer = SGD([w for w in net.parameters()], lr=1e-2)\n",
    ],
)
def test_other_uses_of_all_weights_are_none(tmp_path: Path, text: str) -> None:
    """Counts, averages, lengths of gradients, and what an optimiser is given."""
    assert told(tmp_path / "r", text) == []


@pytest.mark.parametrize(("ms", "layer"), [(3, None), (8, "fc")])
def test_a_little_of_it_and_work_of_layers_are_none(tmp_path: Path, ms: float, layer: str | None) -> None:
    """3 of the 20 ms; and what a layer does."""
    assert told(tmp_path / "r", _FUNCTION.format("(flat * flat).sum()"), ms, layer) == []
