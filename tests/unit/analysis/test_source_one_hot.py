"""Products of one-hot arrays, by the source of a file."""

from __future__ import annotations

import pytest

from dlprof.analysis.source_one_hot import Product, products


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ("x = tf.one_hot(t, n)\ny = tf.tensordot(x, self.w, 1) + b", "tensordot", 2),
        ("x = F.one_hot(t, n).float()\nx = x @ self.w", "matmul", 2),
        ("y = F.one_hot(t, n).to(w.dtype) @ w", "matmul", 1),
        ("x = one_hot(t, n)\nwith scope:\n    y = jnp.einsum('bv,vd->bd', x, w)", "einsum", 3),
        ("x = mx.nd.one_hot(t, n)\ny = mx.nd.dot(x.reshape((-1, n)), w)", "dot", 2),
        ("x = one_hot(t, n)\ny = self.project(x)\nself.project = nn.Linear(n, 64)", "project", 2),
    ],
)
def test_a_product_has_the_line_that_made_its_one_hot_array(text: str, name: str, line: int) -> None:
    """Whatever form the array was given between."""
    assert list(products(text.splitlines())) == [Product(line, name, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "x = one_hot(t, n)\nx = encode(x)\ny = x @ w",
        "def f():\n    x = one_hot(t, n)\ndef g(x):\n    return x @ w",
        "x = one_hot(t, n)\ny = x.T @ w",
        "x = one_hot(t, n)\ny = h @ w",
    ],
)
def test_a_product_of_anything_else_has_no_such_line(text: str) -> None:
    """What was computed of it, what is called so in another function, and its transpose, which sums rows."""
    assert [one.made for one in products(text.splitlines())] == [None]


def test_a_text_that_is_no_python_has_no_product() -> None:
    """A cell with a magic, say."""
    assert list(products(["%%time", "x @ y"])) == []
