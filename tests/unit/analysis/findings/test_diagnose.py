"""All rules at once: the order, the shares, the sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dlprof.analysis.findings import diagnose, registry
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import AtStake, Claim, Query, Sentence
from dlprof.analysis.findings.rule import Rule
from dlprof.analysis.findings.title import Title
from dlprof.errors import UsageError
from dlprof.report import diagnosis_json
from dlprof.report.json_text import plain
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Whole
from tests.unit import runs
from tests.unit.analysis.findings.cases import (
    BEGIN,
    BUSY,
    KERNELS,
    WAITING,
    Planted,
    compared,
    cpu,
    diagnosed,
    in_callbacks,
    longer,
    pick,
    quiet,
    slugs,
    threads,
    waiting_for_input,
)
from tests.unit.runs import MS, S


def test_a_training_without_a_fault_has_no_finding(tmp_path: Path) -> None:
    """Kernels fill its steps."""
    assert slugs(diagnosed(tmp_path / "r", **quiet())) == []


def test_equal_runs_have_no_cause(tmp_path: Path) -> None:
    """No story where there is no gap."""
    assert Planted(quiet(), against=Planted(quiet())).diagnosis(tmp_path).findings == ()


def test_the_faster_run_has_no_cause_either(tmp_path: Path) -> None:
    """Asked the wrong way round."""
    assert Planted(quiet(), against=longer(6)).diagnosis(tmp_path).findings == ()


def test_no_time_is_counted_twice(tmp_path: Path) -> None:
    """All at once: a debug switch, 64-bit floats, one thread, a slow callback."""
    facts = {
        "floatx": "float64",
        "weights": {"count": 10, "dtype": "float64"},
        "flags": {"torch.autograd.set_detect_anomaly": True},
    }
    tables = {"spans": threads(1, **facts), **runs.window(KERNELS)}
    diagnosis = diagnosed(tmp_path / "r", **tables, **cpu((2.5, BEGIN), (7.5, BUSY)))

    assert len(diagnosis.findings) >= 3
    assert diagnosis.explained_ns <= 6 * S


def test_findings_are_ranked_by_what_they_may_be_expected_to_save(tmp_path: Path) -> None:
    """The most costly first."""
    facts = {"flags": {"torch.autograd.set_detect_anomaly": True}}
    diagnosis = diagnosed(tmp_path / "r", spans=[runs.fit_span(training=facts)], **runs.window(KERNELS))

    times = [finding.expected_ns for finding in diagnosis.findings]
    assert len(times) >= 2
    assert times == sorted(times, reverse=True)


def test_rules_without_their_signal_say_which(tmp_path: Path) -> None:
    """A run without stacks, windows and samples of the machine."""
    told = {rule.slug: rule.because for rule in diagnosed(tmp_path / "r").abstained}

    assert told["gpu-idle"] == "no kernel ran on a GPU"
    assert told["slow-kernel"] == "it takes a second run to say that a kernel is slow: dlprof diagnose A B"
    assert told["cpu-contention"] == "the scheduling of threads was sampled less than twice during the training"
    assert told["layout-transpose"] == "no kernel of the steps was traced"


def with_rule(monkeypatch: pytest.MonkeyPatch, slug: str, look: Callable[[Case], Iterable[Claim]]) -> None:
    """Have dlprof ask another rule in place of one of its own."""
    rules = {**registry.all_rules(), slug: Rule(slug, look)}
    monkeypatch.setattr(registry, "all_rules", lambda: rules)


def claim_of(sentence: Sentence, ns: int) -> Claim:
    """A claim on the callbacks."""
    return Claim(sentence, {Tree.FIT_CALLBACKS: ns}, [], "Stop.")


def test_a_rule_with_a_bug_does_not_cost_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It abstains, and says so."""

    def broken(_case: Case) -> Iterator[Claim]:
        raise ZeroDivisionError("oops")

    with_rule(monkeypatch, "input-bound", broken)
    diagnosis = diagnosed(tmp_path / "r", **runs.window(KERNELS))

    assert slugs(diagnosis) == ["slow-callback"]
    assert "a bug in its rule: ZeroDivisionError: oops" in [rule.because for rule in diagnosis.abstained]


def test_a_claim_that_cannot_be_told_does_not_cost_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it keep the time of the claims before it."""

    class Untold(Sentence):
        def tell(self, at_stake: AtStake) -> str:
            raise KeyError("v2")

    def broken(_case: Case) -> Iterator[Claim]:
        yield claim_of(Sentence("All callbacks:"), S)
        yield claim_of(Untold(""), S)

    with_rule(monkeypatch, "input-bound", broken)
    diagnosis = diagnosed(tmp_path / "r", **runs.window(KERNELS))

    assert [(finding.slug, finding.at_stake_ns) for finding in diagnosis.findings] == [("slow-callback", S)]
    assert "a bug in its rule: KeyError: 'v2'" in [rule.because for rule in diagnosis.abstained]


def test_time_that_a_rule_has_taken_is_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first takes 0.7 s of the callbacks' second, and the rule of callbacks has the rest."""
    with_rule(monkeypatch, "input-bound", lambda _case: [claim_of(Sentence("Most callbacks:"), 700 * MS)])
    diagnosis = diagnosed(tmp_path / "r", **runs.window(KERNELS))

    assert [(finding.slug, finding.at_stake_ns) for finding in diagnosis.findings] == [
        ("input-bound", 700 * MS),
        ("slow-callback", 300 * MS),
    ]


