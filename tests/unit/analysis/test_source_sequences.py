"""Loops that ask for the next piece of a sequence with all of it, by their source."""

from __future__ import annotations

import pytest

from dlprof.analysis.source_sequences import grown_at, regrown

WRITES = """\
for _ in range(length):
    part = idx[:, -block:]
    logits, _ = self(part)
    probs = F.softmax(logits[:, -1, :], dim=-1)
    nxt = torch.multinomial(probs, 1)
    idx = torch.cat((idx, nxt), dim=1)
"""
LISTED = """\
while len(tokens) < 80:
    x = np.array([start])
    y, _ = self.model.predict(x, verbose=0)
    token = self.sample_from(y[0][-1])
    start.append(token)
"""
PUT_INTO = """\
for i in range(1, length):
    logits = forward(params, tokens)
    tokens = tokens.at[:, i].set(jax.random.categorical(key, logits[:, i - 1]))
"""
AT_ONCE = """\
while done < 9:
    t = torch.cat(
        [t, model(t)[:, -1:].argmax(-1)], 1)
"""
DECODED = """\
for i in range(length):
    out = model(source, target[:, :-1])
    target[:, i] = out[:, -1].argmax(-1)
"""


@pytest.mark.parametrize(
    ("text", "lines", "name"),
    [
        (WRITES, range(3, 4), "idx"),
        (LISTED, range(3, 4), "start"),
        (PUT_INTO, range(2, 3), "tokens"),
        (AT_ONCE, range(2, 4), "t"),
        (DECODED, range(2, 3), "target"),
    ],
)
def test_a_call_that_gets_all_that_was_chosen_by_it_is_one(text: str, lines: range, name: str) -> None:
    """Behind it, into it, as a list, by a name of its own."""
    assert [(one.lines, one.name) for one in regrown(text.splitlines())] == [(lines, name)]


@pytest.mark.parametrize(
    "body",
    [
        ["out = layer(torch.cat(features, 1))", "features.append(out)"],
        ["logits, cache = model(tokens[:, -1:], cache)", "tokens = torch.cat([tokens, logits.argmax(-1)], 1)"],
        ["out = model(ids, past_key_values=past)", "ids = torch.cat([ids, out.logits.argmax(-1)], 1)"],
        ["y, h = cell(x, h)", "x = y.argmax(-1)", "outs.append(x)"],
        ["p = model(x)", "preds.append(p.argmax(1))", "score = f1(torch.cat(preds), truth)"],
        ["a = policy(state).argmax()", "state, r = env.step(a)", "buffer.append((state, a))", "loss = learn(buffer)"],
        ["sentence = sentence[1:] + chars[sample(model.predict(x))]", "print(len(sentence))"],
    ],
)
def test_what_is_given_else_is_none(body: list[str]) -> None:
    """Joined outputs of layers, a cache, a state, predictions that are kept, what an agent did, a window of its own."""
    assert list(regrown(["for i in turns:", *(f"    {line}" for line in body)])) == []


BRANCHES = """\
for _ in range(length):
    logits, kept = model(part, {kept})
    nxt = torch.multinomial(logits[:, -1], 1)
    idx = torch.cat([idx, nxt], 1)
    if {condition}:
        part = {one}
    else:
        part = {other}
"""


@pytest.mark.parametrize(
    ("kept", "condition", "one", "other", "found"),
    [
        ("mask", "cached", "nxt", "idx", False),
        ("mask", "long", "idx[:, -64:]", "idx", True),
        ("past", "long", "idx[:, -64:]", "idx", False),
    ],
    ids=["newest piece with a cache", "stretch of it", "given what was kept"],
)
def test_of_two_branches_both_must_give_all_of_it(kept: str, condition: str, one: str, other: str, found: bool) -> None:
    """False before: a script with a cache and a switch for it, which was on; what was kept had a place, not a name."""
    text = BRANCHES.format(kept=kept, condition=condition, one=one, other=other)

    assert bool(list(regrown(text.splitlines()))) is found


def test_a_text_that_is_no_python_has_none() -> None:
    """A cell with magics."""
    assert list(regrown(["%time x = 1"])) == []


DRAWN = """\
for _ in range(length):
    scores, _ = model(nd.array(tokens), model.begin_state(8))
    below = (scores[:, -1].cumsum(1) < draw).sum(1)
    tokens = np.concatenate([tokens, below[:, None]], 1)
"""


def test_a_call_in_a_line_may_choose_by_any_means() -> None:
    """Where its input is known to grow: by sums, without a function that is named for it; other lines are none."""
    assert list(regrown(DRAWN.splitlines())) == []
    assert [grown_at(DRAWN.splitlines(), line) for line in (1, 2, 3, 9)] == [None, "tokens", None, None]
    assert grown_at("for n in range(9):\n    model(zeros(n))".splitlines(), 2) is None
