"""Differential equations that are solved more exactly than their numbers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.tight_tolerances import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Call, keep_source, on, quiet, sampled
from tests.unit.runs import S

_JAX = "from jax.experimental.ode import odeint\ndef f(y, t):\n    return y @ w\n"
_SAVES = 1 - (1.4e-8 / 1e-5) ** 0.2


def of_jax(path: Path, call: str, head: str = _JAX) -> list[Claim]:
    """6 s of steps of 20 ms: 12 in 30 products that line 3 made, 4 in one of line 9; the solver is called in line 4."""
    made = {**KERNELS[0], "op": "dot_general", "file": "train.py", "line": 3, "ms": 12 / 30}
    other = {**KERNELS[0], "op": "dot_general", "file": "train.py", "line": 9, "ms": 4}
    stood = sampled((2, 8, [("<module>", "train.py", 7)]))
    run = runs.trained(path, on("jax"), **quiet(**runs.window([*[made] * 30, other]), **stood))
    keep_source(run, head + call)
    return list(claims(Case(run)))


def test_a_solver_that_is_left_as_it_is_is_named_with_how_often_it_computes(tmp_path: Path) -> None:
    """12 of 16 ms of kernels, which have 16 of 20: 60 % of 6 s; a method of the fifth order takes fewer steps."""
    (claim,) = of_jax(tmp_path / "r", "out = odeint(f, y0, times)")

    assert "to a relative tolerance of 1.4e-08 (the solver's own) takes 60 % of the steps" in claim.sentence.before
    assert "in which `f` has 30 products" in claim.sentence.before
    assert claim.line == ("train.py", 4)
    assert sum(claim.takes.values()) == pytest.approx(_SAVES * 0.6 * 6 * S, rel=0.01)


@pytest.mark.parametrize(
    ("call", "head"),
    [
        ("out = odeint(f, y0, times, rtol=1e-4)", _JAX),
        ("out = odeint(f, y0, times, rtol=TOLERANCE)", _JAX),
        ("out = odeint(f, y0, times)", "from scipy.integrate import odeint\ndef f(y, t):\n    return y @ w\n"),
        ("jax.config.update('jax_enable_x64', True); out = odeint(f, y0, times)", _JAX),
        ("out = odeint(f, y0, times", _JAX),
    ],
)
def test_a_tolerance_that_is_loose_or_not_known_and_64_bit_floats_are_none(
    tmp_path: Path, call: str, head: str
) -> None:
    """Nor is a solver that computes in 64 bits, or a text that is no Python."""
    assert of_jax(tmp_path / "r", call, head) == []


def test_where_no_line_tells_of_kernels_the_frames_of_the_solver_do(tmp_path: Path) -> None:
    """torchdiffeq: half of the steps, to a tolerance of 1e-7."""
    solving: list[Call] = [("<module>", "train.py", 2), ("odeint", "torchdiffeq/_impl/odeint.py", 77)]
    rest: list[Call] = [("<module>", "train.py", 3)]
    run = runs.trained(tmp_path / "r", on("torch"), **quiet(**sampled((2, 5, solving), (5, 8, rest))))
    keep_source(run, "from torchdiffeq import odeint\nout = odeint(net, y0, times)\nloss = out.mean()")

    (claim,) = claims(Case(run))
    assert claim.line == ("train.py", 2)
    assert sum(claim.takes.values()) == pytest.approx((1 - 0.01**0.2) * 3 * S, rel=0.01)
