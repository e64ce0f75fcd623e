"""Where a file compares all pairs number by number."""

from __future__ import annotations

import pytest

from dlprof.analysis import source_pairs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d = ((x[:, None] - y[None]) ** 2).sum(-1)", [1]),
        ("d = (x.unsqueeze(1) - y.unsqueeze(0)).pow(2).sum(2)", [1]),
        ("d = torch.norm(x[:, None, :] - centres, dim=-1)", [1]),
        ("d = jnp.sum(jnp.abs(x[:, jnp.newaxis, :] - y[jnp.newaxis, :, :]), -1)", [1]),
        ("d = tf.reduce_sum(tf.square(tf.expand_dims(x, 1) - tf.expand_dims(y, 0)), 2)", [1]),
        ("diff = x.unsqueeze(1) - y.unsqueeze(0)\nn = len(x)\nd = diff.pow(2).sum(2)\nreturn d", [1, 2, 3]),
        ("d = (x[:, None] - y[None]) ** 2\nk = torch.exp(-d.sum(-1))", [1, 2]),
    ],
)
def test_a_comparison_has_the_lines_from_its_difference_to_its_sum(text: str, expected: list[int]) -> None:
    """In one statement, or in a few that go on with its name."""
    body = "def f(x, y):\n" + "\n".join(f"    {line}" for line in text.split("\n"))

    assert [line - 1 for lines in source_pairs.lines(body.split("\n")) for line in lines] == expected


@pytest.mark.parametrize(
    "text",
    [
        "v = ((x - x.mean(1)[:, None]) ** 2).sum(1)",
        "v = ((x - mean.unsqueeze(1)) ** 2).sum(1)",
        "v = ((x[:, None] - y[:, None]) ** 2).sum()",
        "v = x[:, None] - y[None]",
        "v = ((x[1:] - x[:-1]) ** 2).sum()",
        "v = (x[:, None] * y[None]).sum(-1)",
        "%time v = x",
    ],
    ids=["centred", "centred by a name", "the same axis", "no sum", "neighbours", "a product", "no Python"],
)
def test_others_are_none(text: str) -> None:
    """What takes something off each row; what is not summed up; no difference."""
    assert source_pairs.lines([text]) == ()
