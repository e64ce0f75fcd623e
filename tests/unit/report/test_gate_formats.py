"""The answer of the gate as CI systems take it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from dlprof.analysis.gate import Component
from dlprof.report import gate_formats
from dlprof.report.gate_report import Cause, Doubtful, Notes, Outcome, Refusal
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
        "### ❌ dlprof gate: FAILED, limit 5 %: fit/steps \\+25\\.0 %; wall 10\\.0 s to 11\\.0 s \\(1 run against 2\\)",
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
        "dlprof gate: FAILED, limit 5 %: fit/steps +25.0 %; wall 10.0 s to 11.0 s (1 run against 2)",
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
            "wall 10.0 s to 11.0 s (1 run against 2)"
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


DOUBTFUL = Component("fit/steps", 4 * S, 5 * S, None, False, False, doubtful=True, lost_ns=S // 2)
NOTES = Notes(("A was interrupted",), ("others had 90 % of a core",), ("processors: x and y",))
UNCLEAR = replace(PASSED, parts=[DOUBTFUL, WALL], notes=NOTES)
LOST = "NEW may have lost 500 ms more to the state of the machine than BASE"


@pytest.mark.parametrize(
    ("doubtful", "kind", "counts"),
    [
        (Doubtful.AGAIN, "error", ["2", "0", "1", "0"]),
        (Doubtful.FAIL, "failure", ["2", "1", "0", "0"]),
        (Doubtful.PASS, "skipped", ["2", "0", "0", "1"]),
    ],
)
def test_junit_has_doubtful_parts_as_what_they_count_as(doubtful: Doubtful, kind: str, counts: list[str]) -> None:
    """Never as tests that passed."""
    root = ET.fromstring(gate_formats.as_junit(replace(UNCLEAR, doubtful=doubtful)))  # noqa: S314  (our own)

    (suite,) = root
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == counts
    assert [one.tag for one in suite.findall("testcase[@name='fit/steps']/*")] == [kind]
    assert (suite.findtext("system-out") or "").splitlines()[1:] == [
        "not comparable: A was interrupted (A is NEW, B is BASE); judged anyway",
        "doubtful: others had 90 % of a core",
        "differs (NEW and BASE): processors: x and y",
    ]


def test_a_comment_has_what_makes_the_answer_doubtful() -> None:
    """With a sign of its own, neither passed nor failed."""
    lines = gate_formats.as_markdown(UNCLEAR).splitlines()

    assert lines[0].startswith("### \N{WARNING SIGN} dlprof gate: INCONCLUSIVE: measure again ")
    assert lines[2:7:2] == [
        "**not comparable**: A was interrupted \\(A is NEW, B is BASE\\); judged anyway",
        "**doubtful**: others had 90 % of a core",
        "**differs (NEW and BASE)**: processors: x and y",
    ]
    assert "| fit/steps | 4.00 s | 5.00 s | +25.0 % | **doubtful** |" in lines


def test_github_is_warned_of_what_is_doubtful() -> None:
    """No error: nobody knows whether it is one."""
    assert list(gate_formats.as_github(UNCLEAR))[1:] == [
        f"::warning title=dlprof gate%3A fit/steps +25.0 %25::fit/steps: 4.00 s to 5.00 s; doubtful: {LOST}",
        "::warning title=dlprof gate%3A not comparable::A was interrupted (A is NEW, B is BASE); judged anyway",
        "::warning title=dlprof gate%3A doubtful::others had 90 %25 of a core",
        "::notice title=dlprof gate%3A differs (NEW and BASE)::processors: x and y",
    ]


def test_a_cause_that_is_asked_about_is_no_error() -> None:
    """It says so, and how sure it is, in each format."""
    asked = replace(FAILED, causes=[replace(CAUSE, confidence=0.31, is_question=True)])

    assert list(gate_formats.as_github(asked))[1] == (
        "::warning title=dlprof gate%3A Perhaps%3A Files%2C 50 %25,file=a/train%2C1.py,line=7"
        "::It writes: 100 %25%0Aof the gap. Only perhaps (31 %25). Write <less>."
    )
    assert "1. **Perhaps: Files, 50 %** (1.00 s)" in gate_formats.as_markdown(asked)
    assert "Perhaps: Files, 50 % (1.00 s) at a/train,1.py:7" in gate_formats.as_junit(asked)


def test_a_cause_that_is_claimed_says_how_sure_it_is() -> None:
    """Unless it is a fact."""
    sure = replace(FAILED, causes=[replace(CAUSE, confidence=0.85)])

    assert "Write <less>. (confidence 85 %25)" in list(gate_formats.as_github(sure))[1]
