"""How large what a script keeps can be."""

from __future__ import annotations

import ast

import pytest

from dlprof.analysis.source_sizes import Sizes


def is_small(*files: str) -> bool:
    """Of what the one call of `keep` in the first file is given."""
    trees = [ast.parse(text) for text in files]
    call = next(
        one for one in ast.walk(trees[0]) if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "keep"
    )
    return Sizes(trees).is_small(call.args[0])


SMALL = {
    "a number": "keep(1)",
    "a number of a tensor": "keep(loss.item())",
    "a text with figures": "keep(f'{epoch}: {loss:.4f}')\nfor epoch in range(3): pass",
    "a text with a number": "for epoch in range(9):\n keep('epoch%d' % epoch)",
    "a record of these": "keep({'loss': float(loss), 'time': round(time.time() - 3, 2)})",
    "a record made by a call": "keep(dict(loss=float(loss), step=2))",
    "a name of one": "value = float(loss)\nkeep(value)",
    "a record that is filled": "row = {}\nrow['loss'] = loss.item()\nkeep(row)",
    "a count": "for n, batch in enumerate(data):\n keep(n)",
    "a sum of sizes": "keep(sum(one.nbytes for one in held) / 1e6)",
    "what Keras hands": "def on_epoch_end(self, epoch, logs):\n keep((epoch, logs['loss']))",
    "a copy of that": "def on_epoch_end(self, epoch, logs):\n keep({k: float(v) for k, v in logs.items()})",
    "what a function gives": "def rss():\n return int(text) / 1e6\nkeep(rss())",
    "what a method is called with": "class A:\n def row(self, e, l): keep((e, l))\na.row(3, l.item())",
    "more that it is called with": "def note(**more):\n keep(more)\nnote(kept=len(x))\nnote()",
}
LARGE = {
    "what a call gives": "keep(model(x))",
    "a name of that": "out = model(x)\nkeep(out)",
    "a record with it": "keep({'epoch': 1, 'out': model(x)})",
    "a name that nothing tells of": "keep(batch)",
    "a sum with its graph": "keep(loss + 1)",
    "a long list": "keep([0] * 100000)",
    "a list that became longer": "rows = []\nfor x in data:\n rows.append(x)\nkeep(rows)",
    "a list that is added to": "rows = []\nrows += [1]\nkeep(rows)",
    "a record that is filled by keys": "rows = {}\nfor k in data:\n rows[k] = 1\nkeep(rows)",
    "rows of data": "for row in data:\n keep(row)",
    "an item of enumerate": "for n, batch in enumerate(data):\n keep(batch)",
    "what a method is called with": "class A:\n def store(self, p): keep(p)\na.store(net(x))",
    "what only some calls tell": "def store(p):\n keep(p)\nstore(1)\nstore(*both)",
    "what nobody calls": "def store(p):\n keep(p)",
}


@pytest.mark.parametrize("name", SMALL)
def test_numbers_texts_and_a_few_of_these_are_small(name: str) -> None:
    """By what their names were given, and by what functions are called with."""
    assert is_small(SMALL[name]) is True


@pytest.mark.parametrize("name", LARGE)
def test_what_is_not_known_to_be_small_may_be_large(name: str) -> None:
    """A list may have become long."""
    assert is_small(LARGE[name]) is False


def test_calls_in_another_file_tell_what_a_function_is_given() -> None:
    """A module of helpers does not call itself."""
    helper = "def note(name):\n keep(name)\n"

    assert is_small(helper, "note('begin')\nfor e in range(3):\n note('epoch%d' % e)\n") is True
    assert is_small(helper, "note(model(x))\n") is False
