"""Matrices of derivatives of which a part is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit.analysis.findings.cases import Planted, keep_source, on, quiet
from tests.unit.runs import S


def found(folder: Path, source: str, backend: str = "torch") -> list[Finding]:
    """What is told of a training of 6 s of steps, 4.8 s of which are products, on a script of these lines."""
    run = Planted(quiet(), on(backend)).run(folder)
    keep_source(run, source)
    return [one for one in diagnose.diagnose(run).findings if "derivatives" in one.claim]


@pytest.mark.parametrize(
    "source",
    [
        "h = torch.func.hessian(net)(x)\nloss = h[0, 0] + h[1, 1]\n",
        "h = jax.hessian(u, argnums=1)(params, z)\nreturn jnp.trace(h)\n",
        "return jnp.diag(jax.jacfwd(f)(x))\n",
    ],
)
def test_a_matrix_of_which_entries_or_the_diagonal_are_used_is_asked_about(source: str, tmp_path: Path) -> None:
    """How much of the steps it has, no trace tells: six tenths of the kernels, as a question."""
    (finding,) = found(tmp_path / "r", source)

    assert finding.at_stake_ns == pytest.approx(0.6 * 4.8 * S, rel=0.01)
    assert (finding.line, finding.is_question) == (1, True)


@pytest.mark.parametrize(
    "source",
    [
        "h = torch.func.hessian(net)(x)\nloss = (h @ v).sum()\n",
        "h = torch.func.hessian(net)(x)\nloss = h[0, 0] + h.sum()\n",
        "# h = torch.func.hessian(net)(x)\n# loss = h[0, 0]\n",
        "h = torch.func.hessian(net)(x)\n",
    ],
)
def test_a_matrix_that_is_used_as_a_whole_or_not_at_all_is_none(source: str, tmp_path: Path) -> None:
    """A product, a sum besides an entry, a comment, and what nothing behind it reads."""
    assert found(tmp_path / "r", source) == []


def test_engines_that_have_another_way_are_not_told(tmp_path: Path) -> None:
    """Tapes of TensorFlow are looked at by their operators."""
    assert found(tmp_path / "r", "h = tape.hessian(y)\nh[0, 0]\n", "tensorflow") == []
