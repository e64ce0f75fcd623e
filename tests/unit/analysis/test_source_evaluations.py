"""Evaluations in the source of a file."""

from __future__ import annotations

import pytest

from dlprof.analysis.source_evaluations import of_file

VALIDATE = """def validate():
    net.eval()
    outputs = [net(part) for part in parts]
    net.train()
    return outputs"""
IN_LOOP = """for epoch in range(3):
    step()
    net.eval()
    print(net(x))
loss.backward()"""
FROZEN = """net.eval()
for x in data:
    loss(net(x)).backward()"""
TEACHER = """def train():
    teacher.eval()
    for x in data:
        torch.autograd.grad(loss(teacher(x), net(x)), weights)"""


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (VALIDATE, [(2, 4)]),
        (IN_LOOP, [(3, 4)]),
        (FROZEN, []),
        (TEACHER, []),
        ("x = eval('1')\ny = frame.eval('a + b')", []),
        ("def f(:", []),
    ],
)
def test_an_evaluation_goes_from_eval_to_train_or_to_its_end(source: str, lines: list[tuple[int, int]]) -> None:
    """What computes gradients is none, nor is `eval` of something else; a text that is no Python has none."""
    assert of_file(source.splitlines()) == lines
