"""Softmax over an axis that is not the last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.slow_softmax import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, cpu, keep_source, on, quiet
from tests.unit.runs import S


def told(
    path: Path,
    there: float,
    back: float,
    text: str = "a = F.softmax(e, axis=1)\n",
    op: str = "softmax",
    engine: str = "mxnet",
    **tables: Any,
) -> list[Claim]:
    """The claims of 6 s of steps of 20 ms, in which softmax takes so many ms of 16 forward, and back."""
    softmax = {"op": op, "category": "reduction", "layer": "pool", "direction": "forward", "ms": there}
    gradient = {**softmax, "op": f"_backward_{op}", "direction": "backward", "ms": back}
    rest = {"op": "dot", "category": "matmul", "layer": "fc", "direction": "forward", "ms": 16 - there - back}
    run = runs.trained(path, on(engine), **quiet(**runs.window([softmax, gradient, rest]), **tables))
    keep_source(run, text)
    return list(claims(Case(run)))


def test_softmax_of_eight_times_the_way_back_is_named_with_its_line(tmp_path: Path) -> None:
    """8 ms against 1: what is more is at stake."""
    (claim,) = told(tmp_path / "r", 8, 1)

    assert "Softmax in pool takes 8 times as long forward as back" in claim.sentence.before
    assert claim.line == ("train.py", 1)
    assert sum(claim.takes.values()) == pytest.approx(6 * S * 7 / 20, rel=0.02)
    assert claim.support is not None
    assert claim.support.agree == 1


def test_where_no_line_says_so_it_is_less_sure(tmp_path: Path) -> None:
    """The axis is a name."""
    (claim,) = told(tmp_path / "r", 8, 1, "a = F.softmax(e, axis=axis)\n")

    assert claim.line == ("train.py", 1)
    assert claim.support is not None
    assert claim.support.agree < 1


@pytest.mark.parametrize(("there", "back"), [(4, 4), (6, 2), (1, 0.1), (8, 0)])
def test_a_usual_softmax_a_short_one_and_one_without_a_way_back_are_none(
    tmp_path: Path, there: float, back: float
) -> None:
    """As long, three times as long, a sixteenth of the kernels, and of a model that is only asked."""
    assert told(tmp_path / "r", there, back) == []


def test_softmax_in_one_with_a_loss_is_none(tmp_path: Path) -> None:
    """What goes back is a difference: fast, whatever the way there takes."""
    assert told(tmp_path / "r", 8, 1, op="SoftmaxOutput") == []


@pytest.mark.parametrize(
    "text", ["loss = F.cross_entropy(model(x), y)\n", "a = torch.softmax(e, dim=-1)\n", "m = nn.Softmax(dim=-1)\n"]
)
def test_over_the_last_axis_or_in_a_loss_alone_it_is_none(tmp_path: Path, text: str) -> None:
    """Nothing tells of another axis, whatever it takes: a loss has a softmax of its own over its last."""
    assert told(tmp_path / "r", 8, 1, text, "aten::_log_softmax", "torch") == []


@pytest.mark.parametrize(("axis", "agree"), [("1", 0.5), ("0", 1.0), ("-2", 1.0)])
def test_axis_one_may_be_the_last_of_a_matrix(tmp_path: Path, axis: str, agree: float) -> None:
    """PyTorch has no axis by default, so that most name it."""
    (claim,) = told(tmp_path / "r", 8, 1, f"a = F.softmax(e, dim={axis})\n", "aten::_softmax", "torch")

    assert claim.support is not None
    assert claim.support.agree == agree


@pytest.mark.parametrize(("waited_s", "is_told"), [(0.2, True), (2.0, False)])
def test_where_threads_wait_for_cores_that_may_be_why(tmp_path: Path, waited_s: float, is_told: bool) -> None:
    """Of 6 s of running they waited 3 % or 25 % of the time."""
    assert (
        bool(
            told(
                tmp_path / "r",
                8,
                1,
                **cpu((2.5, BEGIN), (7.5, {**BEGIN, "run_ns": 6 * S, "wait_ns": int(waited_s * S)})),
            )
        )
        is is_told
    )
