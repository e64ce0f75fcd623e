"""Where a file multiplies a product of two arrays by a third."""

from __future__ import annotations

import pytest

from dlprof.analysis import source_products
from dlprof.analysis.source_products import Chain


def chains(text: str) -> list[tuple[int, int]]:
    """Lines of the inner and of the outer product."""
    return [(one.inner, one.outer) for one in source_products.chains(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("y = (q @ k.T) @ v", [(1, 1)]),
        ("y = v @ (q @ k)", [(1, 1)]),
        ("y = nd.batch_dot(nd.batch_dot(q, k), v)", [(1, 1)]),
        ("pairs = q.bmm(k)\ny = pairs.transpose(1, 2).bmm(v)", [(1, 2)]),
        ("b, n, d = x.shape\npairs = torch.bmm(q, k) / (n * d)\ny = torch.bmm(pairs, g)", [(2, 3)]),
        ("pairs = 0.5 * (q @ k) / x.shape[1]\ny = pairs @ v", [(1, 2)]),
        ("pairs = tf.matmul(q, k) * math.sqrt(d)\ny = tf.matmul(pairs, v)", [(1, 2)]),
        ("scale = dim ** -0.5\npairs = (q @ k) * scale\ny = pairs @ v", [(2, 3)]),
    ],
)
def test_a_product_that_is_multiplied_again_is_a_chain(text: str, found: list[tuple[int, int]]) -> None:
    """With factors and other orders of axes between them."""
    assert chains(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "pairs = (q @ k).softmax(-1)\ny = pairs @ v",
        "pairs = q @ k\npairs = pairs.softmax(-1)\ny = pairs @ v",
        "pairs = (q @ k) * mask\ny = pairs @ v",
        "pairs = (q @ k) + bias\ny = pairs @ v",
        "pairs = (q @ k) / norms\ny = pairs @ v",
        "def f(scale):\n    pairs = (q @ k) * scale\n    return pairs @ v",
        "y = q @ k",
        "pairs = q @ k\nshow(pairs)\ny = pairs @ v",
        "print 1",
    ],
)
def test_what_changes_the_numbers_between_makes_none(text: str) -> None:
    """A softmax, a mask, another use of the pairs: their order is not free, or they are needed."""
    assert chains(text) == []


def test_a_class_s_settings_are_numbers_to_divide_by() -> None:
    """Not to multiply by: a mask is given so, too."""
    made = "class A:\n    def __init__(self, d):\n        self.d = d\n    def f(self):\n        "

    assert source_products.chains([*made.split("\n")[:-1], "        return (q @ k / self.d) @ v"]) == (
        Chain(5, 5, "A"),
    )
    assert chains(made + "return (q @ k * self.d) @ v") == []


def test_a_name_is_of_its_own_function() -> None:
    """What another one calls the same is another array."""
    assert chains("def f():\n    pairs = q @ k\n    return pairs\ndef g(pairs):\n    return pairs @ v") == []
