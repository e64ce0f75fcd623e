"""The answer of the gate as CI systems take it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from dlprof.analysis.gate import Component
from dlprof.report import gate_formats
from dlprof.report.gate_report import Cause, Outcome, Refusal
from tests.unit.runs import S

WALL = Component("wall", 10 * S, 11 * S, None, False, False)
FIT = Component("fit/steps", 4 * S, 5 * S, (S // 2, 2 * S), False, True)
NOISE = Component("save", S, S + 1, None, True, False)
CAUSE = Cause("Files, 50 %", "It writes: 100 %\nof the gap.", "Write <less>.", S, "a/train,1.py", 7)
FAILED = Outcome([FIT, WALL, NOISE], 0.05, ("1", "2"), ("3",), [CAUSE])
PASSED = replace(FAILED, parts=[WALL, NOISE], causes=())


def test_junit_has_a_case_for_each_part_with_its_time_in_seconds() -> None:
    """One that regressed fails, with figures, the cause and its line."""
    root = ET.fromstring(gate_formats.as_junit(FAILED))  # noqa: S314  (our own)

    (suite,) = root
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "1, 2 to 3")
    for one in (root, suite):
        assert [one.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "1", "0", "0"]
    assert [(one.get("classname"), one.get("name"), one.get("time"), len(one)) for one in suite.iter("testcase")] == [
        ("dlprof.gate", "fit/steps", "5.000000", 1),
        ("dlprof.gate", "wall", "11.000000", 0),
        ("dlprof.gate", "save", "1.000000", 0),
    ]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"type": "regression", "message": "fit/steps +25.0 %, limit 5 %"}
    assert failure.text == (
        "fit/steps: 4.00 s to 5.00 s, 95 % 500 ms to 2.00 s\n"
        "Files, 50 % (1.00 s) at a/train,1.py:7: It writes: 100 %\nof the gap. Write <less>."
    )
    assert (suite.findtext("system-out") or "").startswith("dlprof gate: FAILED, limit 5 %: fit/steps +25.0 %;")


def test_junit_holds_nothing_that_xml_cannot() -> None:
    """Also of names that are out to do harm."""
    hostile = replace(CAUSE, title="\x00\x1b]]>\ud800\uffff<b>", file="&quot;")

    root = ET.fromstring(gate_formats.as_junit(replace(FAILED, causes=[hostile])))  # noqa: S314

    assert "��]]>��<b> (1.00 s) at &quot;:7" in (root.findtext("testsuite/system-out") or "")


def test_a_comment_has_the_answer_a_table_and_the_causes() -> None:
    """What comes from outside is neither Markdown nor HTML."""
    assert gate_formats.as_markdown(FAILED).splitlines() == [
        "### ❌ dlprof gate: FAILED, limit 5 %: fit/steps \\+25\\.0 %; wall 10\\.0 s to 11\\.0 s \\(1 run a side\\)",
        "",
        "| part | before | now | change | |",
        "| --- | ---: | ---: | ---: | --- |",
        "| fit/steps | 4.00 s | 5.00 s | +25.0 % | **regressed** |",
        "| wall | 10.0 s | 11.0 s | +10.0 % | within the limit |",
        "| save | 1.00 s | 1.00 s | +0.0 % | within noise |",
        "",
        "**Why**",
        "",
        "1. **Files, 50 %** (1.00 s) at a/train,1\\.py:7: It writes: 100 %\ufffdof the gap\\. Write &lt;less&gt;\\.",
    ]


def test_a_comment_leaves_out_what_is_small_and_says_how_much() -> None:
    """Comments are short."""
    text = gate_formats.as_markdown(replace(PASSED, parts=[WALL] * 20))

    assert text.startswith("### ✅ dlprof gate: ok, nothing grew by more than 5 % beyond noise; wall ")
    assert text.count("| wall |") == 12
    assert text.endswith("\n8 more parts did not regress.\n")


def test_github_is_told_errors_with_file_and_line() -> None:
    """Percent signs, line breaks, commas and colons do not end a command."""
    assert list(gate_formats.as_github(FAILED)) == [
        "dlprof gate: FAILED, limit 5 %: fit/steps +25.0 %; wall 10.0 s to 11.0 s (1 run a side)",
        (
            "::error title=dlprof gate%3A Files%2C 50 %25,file=a/train%2C1.py,line=7"
            "::It writes: 100 %25%0Aof the gap. Write <less>."
        ),
        "::error title=dlprof gate%3A fit/steps +25.0 %25::fit/steps: 4.00 s to 5.00 s, 95 %25 500 ms to 2.00 s",
    ]


def test_github_is_told_a_notice_where_nothing_regressed() -> None:
    """One line."""
    assert list(gate_formats.as_github(PASSED)) == [
        (
            "::notice title=dlprof gate::dlprof gate: ok, nothing grew by more than 5 %25 beyond noise; "
            "wall 10.0 s to 11.0 s (1 run a side)"
        )
    ]


def test_github_shows_ten_errors_and_the_log_has_the_rest() -> None:
    """More would be dropped without a word."""
    lines = list(gate_formats.as_github(replace(FAILED, parts=[FIT] * 12)))

    assert len([line for line in lines if line.startswith("::error ")]) == 10
    assert lines[-3:] == ["  fit/steps: 4.00 s to 5.00 s, 95 % 500 ms to 2.00 s"] * 3


def test_a_cause_without_a_place_is_told_without() -> None:
    """No empty file."""
    (_, first, _) = gate_formats.as_github(replace(FAILED, causes=[replace(CAUSE, file=None, line=None)]))

    assert first.startswith("::error title=dlprof gate%3A Files%2C 50 %25::It writes")


def test_a_part_that_grew_by_too_little_to_count_is_not_called_within_the_limit() -> None:
    """Nor does the answer say that nothing grew."""
    small = Component("fit/steps/kernels", S // 100, S // 50, None, False, False, True)
    text = gate_formats.as_markdown(replace(PASSED, parts=[WALL, small]))

    assert "| fit/steps/kernels | 10.0 ms | 20.0 ms | +100.0 % | too small to count |" in text
    assert "dlprof gate: ok, nothing that counts grew by more than 5 % beyond noise;" in text


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([WALL] * 13, "1 more part did not regress."),
        ([FIT] * 13, "1 more part regressed."),
        ([FIT] * 14 + [WALL] * 3, "2 more parts regressed. 3 more parts did not regress."),
    ],
)
def test_what_a_comment_leaves_out_is_counted(parts: list[Component], said: str) -> None:
    """Those that regressed are never among those that did not."""
    text = gate_formats.as_markdown(replace(PASSED, parts=parts))

    assert text.splitlines()[-1] == said


REFUSED = Refusal("not-comparable", "The models differ: 1\n100 % <b>.", ("a",), ("b",))


def test_junit_has_an_error_where_nothing_was_judged() -> None:
    """A report without a test would pass."""
    root = ET.fromstring(gate_formats.refused_as_junit(REFUSED))  # noqa: S314  (our own)

    (suite,) = root
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors")] == ["a to b", "1", "0", "1"]
    error = suite.find("testcase/error")
    assert error is not None
    assert (error.get("type"), error.text) == ("not-comparable", "The models differ: 1\n100 % <b>.")


def test_a_comment_says_that_nothing_was_judged() -> None:
    """Nothing in it is Markdown or HTML."""
    assert gate_formats.refused_as_markdown(REFUSED) == (
        "### ❌ dlprof gate: not judged\n\nThe models differ: 1\ufffd100 % &lt;b&gt;\\.\n"
    )


def test_github_is_told_an_error_where_nothing_was_judged() -> None:
    """In one line."""
    assert gate_formats.refused_as_github(REFUSED) == (
        "::error title=dlprof gate%3A not judged::The models differ: 1%0A100 %25 <b>."
    )
