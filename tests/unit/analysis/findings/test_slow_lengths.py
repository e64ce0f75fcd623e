"""Fourier transforms of a length that has a large prime factor."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim
from dlprof.analysis.findings.slow_lengths import claims
from dlprof.schema.vocabulary import Ground
from tests.unit import runs
from tests.unit.analysis.findings.cases import keep_source, on, quiet
from tests.unit.runs import S


def told(path: Path, text: str, ms: float = 8, op: str = "aten::_fft_r2c") -> list[Claim]:
    """The claims of 6 s of steps of 20 ms, of which transforms take so many, where the script is that."""
    transform = {"op": op, "category": "other", "layer": "long", "direction": "forward", "ms": ms}
    rest = {"op": "aten::mm", "category": "matmul", "layer": "fc", "direction": "forward", "ms": 16 - ms}
    run = runs.trained(path, on("torch"), **quiet(**runs.window([transform, rest])))
    keep_source(run, text)
    return list(claims(Case(run)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("y = torch.fft.rfft(u, n=8191)\n", "is 8191, a prime"),
        ("N = 4096\ny = jnp.fft.rfft(u, 2 * N - 1)\n", "is 8191, a prime"),
        ("y = tf.signal.rfft(u, [7999])\n", "is 7999, which has the prime factor 421"),
        ("y = tf.signal.rfft(u, fft_length=[7999])\n", "is 7999, which has the prime factor 421"),
    ],
)
def test_a_length_with_a_large_prime_factor_is_named(tmp_path: Path, text: str, said: str) -> None:
    """8 of 20 ms of each step are transforms; 80 % of that is at stake."""
    (claim,) = told(tmp_path / "r", text)

    assert said in claim.sentence.before
    assert claim.line == ("train.py", text.count("\n"))
    assert sum(claim.takes.values()) == pytest.approx(0.8 * 6 * S * 8 / 20, rel=0.02)
    assert claim.support is not None
    assert claim.support.ground is Ground.PLACE


def test_one_less_than_two_lengths_together_is_asked_about(tmp_path: Path) -> None:
    """What a whole convolution has: the lengths themselves are not known."""
    (claim,) = told(tmp_path / "r", "n = u.shape[-1] + k.shape[-1] - 1\ny = torch.fft.rfft(u, n=n)\n")

    assert "is `u.shape[-1] + k.shape[-1] - 1`, which is odd" in claim.sentence.before
    assert claim.line == ("train.py", 2)
    assert claim.support is not None
    assert claim.support.ground is Ground.MODEL


@pytest.mark.parametrize(
    "text",
    [
        "y = torch.fft.rfft(u, n=8192)\n",
        "y = torch.fft.rfft(u, n=1 << (a + b - 2).bit_length())\n",
        "y = torch.fft.rfft(u, n=next_fast_len(a + b - 1))\n",
        "y = torch.fft.rfft(u)\n",
        "y = torch.fft.fft2(u, (127, 127))\n",
        "n = 8191\nn = 8192\ny = torch.fft.rfft(u, n=n)\n",
        "y = torch.fft.rfft(u, n=8191\n",
    ],
)
def test_fast_lengths_and_those_that_nobody_knows_are_none(tmp_path: Path, text: str) -> None:
    """A power of two, two that are made fast, that of the data, those of two axes, two numbers, and no Python."""
    assert told(tmp_path / "r", text) == []


def test_short_transforms_and_other_operators_are_none(tmp_path: Path) -> None:
    """A twentieth of the steps; and what only moves halves of what was transformed."""
    assert told(tmp_path / "a", "y = torch.fft.rfft(u, n=8191)\n", ms=1) == []
    assert told(tmp_path / "b", "y = torch.fft.rfft(u, n=8191)\n", op="aten::fft_fftshift") == []
