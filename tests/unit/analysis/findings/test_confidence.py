"""How sure findings are."""

from __future__ import annotations

from pathlib import Path

from dlprof.analysis.findings import confidence
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.schema.vocabulary import Basis, Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, BUSY, cpu, quiet
from tests.unit.runs import S


def claim(basis: Basis = Basis.MEASURED, support: Support | None = None) -> Claim:
    """One of 1 s of the steps."""
    return Claim(Sentence("It takes"), {Tree.FIT_STEPS: S}, (), "Stop.", basis=basis, support=support)


def sure(path: Path, one: Claim, granted_ns: int = S, **tables: object) -> float:
    """How sure it is of a quiet run."""
    return confidence.of_claim(Case(runs.trained(path / "r", **quiet(**tables))), one, granted_ns)


def test_a_measured_time_is_surer_than_an_estimate(tmp_path: Path) -> None:
    """With nothing else known."""
    assert sure(tmp_path, claim()) == 0.97
    assert sure(tmp_path / "b", claim(Basis.ESTIMATED)) == 0.85


def test_few_observations_and_those_that_disagree_make_it_less_sure(tmp_path: Path) -> None:
    """One observation is worth half; where nothing agrees, half is left."""
    assert sure(tmp_path, claim(support=Support(seen=1))) == 0.48
    assert sure(tmp_path / "b", claim(support=Support(agree=0.5))) == 0.73


def test_seconds_that_another_cause_took_make_it_less_sure(tmp_path: Path) -> None:
    """Half of what it wanted was taken."""
    assert sure(tmp_path, claim(), S // 2) == 0.78


def test_other_programs_on_the_machine_make_it_less_sure(tmp_path: Path) -> None:
    """They used half a core while it trained."""
    assert sure(tmp_path, claim(), **cpu((2.5, BEGIN), (7.5, BUSY), others=50.0)) == 0.87
