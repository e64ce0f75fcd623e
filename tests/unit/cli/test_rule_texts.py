"""What is read from the source of a rule."""

from __future__ import annotations

from pathlib import Path

from dlprof.cli import rule_texts

RULE = """
_ADVICE = {True: "Make the batches before the training.", False: "Read each file once, and keep it."}


def look(case):
    yield Claim("slug", sentence, 5, _ADVICE[case.late])
    yield Claim("slug", sentence, 5, f"Have {case.many} workers make the batches.")
"""


def test_advice_is_every_text_that_can_be_a_next_step(tmp_path: Path) -> None:
    """Names are followed; what only the run knows is left open."""
    (tmp_path / "rule.py").write_text(RULE)

    assert rule_texts.advice(tmp_path / "rule.py") == [
        "Make the batches before the training.",
        "Read each file once, and keep it.",
        "Have … workers make the batches.",
    ]
