"""All pairs that code of the script's own compares number by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.pair_differences import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, keep_source, on, quiet, sampled, slugs
from tests.unit.runs import S

TEXT = "def nearest(x, y):\n    diff = x[:, None] - y[None]\n    return diff.pow(2).sum(-1).argmin(1)\n"
LOOP: Call = ("<module>", "train.py", 9)


def run(path: Path, text: str = TEXT, until: float = 5, told: dict[str, Any] | None = None, **more: Any) -> Any:
    """6 s of steps, whose main thread stands in lines 2 and 3 from 2 s on."""
    inside: list[Call] = [LOOP, ("nearest", "train.py", 3)]
    first = sampled((2, 3, [LOOP, ("nearest", "train.py", 2)]), (3, until, inside), (until, 8, [LOOP]))
    made = runs.trained(path, told, **quiet(**runs.window(KERNELS), **first, **more))
    keep_source(made, text)
    return made


def told(path: Path, **changes: Any) -> list[Claim]:
    """The claims."""
    return list(claims(Case(run(path, **changes))))


def test_the_lines_of_a_comparison_are_its_time(tmp_path: Path) -> None:
    """3 s of the 6 stand in both; 95 % of that can be saved."""
    (claim,) = told(tmp_path / "r")

    assert claim.line == ("train.py", 2)
    assert sum(claim.takes.values()) == pytest.approx(0.95 * 3 * S, rel=0.01)
    assert (claim.fix or "").startswith("torch.cdist(x, y) ** 2")


@pytest.mark.parametrize(
    ("calling", "stands_s"),
    [("ids = nearest(x, y)\n", 6), ("nearest(x, y).tolist()\n", 3), ("ids = nearest(x @ w, y)\n", 3)],
)
def test_a_line_that_only_called_it_gives_its_arrays_back(tmp_path: Path, calling: str, stands_s: int) -> None:
    """Half of the steps stand in the call, with nothing above: there may be something else to stand in, too."""
    text = TEXT + "\n" * 5 + calling

    (claim,) = told(tmp_path / "r", text=text)

    assert sum(claim.takes.values()) == pytest.approx(0.95 * stands_s * S, rel=0.01)


def test_a_comparison_that_takes_little_is_none(tmp_path: Path) -> None:
    """Half a second."""
    assert told(tmp_path / "r", text="\n" + TEXT, until=3.5) == []


def test_other_lines_are_none(tmp_path: Path) -> None:
    """A product stands there."""
    assert told(tmp_path / "r", text="def nearest(x, y):\n    diff = x @ y.T\n    return diff.argmin(1)\n") == []


def test_where_python_waits_the_lines_of_kernels_tell(tmp_path: Path) -> None:
    """JAX: no kernel has a line here, so nothing is known."""
    assert told(tmp_path / "r", told=on("jax", asynchronous=True)) == []


def test_it_is_a_costly_operator(tmp_path: Path) -> None:
    """And found by the diagnosis."""
    assert "costly-operator" in slugs(diagnose.diagnose(run(tmp_path / "r")))
