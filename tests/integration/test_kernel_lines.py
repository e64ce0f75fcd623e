"""Lines of compiled functions and the kernels that they made, on the real JAX."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration import runner

pytestmark = pytest.mark.integration

SCRIPT = """
import jax
import jax.numpy as jnp

def dear(x):
    return jnp.tanh(x @ x)  # dear

def cheap(x):
    return x + 1  # cheap

def choose(x):
    return jax.lax.cond(x[0, 0] > 2, dear, cheap, x)  # choice

def loss_fn(w, x):
    return jnp.mean(jax.vmap(choose)(x * w) ** 2)

@jax.jit
def step(w, x):
    loss, gradient = jax.value_and_grad(loss_fn)(w, x)
    return w - 1e-3 * gradient, loss

w, x = jnp.ones((128, 128)), jnp.ones((16, 128, 128)) * 1e-3
for _ in range(60):
    w, loss = step(w, x)
    float(loss)
"""


def test_kernels_of_a_compiled_function_have_the_lines_that_made_them(tmp_path: Path) -> None:
    """Most time is in the product; its branch is computed although no row needs it, and that is asked about."""
    runner.write(tmp_path, "train.py", SCRIPT)
    done = runner.trace("train.py", "--backend", "native-jax", cwd=tmp_path)

    assert done.code == 0, done.err
    by_line = runner.asked("kernels", "run", "--by", "line", cwd=tmp_path)["rows"]
    remarks = {number: text.rpartition("# ")[2] for number, text in enumerate(SCRIPT.splitlines(), 1)}
    places = [(row["file"], remarks.get(row["line"])) for row in by_line if row["kind"] == "operator"]
    assert places[0] == ("train.py", "dear")
    told = runner.report(tmp_path)
    (found,) = [one for one in told["findings"] if one["slug"] == "both-branches"]
    assert remarks[found["line"]] == "choice"


def test_a_condition_that_is_the_same_for_all_rows_stays_one(tmp_path: Path) -> None:
    """Under `vmap`, too: one branch runs, and nothing is asked."""
    one_flag = SCRIPT.replace("def choose(x):", "def choose(flag, x):").replace("x[0, 0] > 2", "flag > 2")
    one_flag = one_flag.replace("vmap(choose)(x * w)", "vmap(choose, in_axes=(None, 0))(jnp.sum(w) - 1e6, x * w)")
    runner.write(tmp_path, "train.py", one_flag)
    done = runner.trace("train.py", "--backend", "native-jax", cwd=tmp_path)

    assert done.code == 0, done.err
    assert runner.sql(tmp_path, "SELECT DISTINCT line FROM kernels WHERE op = 'cond'") == [{"line": 12}]
    assert "both-branches" not in [one["slug"] for one in runner.report(tmp_path)["findings"]]
