"""The answer of `dlprof gate` as CI systems take it: JUnit's XML, Markdown of a comment, GitHub's workflow commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from dlprof.analysis.gate import Component
from dlprof.report.gate_report import Cause, Doubtful, Outcome, Refusal, Status, growth, headline, times
from dlprof.report.markdown_text import plain
from dlprof.units import duration, safe

PARTS_IN_COMMENT = 12
"""Parts that a comment shows at most, those that regressed first."""
ANNOTATIONS = 10
"""GitHub shows no more errors of a step than that."""
_SIGNS = {
    Status.OK: "\N{WHITE HEAVY CHECK MARK}",
    Status.FAILED: "\N{CROSS MARK}",
    Status.INCONCLUSIVE: "\N{WARNING SIGN}",
    Status.NOT_JUDGED: "\N{CROSS MARK}",
}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""


def as_junit(found: Outcome) -> str:
    """A test case for each part, which fails if the part regressed; its time is the part's in the new version (s).

    A doubtful part is an error, as nothing is known of it; a failure where that shall fail, skipped where it may pass.
    """
    failed, count = len(found.regressed), len(found.uncertain)
    counts = {Doubtful.AGAIN: (failed, count, 0), Doubtful.FAIL: (failed + count, 0, 0)}.get(
        found.doubtful, (failed, 0, count)
    )
    root, suite = _suite(found, len(found.parts), *counts)
    for part in found.parts:
        case = {"classname": "dlprof.gate", "name": _xml(part.name), "time": f"{part.new_ns / 1e9:.6f}"}
        _fail(ET.SubElement(suite, "testcase", case), part, found)
    ET.SubElement(suite, "system-out").text = _xml(
        "\n".join([headline(found), *_noted(found), *map(_told, found.causes)])
    )
    return _written(root)


def refused_as_junit(refused: Refusal) -> str:
    """One test case, which is an error: nothing was judged."""
    root, suite = _suite(refused, 1, 0, 1, 0)
    case = ET.SubElement(suite, "testcase", {"classname": "dlprof.gate", "name": "comparable"})
    ET.SubElement(case, "error", {"type": refused.kind, "message": _xml(refused.why)}).text = _xml(refused.why)
    return _written(root)


def _suite(
    found: Outcome | Refusal, tests: int, failures: int, errors: int, skipped: int
) -> tuple[ET.Element, ET.Element]:
    """The root of a report, and the suite in it."""
    counts = {"tests": tests, "failures": failures, "errors": errors, "skipped": skipped}
    count = {name: str(number) for name, number in counts.items()}
    root = ET.Element("testsuites", {"name": "dlprof gate", **count})
    name = _xml(f"{', '.join(found.base)} to {', '.join(found.new)}")
    return root, ET.SubElement(root, "testsuite", {"name": name, **count})


def _written(root: ET.Element) -> str:
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False)


def _fail(case: ET.Element, part: Component, found: Outcome) -> None:
    limit = f"limit {100 * found.limit:g} %"
    if part.regressed:
        message = _xml(f"{part.name} {growth(part)}, {limit}")
        failure = ET.SubElement(case, "failure", {"type": "regression", "message": message})
        failure.text = _xml("\n".join([f"{part.name}: {times(part)}", *_noted(found), *map(_told, found.causes)]))
    elif part.doubtful:
        message = _xml(f"{part.name} {growth(part)}, {limit}, doubtful: measure again")
        if found.doubtful is Doubtful.PASS:
            ET.SubElement(case, "skipped", {"message": message})
            return
        kind = "failure" if found.doubtful is Doubtful.FAIL else "error"
        told = ET.SubElement(case, kind, {"type": "inconclusive", "message": message})
        told.text = _xml("\n".join([f"{part.name}: {times(part)}", *_noted(found)]))


def _noted(found: Outcome) -> Iterator[str]:
    """What is told beside the judgement, a line each."""
    return (f"{name}: {text}" for name, text in found.notes.told())


def _told(cause: Cause) -> str:
    place = f" at {cause.file}:{cause.line}" if cause.file else ""
    return f"{cause.heading} ({duration(cause.at_stake_ns)}){place}: {cause.text}"


def _xml(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def as_markdown(found: Outcome) -> str:
    """A comment for a pull request: the answer, a table of parts, the causes with their lines."""
    lines = [
        f"### {_SIGNS[found.status]} {plain(headline(found))}",
        "",
        *(f"**{name}**: {plain(text)}\n" for name, text in found.notes.told()),
        "| part | before | now | change | |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    lines += [_row(part) for part in found.parts[:PARTS_IN_COMMENT]]
    rest = found.parts[PARTS_IN_COMMENT:]
    if rest:
        regressed, doubtful = (sum(kinds) for kinds in zip(*((p.regressed, p.doubtful) for p in rest), strict=True))
        left = [*_counted(regressed, "regressed"), *_counted(doubtful, "may have regressed")]
        lines += ["", " ".join([*left, *_counted(len(rest) - regressed - doubtful, "did not regress")])]
    if found.causes:
        lines += ["", "**Why**", "", *(_item(rank, cause) for rank, cause in enumerate(found.causes, 1))]
    return "\n".join(lines) + "\n"


def refused_as_markdown(refused: Refusal) -> str:
    """A comment that says why nothing was judged."""
    return f"### \N{CROSS MARK} dlprof gate: not judged\n\n{plain(refused.why)}\n"


def _counted(count: int, what: str) -> list[str]:
    """A sentence about parts that are not shown; none where there are none."""
    return [f"{count} more part{'s' if count > 1 else ''} {what}."] if count else []


def _row(part: Component) -> str:
    times = f"{duration(part.base_ns)} | {duration(part.new_ns)}"
    return f"| {plain(part.name)} | {times} | {growth(part)} | {_judged(part)} |"


def _judged(part: Component) -> str:
    if part.regressed:
        return "**regressed**"
    if part.doubtful:
        return "**doubtful**"
    if part.noise:
        return "within noise"
    return "too small to count" if part.too_small else "within the limit"


def _item(rank: int, cause: Cause) -> str:
    place = f" at {plain(cause.file)}:{cause.line}" if cause.file else ""
    cost = duration(cause.at_stake_ns)
    return f"{rank}. **{plain(cause.heading)}** ({cost}){place}: {plain(cause.text)}"


def as_github(found: Outcome) -> Iterator[str]:
    """Workflow commands: an error at the line of each cause, then one for each part that regressed; else a notice.

    What is not sure is a warning: causes that are only asked about, doubtful parts, and what makes them doubtful.
    """
    noted = [
        _command("notice" if name.startswith("differs") else "warning", text, title=f"dlprof gate: {name}")
        for name, text in found.notes.told()
    ]
    if not (found.regressed or found.uncertain):
        yield _command("notice", headline(found), title="dlprof gate")
        yield from noted
        return
    made = [
        _command(
            "warning" if one.is_question else "error",
            one.text,
            title=f"dlprof gate: {one.heading}",
            file=one.file,
            line=one.line,
        )
        for one in found.causes
    ]
    parts = [*found.regressed, *found.uncertain]
    made += [
        _command(_level(part, found), f"{part.name}: {times(part)}", title=f"dlprof gate: {part.name} {growth(part)}")
        for part in parts
    ]
    yield safe(headline(found))
    yield from made[:ANNOTATIONS]
    for part in parts[max(0, ANNOTATIONS - len(found.causes)) :]:
        yield safe(f"  {part.name}: {times(part)}")
    yield from noted


def _level(part: Component, found: Outcome) -> str:
    return "error" if part.regressed or found.doubtful is Doubtful.FAIL else "warning"


def refused_as_github(refused: Refusal) -> str:
    """An error that says why nothing was judged."""
    return _command("error", refused.why, title="dlprof gate: not judged")


def _command(kind: str, message: str, **properties: str | int | None) -> str:
    """`::kind name=value,...::message`, with what would end it escaped."""
    known = [f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None]
    return f"::{kind} {','.join(known)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