def test_what_is_a_share_of_the_rest_gets_that_share_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first takes 0.6 s of the callbacks' second; of the 0.4 s left half would be saved, as of all."""
    with_rule(monkeypatch, "input-bound", lambda _case: [claim_of(Sentence("Most callbacks:"), 600 * MS)])
    half = replace(claim_of(Sentence("Half of callbacks:"), 500 * MS), of_rest=True)
    with_rule(monkeypatch, "slow-callback", lambda _case: [half])
    diagnosis = diagnosed(tmp_path / "r", **runs.window(KERNELS))

    assert pick(diagnosis, "slow-callback").at_stake_ns == 200 * MS


def test_a_query_that_fails_is_told_instead_of_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding stands without."""
    claim = replace(claim_of(Sentence("All callbacks:"), S), evidence=[Query("nothing", "SELECT x FROM nowhere")])
    with_rule(monkeypatch, "input-bound", lambda _case: [claim])

    (evidence,) = pick(diagnosed(tmp_path / "r"), "input-bound").evidence

    assert evidence.what.startswith("nothing (the query failed: ")
    assert (evidence.sql, evidence.rows) == ("SELECT x FROM nowhere", ())


def test_a_run_without_phases_cannot_be_diagnosed(tmp_path: Path) -> None:
    """With what to do instead."""
    run = runs.make(tmp_path / "r")

    with pytest.raises(UsageError) as error:
        diagnose.diagnose(run)

    assert error.value.message == "r cannot be diagnosed: the run has no phases."
    assert error.value.hint == f"dlprof report {run.typed}"


def test_evidence_is_rows_and_the_query_that_gives_them(tmp_path: Path) -> None:
    """A user can ask for them again."""
    saves = [runs.span("save", 7 + n * 0.3, 7.3 + n * 0.3, name="save") for n in range(3)]
    finding = pick(diagnosed(tmp_path / "r", spans=[runs.fit_span(), *saves]), "checkpoint-heavy")

    (evidence,) = finding.evidence
    assert evidence.sql.startswith("SELECT kind, name, file, line, count(*) AS count")
    assert evidence.rows[0]["count"] == 3
    assert evidence.rows[0]["total_ns"] == 900 * MS


def test_json_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    """Ranked findings, and who abstained."""
    content = plain(diagnosis_json.as_json(diagnosed(tmp_path / "r", **runs.window(KERNELS)), ["r"], None))

    assert content["schema"] == "dlprof.diagnose/1"
    finding = content["findings"][0]
    assert {"slug", "claim", "at_stake_ns", "file", "line", "evidence", "next_step", "state", "saving_ns"} <= set(
        finding
    )
    assert (finding["slug"], finding["state"], finding["saving_ns"]) == ("slow-callback", "untested", None)
    assert {"slug", "because"} == set(content["abstained"][0])


def test_a_brief_diagnosis_has_the_same_findings_without_their_rows(tmp_path: Path) -> None:
    """For those who wait for an answer."""
    run = runs.trained(tmp_path / "r", **runs.window(KERNELS))
    whole, brief = diagnose.diagnose(run), diagnose.brief(run)

    assert brief is not None
    assert whole.findings[0].evidence
    assert [replace(finding, evidence=()) for finding in whole.findings] == list(brief.findings)


def test_a_brief_diagnosis_leaves_rules_out_when_its_time_is_over(tmp_path: Path) -> None:
    """And says which."""
    brief = diagnose.brief(runs.trained(tmp_path / "r"), within_s=-1)

    assert brief is not None
    assert brief.findings == ()
    assert {rule.because for rule in brief.abstained} == {diagnose.NO_TIME}
    assert len(brief.abstained) == len(registry.all_rules())


def test_there_is_no_brief_diagnosis_of_a_run_without_phases(tmp_path: Path) -> None:
    """Nothing can be said of it."""
    assert diagnose.brief(runs.make(tmp_path / "r", runs.manifest())) is None


def test_a_finding_has_the_title_of_its_rule_or_of_its_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is called for people; else the words of its slug."""
    claim = claim_of(Sentence("All callbacks:"), S)
    titles: list[str] = []
    for given in (claim, replace(claim, title=Title("They are slow"))):
        with_rule(monkeypatch, "input-bound", lambda _case, given=given: [given])  # type: ignore[misc]
        titles.append(pick(diagnosed(tmp_path / str(len(titles))), "input-bound").heading)

    assert titles == ["Input bound", "They are slow"]


def test_parts_that_differ_beyond_noise_are_explained_where_the_whole_does_not_differ(tmp_path: Path) -> None:
    """A waits 2 s for its input, B takes as much longer elsewhere: the wall times are alike."""
    slow = Planted(waiting_for_input())
    found = compared(slow, Planted(quiet()), tmp_path)
    assert (found.noise, found.gap_ns) == (True, 0)

    diagnosis = diagnose.diagnose_gap(found)

    assert diagnosis.whole is Whole.LONGER
    assert [(finding.slug, finding.at_stake_ns) for finding in diagnosis.findings] == [("input-bound", 2 * S)]
    assert "100 % of what takes longer" in diagnosis.findings[0].claim


def test_time_that_the_machine_takes_is_no_other_cause(tmp_path: Path) -> None:
    """A third of the callbacks was spent without a core: it is as likely as before that they hold the training up."""
    waited = cpu((2.5, BEGIN), (7.5, WAITING), others=100.0)
    calm = pick(diagnosed(tmp_path / "a", **in_callbacks(("log", "train.py", 33))), "slow-callback")
    busy = diagnosed(tmp_path / "b", **{**in_callbacks(("log", "train.py", 33)), **waited})
    found = pick(busy, "slow-callback")

    assert pick(busy, "cpu-contention").at_stake_ns > 0
    assert found.at_stake_ns < calm.at_stake_ns
    assert found.confidence == pytest.approx(0.9 * calm.confidence, abs=0.01)
