"""Whether findings are as often right as they say."""

from __future__ import annotations

from msgspec.structs import replace

from dlprof.analysis.findings.confidence import PRIORS
from dlprof.schema.vocabulary import Ground
from dlprof.trials.outside import reliability
from dlprof.trials.outside.reliability import Bin, OfGround
from tests.unit.trials.outside.cases import answer, problem, said


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


def test_a_kind_of_evidence_is_taken_for_as_sure_as_it_was_right() -> None:
    """Three places, of which two were right, said with half, three quarters and all of what a place is taken for."""
    taken = PRIORS[Ground.PLACE]
    judged = [(replace(said("io-bound"), confidence=share * taken, ground=Ground.PLACE), right) for share, right in
              ((0.5, False), (0.75, True), (1.0, True))]  # fmt: skip

    found = {one.ground: one for one in reliability.fitted(judged)}

    assert found[Ground.PLACE] == OfGround(Ground.PLACE, 3, 2, 2.25, 0.71, taken)
    assert found[Ground.MODEL] == OfGround(Ground.MODEL, 0, 0, 0.0, 0.5, PRIORS[Ground.MODEL])


def test_no_kind_of_evidence_is_taken_for_certain() -> None:
    """However often it was right."""
    judged = [(replace(said("io-bound"), confidence=0.5, ground=Ground.STATED), True)] * 100

    assert next(one for one in reliability.fitted(judged) if one.ground is Ground.STATED).prior == 0.97


def test_held_out_problems_fit_nothing() -> None:
    """They are to test what was fitted."""
    held = answer(said("io-bound"), problem=problem(held_out=True))

    assert sum(one.findings for one in reliability.of_grounds([held])) == 0
    assert sum(one.findings for one in reliability.of_grounds([answer(said("io-bound"))])) == 1
