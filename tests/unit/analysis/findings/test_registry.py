"""Rules of dlprof and of plug-ins, in their order; all of them documented and tested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dlprof import plugins
from dlprof.analysis.findings import diagnose, registry
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence
from dlprof.analysis.findings.rules import RULES
from dlprof.schema.tree_paths import Tree
from tests.unit import runs
from tests.unit.analysis.findings.cases import KERNELS, Entry, pick, slugs

ROOT = Path(__file__).parents[4]


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Entry]]:
    """The installed plug-ins: a list to fill."""
    installed: list[Entry] = []
    monkeypatch.setattr(plugins, "entry_points", lambda group: installed if group == "dlprof.rules" else [])
    registry.plugged_in.cache_clear()
    yield installed
    registry.plugged_in.cache_clear()


def callbacks(case: Case) -> Iterator[Claim]:
    """Claims all callbacks."""
    yield Claim(Sentence("Callbacks of a plug-in:"), case.takes(Tree.FIT_CALLBACKS), [], "Stop.")


def test_the_documentation_lists_every_finding_in_the_order_of_the_rules() -> None:
    """Their names are a promise: scripts and dashboards know them."""
    section = (ROOT / "docs" / "comparing.md").read_text(encoding="utf-8").split("\n## Findings\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+`) \|", section, re.MULTILINE)

    assert [slug for cell in cells for slug in re.findall(r"`([^`]+)`", cell)] == list(RULES)


def test_every_rule_is_a_file_of_its_name() -> None:
    """And no file is left out."""
    files = {path.stem for path in (ROOT / "dlprof" / "analysis" / "findings" / "rules").glob("*.py")}

    assert files - {"__init__"} == {slug.replace("-", "_") for slug in RULES}


def test_every_rule_has_a_test_of_its_name() -> None:
    """That plants its cause."""
    tests = {path.stem for path in (Path(__file__).parent / "rules").glob("test_*.py")}

    assert tests == {f"test_{slug.replace('-', '_')}" for slug in RULES}


def test_a_rule_of_a_plug_in_is_asked_last(entries: list[Entry], tmp_path: Path) -> None:
    """What is left for it is nothing here."""
    entries.append(Entry("mine", SimpleNamespace(look=callbacks)))

    assert list(registry.all_rules()) == [*RULES, "mine"]
    assert slugs(diagnose.diagnose(runs.trained(tmp_path / "r", **runs.window(KERNELS)))) == ["slow-callback"]


def test_a_rule_of_a_plug_in_may_come_before_others(entries: list[Entry], tmp_path: Path) -> None:
    """By the rule that it comes after."""
    entries.append(Entry("mine", SimpleNamespace(look=callbacks, AFTER="input-bound")))
    diagnosis = diagnose.diagnose(runs.trained(tmp_path / "r", **runs.window(KERNELS)))

    assert pick(diagnosis, "mine").claim == "Callbacks of a plug-in: 1.00 s, 10 % of the wall time."
    assert slugs(diagnosis) == ["mine"]


@pytest.mark.parametrize(
    ("given", "heading"), [({}, "Mine"), ({"TITLE": "It was slow"}, "It was slow"), ({"TITLE": 3}, "Mine")]
)
def test_a_rule_of_a_plug_in_may_have_a_title(
    entries: list[Entry], tmp_path: Path, given: dict[str, object], heading: str
) -> None:
    """A text; without one it is called by its name."""
    entries.append(Entry("mine", SimpleNamespace(look=callbacks, AFTER="input-bound", **given)))
    diagnosis = diagnose.diagnose(runs.trained(tmp_path / "r", **runs.window(KERNELS)))

    assert pick(diagnosis, "mine").heading == heading


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mine", ImportError("no such module"), "mine cannot be loaded: no such module"),
        ("mine", SimpleNamespace(), "mine has no function look"),
        ("slow-callback", SimpleNamespace(look=callbacks), "slow-callback has the name of another rule"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_passed_over_with_a_warning(
    name: str, value: object, said: str, entries: list[Entry], capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, however often the rules are asked for."""
    entries.append(Entry(name, value))

    rules = [list(registry.all_rules()) for _ in range(2)]

    assert rules == [list(RULES), list(RULES)]
    assert capsys.readouterr().err == f"dlprof: warning: rule plug-in {said}\n"


def test_a_place_that_is_none_is_the_last_one(entries: list[Entry], capsys: pytest.CaptureFixture[str]) -> None:
    """With a warning: the rule is asked all the same."""
    entries.append(Entry("mine", SimpleNamespace(look=callbacks, AFTER="yours")))

    assert list(registry.all_rules())[-1] == "mine"
    assert "mine wants to come after yours, which is no rule of dlprof; it comes last" in capsys.readouterr().err
