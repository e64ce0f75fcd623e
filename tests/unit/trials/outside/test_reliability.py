"""Whether findings are as often right as they say."""

from __future__ import annotations

from msgspec.structs import replace

from dlprof.trials.outside import reliability
from dlprof.trials.outside.reliability import Bin
from tests.unit.trials.outside.cases import answer, said


def test_findings_are_counted_by_how_sure_they_were() -> None:
    """An edge belongs to the range above it, 1 to the last one; an empty range has no share."""
    judged = [(replace(said("io-bound"), confidence=sure), right) for sure, right in
              ((0.85, True), (1.0, True), (0.97, False), (0.5, True), (0.69, False))]  # fmt: skip

    assert reliability.of_judged(judged) == (
        Bin(0.0, 0.5, 0, None, None),
        Bin(0.5, 0.7, 2, 0.595, 0.5),
        Bin(0.7, 0.85, 0, None, None),
        Bin(0.85, 1.0, 3, 0.94, 0.667),
    )


def test_runs_that_failed_are_not_judged() -> None:
    """They have no findings that count."""
    assert (
        sum(one.findings for one in reliability.of_answers([answer(said("io-bound"), failed="it ended with 1")])) == 0
    )
