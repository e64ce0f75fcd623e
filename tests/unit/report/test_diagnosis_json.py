"""A diagnosis as JSON."""

from __future__ import annotations

from dataclasses import replace

from dlprof.analysis.findings.finding import Abstention, Diagnosis, Evidence, Finding, Remedy
from dlprof.analysis.parity import Parity
from dlprof.report import diagnosis_json
from dlprof.report.json_text import plain
from dlprof.schema.vocabulary import Basis
from tests.unit.runs import S

FINDING = Finding(
    "slow-callback", "It is slow.", 2 * S, 0.2, (S, 3 * S), Basis.MEASURED, "train.py", 7,
    (Evidence("calls", "SELECT 1", ({"a": 1},)),), "Call it less often.", confidence=0.8,
)  # fmt: skip


def test_json_has_the_fields_of_the_contract_in_their_order() -> None:
    """`dlprof.diagnose/1`, see docs/json.md."""
    diagnosis = Diagnosis((FINDING,), (Abstention("gpu-idle", "no GPU"),), 10 * S)

    content = plain(diagnosis_json.as_json(diagnosis, ["r"], None))

    assert list(content) == [
        "schema",
        "runs",
        "comparable",
        "why_not",
        "whole_ns",
        "explained_ns",
        "findings",
        "abstained",
        "whole",
        "rest",
        "lines",
        "doubts",
    ]
    assert content["findings"] == [
        {
            "slug": "slow-callback", "claim": "It is slow.", "at_stake_ns": 2 * S, "share": 0.2,
            "interval_ns": [S, 3 * S], "basis": "measured", "file": "train.py", "line": 7,
            "evidence": [{"what": "calls", "sql": "SELECT 1", "rows": [{"a": 1}]}],
            "next_step": "Call it less often.", "state": "untested", "remedy": None, "not_tried_because": None,
            "saving_ns": None, "title": "Slow callback", "confidence": 0.8, "fix": None, "ground": "place",
            "shared_ns": 0, "shared_with": None,
        }
    ]  # fmt: skip
    assert list(content["findings"][0])[:3] == ["slug", "claim", "at_stake_ns"]
    assert content["whole"] == "the wall time"
    assert content["abstained"] == [{"slug": "gpu-idle", "because": "no GPU"}]
    assert (content["schema"], content["whole_ns"], content["explained_ns"]) == ("dlprof.diagnose/1", 10 * S, 2 * S)


def test_one_run_is_neither_comparable_nor_not() -> None:
    """Two are one of them."""
    diagnosis = Diagnosis((), (), S)

    assert diagnosis_json.as_json(diagnosis, ["r"], None).comparable is None
    assert diagnosis_json.as_json(diagnosis, ["a", "b"], Parity((), (), ())).comparable is True
    assert diagnosis_json.as_json(diagnosis, ["a", "b"], Parity(("no",), (), ())).why_not == ("no",)


def test_a_remedy_is_told_by_its_title_and_by_what_it_saved() -> None:
    """Or why it could not be tried."""
    tried = replace(FINDING, remedy=Remedy("4 threads"), saving_ns={"predicted": 2 * S, "achieved": S})
    diagnosis = Diagnosis((tried, replace(FINDING, not_tried="no file")), (), 10 * S)

    first, second = diagnosis_json.as_json(diagnosis, ["r"], None).findings

    assert (first.remedy, first.saving_ns) == ("4 threads", {"predicted": 2 * S, "achieved": S})
    assert (second.remedy, second.not_tried_because) == (None, "no file")
