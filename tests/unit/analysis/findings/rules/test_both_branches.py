"""Conditions in functions that are mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit import runs
from tests.unit.analysis.findings.cases import FIT, Planted, on, pick, quiet, sampled, slugs
from tests.unit.runs import S

SOURCE = """\
import jax

def costly(x):
    return jax.lax.scan(body, x, None, length=20)[0]

def body(x, _):
    return x @ w, None

def cheap(x):
    return x

def choose(x):
    return jax.lax.cond(x[0] > 0, costly, cheap, x)

@jax.jit
def step(x):
    return jax.vmap(choose)(x)
"""
COSTLY = {"op": "dot_general", "category": "matmul", "file": "train.py", "line": 7, "ms": 12}
CHOICE = {"op": "select_n", "category": "elementwise", "file": "train.py", "line": 13, "ms": 4}
KEPT = {"op": "cond", "category": "other", "file": "train.py", "line": 13, "ms": 1}


def trained(*kernels: dict[str, Any], backend: str = "jax", source: str = SOURCE) -> Planted:
    """A loop of 250 steps of 20 ms with these kernels in each."""
    lines = [{"file": "train.py", "line": 17, "hits": 250, "time_ns": 5 * S, "source": "step(x)", "how": "exact"}]
    return Planted(quiet(lines=lines, **runs.window(list(kernels))), on(backend), source=source)


def planted() -> Planted:
    """Three quarters of the kernels are a branch's."""
    return trained(COSTLY, CHOICE)


def test_both_branches_are_told_at_the_condition(tmp_path: Path) -> None:
    """With the share of the kernels that they have, those of functions that a branch uses too."""
    finding = pick(planted().diagnosis(tmp_path), "both-branches")

    assert (finding.file, finding.line) == ("train.py", 13)
    assert "which have 75 % of the kernels" in finding.claim


@pytest.mark.parametrize(
    ("kernels", "source", "backend"),
    [
        ((COSTLY, CHOICE, KEPT), SOURCE, "jax"),
        ((COSTLY, CHOICE), SOURCE.replace("jax.vmap(choose)(x)", "choose(x)"), "jax"),
        (({**COSTLY, "line": 16}, CHOICE), SOURCE, "jax"),
        ((COSTLY, CHOICE), SOURCE, "torch"),
        ((COSTLY, {**CHOICE, "op": "add"}), SOURCE, "jax"),
        ((COSTLY, CHOICE), SOURCE.replace("jax.vmap(choose)(x)", "jax.vmap(choose)(costly(x))"), "jax"),
        ((COSTLY, CHOICE), SOURCE.replace("costly, cheap", "env.costly, env.cheap"), "jax"),
        ((COSTLY, CHOICE, {"op": "dot_general", "category": "matmul", "ms": 64}), SOURCE, "jax"),
    ],
)
def test_no_branch_is_said_to_be_dropped_where_one_alone_is_computed(
    tmp_path: Path, kernels: tuple[dict[str, Any], ...], source: str, backend: str
) -> None:
    """What else it may be.

    An operator that chooses, no map, branches that are next to nothing, another engine, nothing that selects, a branch
    that is used elsewhere, too, functions of something else, and kernels of which no line is known.
    """
    assert "both-branches" not in slugs(trained(*kernels, backend=backend, source=source).diagnosis(tmp_path))


VALIDATES = """\
import jax

def loss(x):
    return ((x @ w) ** 2).mean()

def step(x):
    gradient = jax.grad(loss)(x)
    return gradient, jax.lax.cond(x[0] > 0, lambda: loss(valid), lambda: 0.0)

ensemble = jax.jit(jax.vmap(step))
"""
LOSS = {"op": "dot_general", "category": "matmul", "file": "train.py", "line": 4, "ms": 12}
BACK = {**LOSS, "direction": "backward", "ms": 4}
CHOSEN = {"op": "select_n", "category": "elementwise", "file": "train.py", "line": 8, "ms": 1}


def test_a_branch_that_shares_its_code_with_what_a_gradient_is_taken_of_is_asked_about(tmp_path: Path) -> None:
    """Of its 12 ms forwards 2 are of the 4 ms back, and 10 of 17 are of no gradient."""
    finding = pick(trained(LOSS, BACK, CHOSEN, source=VALIDATES).diagnosis(tmp_path), "both-branches")

    assert (finding.file, finding.line) == ("train.py", 8)
    assert "(59 % of the kernels are of that code, and of no gradient)" in finding.claim
    assert finding.is_question


@pytest.mark.parametrize("back_ms", [0, 20])
def test_code_of_no_gradient_or_of_nothing_else_says_nothing_of_a_branch(back_ms: float, tmp_path: Path) -> None:
    """It may be computed elsewhere; or the gradient alone takes as long."""
    kernels = [LOSS, CHOSEN, *([{**BACK, "ms": back_ms}] if back_ms else [])]

    assert "both-branches" not in slugs(trained(*kernels, source=VALIDATES).diagnosis(tmp_path))


def test_without_lines_of_kernels_nothing_is_said(tmp_path: Path) -> None:
    """The reason is."""
    bare = [{name: value for name, value in one.items() if name not in ("file", "line")} for one in (COSTLY, CHOICE)]

    found = trained(*bare).diagnosis(tmp_path)

    assert "no trace tells which lines made the kernels" in [
        one.because for one in found.abstained if one.slug == "both-branches"
    ]


WAITS = sampled((2, 6.5, [("<module>", "train.py", 17), ("_value", "jax/_src/array.py", 5)]), (6.5, 8, FIT))


@pytest.mark.parametrize(
    ("source", "is_asked"), [(SOURCE, True), (SOURCE.replace("jax.vmap(choose)", "choose"), False)]
)
def test_what_is_waited_for_and_was_not_traced_is_a_question(tmp_path: Path, source: str, is_asked: bool) -> None:
    """4.5 of 6 s of waits, while kernels of the steps take 1.2 s; only where a map is around the condition."""
    lines = [{"file": "train.py", "line": 17, "hits": 250, "time_ns": 5 * S, "source": "step(x)", "how": "exact"}]
    tables = quiet(lines=lines, **WAITS, **runs.window([{"op": "dot", "category": "matmul", "ms": 4}]))
    found = Planted(tables, on("jax", asynchronous=True), source=source).diagnosis(tmp_path / "r")

    asked = [one for one in found.findings if one.slug == "both-branches"]
    assert [(one.line, one.is_question) for one in asked] == [(13, True)] * is_asked
    if is_asked:
        assert asked[0].at_stake_ns == pytest.approx(0.5 * 3.3 * S, rel=0.02)
        assert "x.at[jnp.where(condition, row, len(x))]" in asked[0].next_step
