"""Matrices of derivatives of which a part is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose
from dlprof.analysis.findings.finding import Finding
from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Planted, keep_source, on, quiet, sampled
from tests.unit.runs import S


def found(folder: Path, source: str, backend: str = "torch") -> list[Finding]:
    """What is told of a training of 6 s of steps, 4.8 s of which are products, on a script of these lines."""
    run = Planted(quiet(), on(backend)).run(folder)
    keep_source(run, source)
    return [one for one in diagnose.diagnose(run).findings if "derivatives" in one.claim.lower()]


@pytest.mark.parametrize(
    "source",
    [
        "h = torch.func.hessian(net)(x)\nloss = h[0, 0] + h[1, 1]\n",
        "h = jax.hessian(u, argnums=1)(params, z)\nloss = jnp.trace(h)\n",
        "h = jax.vmap(jax.hessian(u))(z)\nloss = h[:, 0, 0] + h[:, 1, 1]\n",
        "loss = jnp.diag(jax.jacfwd(f)(x))\n",
    ],
)
def test_a_matrix_of_which_entries_or_the_diagonal_are_used_is_asked_about(source: str, tmp_path: Path) -> None:
    """How much of the steps it has, no trace tells: six tenths of the kernels, as a question."""
    (finding,) = found(tmp_path / "r", source)

    assert finding.at_stake_ns == pytest.approx(0.6 * 4.8 * S, rel=0.01)
    assert (finding.line, finding.is_question) == (1, True)


@pytest.mark.parametrize(
    "source",
    ["hv = torch.func.hessian(net)(x) @ v\n", "hv = jnp.dot(jax.hessian(f)(x), v)\n", "jv = jax.jacfwd(f)(x).dot(v)\n"],
)
def test_a_matrix_that_is_multiplied_at_once_is_asked_about(source: str, tmp_path: Path) -> None:
    """Its product with a vector is had without it."""
    (finding,) = found(tmp_path / "r", source)

    assert finding.at_stake_ns == pytest.approx(0.6 * 4.8 * S, rel=0.01)
    assert "of which only the product with a vector is used" in finding.claim
    assert finding.fix is not None
    assert "torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]" in finding.fix


def test_what_is_made_between_steps_has_what_is_waited_for_there(tmp_path: Path) -> None:
    """Kernels of the steps take 1.2 of 6 s, values are waited for in 4.5: six tenths of 3.3 s."""
    waits = sampled((2, 6.5, [("<module>", "train.py", 9), ("_value", "jax/_src/array.py", 5)]), (6.5, 8, FIT))
    tables = quiet(**waits, **runs.window([{"op": "dot", "category": "matmul", "ms": 4}]))
    run = Planted(tables, on("jax", asynchronous=True)).run(tmp_path / "r")
    keep_source(run, "hv = jax.hessian(f)(x) @ v\n")
    (finding,) = [one for one in diagnose.diagnose(run).findings if "derivatives" in one.claim.lower()]

    assert finding.at_stake_ns == pytest.approx(0.6 * 3.3 * S, rel=0.02)


@pytest.mark.parametrize(
    "source",
    [
        "h = torch.func.hessian(net)(x)\nloss = (h @ v).sum()\n",
        "h = torch.func.hessian(net)(x)\nloss = h[0, 0] + h.sum()\n",
        "h = jax.hessian(u)(z)\nfor i in r:\n    for j in r:\n        total += h[i, j]\n",
        "j = jax.jacrev(f, argnums=(0, 1))(a, b)\nloss = a @ j[0]\n",
        "h = jax.vmap(jax.hessian(f))(x)\nloss = solve(h[0], g)\n",
        "fs = [jax.hessian(f) for f in many]\nloss = fs[0](x)[0, 0]\n",
        "'''\nh = torch.func.hessian(net)(x)\nloss = h[0, 0]\n'''\n",
        "h = torch.func.hessian(net)(x)\n",
        "h = torch.func.hessian(net)(x\n",
    ],
)
def test_a_matrix_that_may_be_used_as_a_whole_is_none(source: str, tmp_path: Path) -> None:
    """Products, sums, all entries in turn, blocks, lists of functions; and a text, what nobody uses, and no Python."""
    assert found(tmp_path / "r", source) == []


def test_a_line_that_did_not_run_is_none(tmp_path: Path) -> None:
    """A function that is there and is not called."""
    row = {"file": "train.py", "function": "f", "first_line": 1, "line": 9, "hits": 5, "time_ns": 0, "source": "x"}
    run = Planted(quiet(lines=[row]), on("torch")).run(tmp_path / "r")
    keep_source(run, "h = torch.func.hessian(net)(x)\nloss = h[0, 0]\n")

    assert not [one for one in diagnose.diagnose(run).findings if "derivatives" in one.claim.lower()]


def test_engines_that_have_another_way_are_not_told(tmp_path: Path) -> None:
    """Tapes of TensorFlow are looked at by their operators."""
    assert found(tmp_path / "r", "h = tape.hessian(y)\nh[0, 0]\n", "tensorflow") == []


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        ("f = -jax.jacfwd(energy, argnums=1)(p, x)\ndef energy(p, x):\n    return (h(p, x) @ p + 1.0)[0]\n", True),
        ("f = jax.jacfwd(lambda x: jnp.sum(x ** 2) / 2)(x)\n", True),
        ("f = jax.jacfwd(energy)(x)\ndef energy(x):\n    return h(x).mean()\n", True),
        ("f = jax.jacfwd(energy)(x)\ndef energy(x):\n    return h(x).mean(0)\n", False),
        ("f = jax.jacfwd(energy)(x)\ndef energy(x):\n    return jnp.sum(h(x), axis=-1)\n", False),
        ("f = jax.jacfwd(field)(x)\ndef field(x):\n    return jnp.tanh(x @ w)\n", False),
        ("f = jax.jacrev(energy)(x)\ndef energy(x):\n    return h(x).mean()\n", False),
    ],
)
def test_forward_mode_of_one_number_is_asked_about(source: str, is_told: bool, tmp_path: Path) -> None:
    """Reverse mode has all of its derivatives at once; of many numbers it would not."""
    told = found(tmp_path / "r", source, "jax")

    assert [(one.line, one.is_question, one.fix) for one in told] == [
        (1, True, "jax.grad(f) in place of jax.jacfwd(f) (jax.jacrev(f) where its result is an array of one number)")
    ] * is_told


def test_a_file_without_such_a_function_is_silent(tmp_path: Path) -> None:
    """What is derived may come from elsewhere."""
    assert found(tmp_path / "r", "f = jax.jacfwd(model.energy)(x)\n", "jax") == []
