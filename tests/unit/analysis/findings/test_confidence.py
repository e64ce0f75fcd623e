"""How sure findings are."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlprof.analysis.findings
from dlprof.analysis.findings import confidence
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Ground
from tests.unit import runs
from tests.unit.analysis.findings.cases import BEGIN, BUSY, Planted, compared, cpu, parts, quiet
from tests.unit.runs import S

STATED = Support(Ground.STATED)
shares = st.floats(0, 1)
SUPPORTS = st.builds(
    Support,
    st.sampled_from(Ground),
    seen=st.floats(0, 1e6),
    agree=shares,
    covered=shares,
    spread=shares,
    part=st.floats(0.001, 1),
)


def claim(support: Support | None = None) -> Claim:
    """One of 1 s of the steps, of a run of 10 s."""
    return Claim(Sentence("It takes"), {Tree.FIT_STEPS: S}, (), "Stop.", support=support)


def sure(path: Path, support: Support | None, granted_ns: int = S, **tables: object) -> float:
    """How sure such a claim is of a quiet run."""
    return confidence.of_claim(Case(runs.trained(path / "r", **quiet(**tables))), claim(support), granted_ns)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A quiet run."""
    return Case(runs.trained(tmp_path_factory.mktemp("quiet") / "r", **quiet()))


def test_what_the_engine_states_or_is_repeated_is_surer_than_a_place_than_a_model(tmp_path: Path) -> None:
    """All the rest speaks for them; a place takes four times what is usual."""
    of = {ground: sure(tmp_path / ground, Support(ground, part=0.2)) for ground in Ground}

    assert min(of[Ground.STATED], of[Ground.REPEATED]) > of[Ground.COMPARED] > of[Ground.PLACE] > of[Ground.MODEL]


def test_that_time_passed_somewhere_is_half_an_answer_at_best_where_little_did(tmp_path: Path) -> None:
    """It takes a tenth of the run: twice what is usual; the same where nothing is said of it."""
    usual = confidence.PRIORS[Ground.PLACE] / 2

    assert sure(tmp_path, Support(Ground.PLACE, part=0.05)) == pytest.approx(usual, abs=0.006)
    assert sure(tmp_path / "b", Support(Ground.PLACE)) == pytest.approx(2 * usual * 2 / 3, abs=0.006)
    assert sure(tmp_path / "c", None) == sure(tmp_path / "d", Support(Ground.PLACE))


def test_a_place_where_the_other_run_spends_less_was_compared(tmp_path: Path) -> None:
    """How much it takes does not matter then."""
    more = {"phases": parts(fit_steps=7, teardown=2)}
    slow = Planted(quiet(**more))
    pair = compared(slow, Planted(quiet()), tmp_path)

    found = Case(pair.a.runs[0], pair)

    assert confidence.ground_of(found, claim(Support(Ground.PLACE, part=0.01))) is Ground.COMPARED
    assert confidence.of_claim(found, claim(), S) == confidence.PRIORS[Ground.COMPARED]


def test_few_observations_and_those_that_disagree_make_it_less_sure(case: Case) -> None:
    """One observation is worth half; where nothing agrees, or nothing was looked at, half is left."""
    assert confidence.strength(STATED) == 1
    assert confidence.strength(replace(STATED, seen=1)) == 0.5
    assert confidence.strength(replace(STATED, seen=3)) == 0.75
    assert confidence.strength(replace(STATED, agree=0.5)) == 0.75
    assert confidence.strength(replace(STATED, covered=0.0)) == 0.5
    assert confidence.of_claim(case, claim(replace(STATED, seen=0)), S) == 0


def test_observations_that_lie_far_apart_make_it_less_sure() -> None:
    """A quarter less where they lie as far apart as they are large, or farther."""
    assert confidence.strength(replace(STATED, spread=0.5)) == 0.875
    assert confidence.strength(replace(STATED, spread=1.0)) == confidence.strength(replace(STATED, spread=9.0)) == 0.75


@given(SUPPORTS, SUPPORTS)
def test_more_that_speaks_for_it_never_makes_it_less_sure(case: Case, one: Support, other: Support) -> None:
    """Of two supports with one ground the one that is better in all."""
    best = Support(
        one.ground,
        max(one.seen or 0, other.seen or 0),
        max(one.agree, other.agree),
        max(one.covered, other.covered),
        min(one.spread or 0, other.spread or 0),
        max(one.part or 0, other.part or 0),
    )

    low = confidence.of_claim(case, claim(one), S)

    assert 0 <= low <= confidence.of_claim(case, claim(best), S) <= 1


def test_seconds_that_another_cause_took_make_it_less_sure(tmp_path: Path) -> None:
    """Half of what it wanted was taken: a fifth less."""
    assert sure(tmp_path, STATED, S // 2) == pytest.approx(0.8 * sure(tmp_path / "b", STATED), abs=0.006)


def test_other_programs_on_the_machine_make_it_less_sure(tmp_path: Path) -> None:
    """They used half a core while it trained: a tenth less."""
    disturbed = sure(tmp_path, STATED, **cpu((2.5, BEGIN), (7.5, BUSY), others=50.0))

    assert disturbed == pytest.approx(0.9 * sure(tmp_path / "b", STATED), abs=0.006)


def test_each_rule_says_what_speaks_for_its_claims() -> None:
    """Not one of those that come with dlprof leaves that to chance."""
    home = Path(dlprof.analysis.findings.__file__).parent
    silent = [
        f"{path.name}:{call.lineno}"
        for path in home.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Claim"
        if not any(word.arg == "support" for word in call.keywords)
    ]

    assert silent == []
