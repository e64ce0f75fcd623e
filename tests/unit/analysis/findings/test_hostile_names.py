"""Names of the user's files, functions, layers and modules may hold any sign: no rule may trip over them."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from dlprof.analysis.findings.rules import RULES
from dlprof.report import diagnosis_json, diagnosis_text
from dlprof.report.json_text import plain
from dlprof.schema.vocabulary import PseudoLayer
from tests.unit import runs
from tests.unit.analysis.findings.cases import Planted, Tables, pick

HOSTILE = "{v2}{}{%s\x1b[31m<b>\n'\""
_NAMES = {
    "kernel_ops": ("layer", "op", "name"),
    "gpu_gaps": ("kernel", "blamed"),
    "lines": ("file", "function", "source"),
    "memory_owners": ("layer", "name"),
    "layers": ("layer",),
}
"""Columns that hold names of the user's, or of an engine."""
_NO_NAMES = frozenset(PseudoLayer)
"""What stands there for work of no layer: words of ours."""
_NAMES_IN_DETAIL = frozenset({"function", "argument", "before", "now"})
_NEEDED = ("keras", "torch", "tensorflow")


def hostile(tables: Tables) -> Tables:
    """The tables with such signs in all names that are the user's."""
    named = {"spans": [runs.fit_span()], **tables}
    return {name: [_row(name, row) for row in rows] for name, rows in named.items()}


def _row(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    named = [column for column in _NAMES.get(table, ()) if row.get(column) and row[column] not in _NO_NAMES]
    changed = {**row, **{column: row[column] + HOSTILE for column in named}}
    if row.get("file") == "train.py":
        changed["file"] = "train.py" + HOSTILE
        if "function" in row:
            changed["function"] = row["function"] + HOSTILE
    if table == "spans" and row["kind"] == "import" and row["name"] not in _NEEDED:
        changed["name"] = row["name"] + HOSTILE
    if table == "spans" and row["detail"]:
        changed["detail"] = json.dumps(_detail(json.loads(row["detail"])))
    return changed


def _detail(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _detail(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_detail(inner, key) for inner in value]
    return value + HOSTILE if isinstance(value, str) and key in _NAMES_IN_DETAIL else value


def planted(slug: str) -> Planted:
    """A run in which a rule sees its cause, from the rule's own test."""
    module = import_module(f"tests.unit.analysis.findings.rules.test_{slug.replace('-', '_')}")
    cause = module.planted()
    assert isinstance(cause, Planted)
    return cause


@pytest.mark.slow
@pytest.mark.parametrize("slug", RULES)
def test_a_rule_finds_its_cause_whatever_the_names_are(slug: str, tmp_path: Path) -> None:
    """With the same time, and a sentence that has it."""
    plain = pick(planted(slug).diagnosis(tmp_path / "plain"), slug)
    diagnosis = planted(slug).changed(hostile).diagnosis(tmp_path / "hostile")
    finding = pick(diagnosis, slug)

    assert [rule.because for rule in diagnosis.abstained if "a bug in its rule" in rule.because] == []
    assert finding.at_stake_ns == plain.at_stake_ns
    assert finding.claim.replace(HOSTILE, "") == plain.claim
    _printed_safely(diagnosis)


def _printed_safely(diagnosis: Any) -> None:
    out = io.StringIO()
    diagnosis_text.print_diagnosis(diagnosis, "all", file=out, evidence=True, plain=True)

    assert "\x1b" not in out.getvalue()
    assert plain(diagnosis_json.as_json(diagnosis, ["r"], None))["findings"]


@pytest.mark.parametrize(
    "name", ["slow-callback", "import-heavy", "layout-transpose", "slow-kernel", "retracing", "gpu-idle"]
)
def test_a_name_is_told_as_it_is(name: str, tmp_path: Path) -> None:
    """Of the rules that name something of the user's."""
    finding = pick(planted(name).changed(hostile).diagnosis(tmp_path), name)

    assert HOSTILE in finding.claim
