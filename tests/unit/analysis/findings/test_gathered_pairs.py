"""Rows that are gathered for each pair of positions, and multiplied then."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.gathered_pairs import claims
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, keep_source, on, quiet
from tests.unit.runs import S

_PAIRS = (
    "def attend(q, table, n):\n    i = jnp.arange(n)\n    distance = i[None, :] - i[:, None] + n - 1\n"
    "    rel = table[distance]\n    return jnp.einsum('bihd,ijhd->bhij', q, rel)\n"
)


def told(path: Path, text: str, gathered_ms: float = 6) -> list[Claim]:
    """The claims of 6 s of steps of 20 ms: line 4 gathers, line 5 has 4 ms of products, and others 6."""
    made = {**KERNELS[0], "op": "dot_general", "file": "train.py"}
    rows = [
        {**made, "op": "gather", "category": "embedding", "line": 4, "ms": gathered_ms},
        {**made, "line": 5, "ms": 4},
        {**made, "line": 9, "ms": 16 - 4 - gathered_ms},
    ]
    run = runs.trained(path, on("jax"), **quiet(**runs.window(rows)))
    keep_source(run, text)
    return list(claims(Case(run)))


def test_rows_of_distances_that_are_multiplied_are_named_with_their_product(tmp_path: Path) -> None:
    """17 of 20 parts of 10 of 16 ms of kernels, which have 4.8 s."""
    (claim,) = told(tmp_path / "r", _PAIRS)

    assert claim.line == ("train.py", 4)
    assert "at line 4 and multiplied at line 5, which has 62 % of the kernels' time" in claim.sentence.before
    assert sum(claim.takes.values()) == pytest.approx(0.85 * 10 / 16 * 4.8 * S, rel=0.01)


def test_a_product_with_an_operator_is_one_too(tmp_path: Path) -> None:
    """And an axis that is put in by name."""
    text = _PAIRS.replace("jnp.einsum('bihd,ijhd->bhij', q, rel)", "q @ rel").replace("[None, :]", "[jnp.newaxis]")

    assert len(told(tmp_path / "r", text)) == 1


@pytest.mark.parametrize(
    ("text", "gathered_ms"),
    [
        (_PAIRS, 2),
        (_PAIRS.replace("distance = i[None, :] - i[:, None] + n - 1", "distance = words"), 6),
        (_PAIRS.replace("q, rel)", "q, table)"), 6),
        (_PAIRS.replace("table[distance]", "table[0]"), 6),
        ("%time x = 1", 6),
    ],
)
def test_looking_up_words_is_none(tmp_path: Path, text: str, gathered_ms: float) -> None:
    """Nor is what is not multiplied, or has little of the time."""
    assert told(tmp_path / "r", text, gathered_ms) == []
