"""A diagnosis on a terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest

from dlprof.analysis.findings.finding import Abstention, Diagnosis, Evidence, Finding, Remedy
from dlprof.analysis.findings.rest import Rest, Stood, Worked
from dlprof.report import diagnosis_text
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Whole
from tests.unit.report.reports import rows
from tests.unit.runs import MS, S

ROW = {"name": "Log", "dur_ns": 5 * MS, "share": 0.123456, "count": 3, "file": None, "again": True}
FINDING = Finding(
    slug="slow-callback",
    claim="The callback Log costs 2.00 s.",
    at_stake_ns=2 * S,
    share=0.2,
    interval_ns=None,
    basis=Basis.MEASURED,
    file="train.py",
    line=7,
    evidence=(Evidence("its calls", "SELECT * FROM spans", (ROW,) * 6),),
    next_step="Call it less often.",
)
REMEDY = Remedy("4 threads")


def printed(
    *findings: Finding,
    whole_ns: int = 10 * S,
    whole: Whole = Whole.WALL,
    evidence: bool = False,
    note: str = "",
    rest: tuple[Rest, ...] = (),
    abstained: tuple[Abstention, ...] = (Abstention("gpu-idle", "no GPU was seen"),),
) -> list[str]:
    """The lines of the text, without empty ones."""
    out = io.StringIO()
    diagnosis = Diagnosis(findings, abstained, whole_ns, whole, rest)
    diagnosis_text.print_diagnosis(diagnosis, "Where r loses time", file=out, evidence=evidence, plain=True, note=note)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


def test_a_finding_has_its_time_its_place_and_the_next_step() -> None:
    """With a bar as long as its share; its slug is small print."""
    assert printed(FINDING)[:6] == [
        "Where r loses time",
        "1. Slow callback  2.00 s, 20 %  slow-callback",
        "   #####",
        "   The callback Log costs 2.00 s.",
        "   at train.py:7",
        "   Call it less often.",
    ]


def test_a_finding_says_how_sure_it_is_and_the_change() -> None:
    """The change is indented below the advice."""
    told = printed(replace(FINDING, confidence=0.8, fix="-a = 1\n+a = 2"))

    assert told[5:8] == ["   Call it less often. (confidence 80 %)", "     -a = 1", "     +a = 2"]


@pytest.mark.parametrize(
    ("of_runs", "told"),
    [(False, "(confidence 80 %; nine in ten like it cost 1.00 s to 3.00 s)"), (True, "(confidence 80 %)")],
)
def test_what_such_causes_cost_is_told_of_one_run(of_runs: bool, told: str) -> None:
    """Of several runs the interval is theirs."""
    finding = replace(FINDING, confidence=0.8, interval_ns=(S, 3 * S), interval_of_runs=of_runs)

    assert printed(finding)[5] == f"   Call it less often. {told}"


def test_a_finding_that_is_not_sure_is_a_question() -> None:
    """It says what would tell."""
    told = printed(replace(FINDING, confidence=0.4))

    assert told[1] == "1. Perhaps: Slow callback  2.00 s, 20 %  slow-callback"
    assert "Only perhaps (40 %); this would tell: --evidence, and a run with the change." in " ".join(told)


def test_a_finding_without_a_line_names_none() -> None:
    """There is no such line."""
    assert not [line for line in printed(replace(FINDING, file=None)) if line.strip().startswith("at ")]


def test_findings_are_numbered_in_their_order() -> None:
    """As they are ranked."""
    lines = printed(FINDING, replace(FINDING, slug="gc-pressure"))

    assert [line.split("  ")[0] for line in lines if line[0].isdigit()] == ["1. Slow callback", "2. Gc pressure"]


def test_a_note_stands_before_the_findings() -> None:
    """Such as the verdict of a comparison."""
    assert printed(FINDING, note="A took 10 s.")[1] == "A took 10 s."


def test_what_is_left_has_its_place_its_line_and_what_was_seen_there() -> None:
    """Also where no cause was found at all."""
    stood = Stood("train.py", 33, 0.87, "backend_compile", "jax/_src/compiler.py", "compiling")
    own = Stood("train.py", 4, 1.0, "load", "train.py", None)

    assert printed(rest=(Rest(Tree.SCRIPT, 5 * S, 0.5, stood), Rest(Tree.DATA, S, 0.1, own)))[1:] == [
        "No cause worth mentioning was found. Most of the time went to:",
        "  script 5.00 s, 50 %: 87 % at train.py:33, in backend_compile (jax/_src/compiler.py), compiling",
        "  data 1.00 s, 10 %: 100 % at train.py:4, in load",
    ]


def test_what_is_left_in_kernels_has_its_layer() -> None:
    """And its operator."""
    worked = Worked("conv_1", "backward", "Conv2D", 0.62)
    rest = Rest(Tree.FIT_STEPS / "kernels" / "conv", 5 * S, 0.5, None, worked)

    assert printed(rest=(rest,))[-1] == "  fit.steps.kernels.conv 5.00 s, 50 %: 62 % conv_1, backward, Conv2D"


def test_a_run_without_findings_says_so() -> None:
    """And explains nothing."""
    assert printed() == ["Where r loses time", "No cause worth mentioning was found."]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"basis": "estimated", "remedy": REMEDY}, "--confirm measures what it saves"),
        ({"remedy": REMEDY, "not_tried": "no file"}, "4 threads could not be tried: no file"),
        (
            {"remedy": REMEDY, "state": "confirmed", "saving_ns": {"predicted": 2 * S, "achieved": S}},
            "tried: 4 threads: predicted 2.00 s, saved 1.00 s",
        ),
    ],
)
def test_what_is_known_of_a_remedy_is_told(changes: dict[str, object], text: str) -> None:
    """Whether it was tried, or could be."""
    assert printed(replace(FINDING, **changes))[6] == f"   {text}"  # type: ignore[arg-type]


def test_a_finding_too_small_to_be_tried_promises_no_trial() -> None:
    """`--confirm` would say that there is nothing to try."""
    text = printed(replace(FINDING, basis=Basis.ESTIMATED, remedy=REMEDY, share=0.03, confidence=0.4))

    assert [line for line in text if "--confirm" in line] == []


def test_a_finding_that_was_tried_has_its_state() -> None:
    """Beside its share."""
    assert printed(replace(FINDING, state="refuted"))[1].startswith(
        "1. Slow callback  2.00 s, 20 %  refuted  slow-callback"
    )


def test_a_finding_that_was_confirmed_in_part_says_so() -> None:
    """`partly` is the word of the JSON."""
    assert (
        printed(replace(FINDING, state="partly"))[1]
        == "1. Slow callback  2.00 s, 20 %  partly confirmed  slow-callback"
    )


@pytest.mark.parametrize("confidence", [0.4, 0.9])
@pytest.mark.parametrize("tried", [{"saving_ns": {"predicted": 2 * S, "achieved": S}}, {"not_tried": "no file"}])
def test_a_remedy_that_was_tried_is_not_to_be_tried(tried: dict[str, Any], confidence: float) -> None:
    """It has just been; another finding that was not still is."""
    finding = replace(FINDING, remedy=REMEDY, confidence=confidence, **tried)

    assert "--confirm" not in " ".join(printed(finding))
    assert printed(finding, replace(FINDING, remedy=REMEDY))[-1].endswith("; try the remedies: --confirm")


def test_an_estimate_says_so() -> None:
    """Before its time."""
    assert printed(replace(FINDING, basis=Basis.ESTIMATED))[1] == "1. Slow callback  about 2.00 s, 20 %  slow-callback"


def test_what_is_not_explained_is_the_rest() -> None:
    """In time and share."""
    assert printed(FINDING)[-2] == "These causes explain 2.00 s, 20 % of 10.0 s; 8.00 s is the rest."


def test_causes_may_explain_more_than_a_gap() -> None:
    """Then other parts are faster."""
    lines = printed(FINDING, whole_ns=S, whole=Whole.GAP)

    assert lines[-2] == (
        "These causes explain 2.00 s; the gap is only 1.00 s, because other parts are faster by 1.00 s."
    )


def test_evidence_is_rows_and_the_query_that_gives_them() -> None:
    """Four rows; times with their unit, and a dash for what is not known."""
    lines = printed(FINDING, evidence=True)
    start = lines.index("   its calls:")

    assert rows(lines[start + 1 : start + 7]) == [
        ["name", "dur_ns", "share", "count", "file", "again"],
        *[["Log", "5.00 ms", "0.1235", "3", "-", "True"]] * 4,
        ['dlprof sql RUN "SELECT * FROM spans"'],
    ]


def test_evidence_without_rows_is_its_query() -> None:
    """No table without columns."""
    empty = replace(FINDING, evidence=(Evidence("its calls", "SELECT 1", ()),))

    assert '   dlprof sql RUN "SELECT 1"' in printed(empty, evidence=True)


def test_rules_that_could_not_tell_are_named_with_the_evidence() -> None:
    """And why."""
    assert printed(FINDING, evidence=True)[-2:] == ["Not judged, for want of data", "  gpu-idle: no GPU was seen"]
    assert "gpu-idle" not in "\n".join(printed(FINDING))


def test_rules_that_could_not_tell_for_one_reason_share_its_line() -> None:
    """Their names stand before it."""
    abstained = tuple(Abstention(slug, "no GPU was seen") for slug in ("gpu-idle", "slow-kernel"))

    assert printed(FINDING, evidence=True, abstained=abstained)[-1] == "  gpu-idle, slow-kernel: no GPU was seen"


def test_an_order_that_is_not_that_of_the_times_is_explained() -> None:
    """Confidence counts, too."""
    text = "The order is that of the time at stake times the confidence."
    unsure = replace(FINDING, at_stake_ns=3 * S, confidence=0.5)

    assert text in printed(FINDING, unsure)
    assert text not in printed(unsure, FINDING)
