"""Bare against traced: a document of each, and what differs."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.differences import Difference, meant_for
from tests.conformance.observe import Observation, observe
from tests.conformance.world import Stream


@dataclass(frozen=True)
class Normalised:
    """Text that no two runs have in common.

    Attributes:
        pattern: What varies.
        instead: What stands for it.
        why: Why it varies.
    """

    pattern: re.Pattern[bytes]
    instead: bytes
    why: str


NORMALISED = (
    Normalised(re.compile(rb"(?m)^dlprof: .*\r?\n"), b"", "dlprof says what it has to say in lines that begin so"),
    Normalised(re.compile(rb"0x[0-9a-f]{6,}"), b"0x...", "addresses and identities of objects and threads"),
    Normalised(re.compile(rb"(?m)^\[\d\d:\d\d:\d\d\] "), b"[time] ", "MXNet logs the time of day"),
    Normalised(re.compile(rb"\b\d{10}\.\d{6} +\d+ "), b"time thread ", "TensorFlow logs the time and the thread"),
)


@dataclass(frozen=True)
class Verdict:
    """What came of a case.

    Attributes:
        case: The case.
        documented: Differences that are documented, and why.
        lines: Lines of the two documents that differ otherwise: with - those of the bare run, with + those of the other.
    """

    case: Case
    documented: tuple[Difference, ...]
    lines: tuple[str, ...]


def judge(case: Case, path: Path) -> Verdict:
    """Run a case bare and traced in a folder at `path`, and compare."""
    bare = observe(case, path, traced=False)
    traced = observe(case, path, traced=True)
    if case.reported and case.world.stderr is Stream.PIPE:  # elsewhere nobody could see it
        traced = without_report(traced, bare)
    lines = differing(bare, traced)
    allowed = meant_for(case)
    used = tuple(one for one in allowed if any(one.line.fullmatch(line) for line in lines))
    rest = [line for line in lines if not any(one.line.fullmatch(line) for one in allowed)]
    return Verdict(case, used, tuple(rest))


def differing(bare: Observation, traced: Observation) -> list[str]:
    """Lines of the two documents that differ: with - those of the bare run, with + those of the other."""
    lines = list(difflib.unified_diff(document(bare), document(traced), n=0, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@")]


_OF_REPORTS = (b"Phases", b"The script ended with exit code")
"""What a report has: of a script that failed at once it is one sentence."""


def without_report(traced: Observation, bare: Observation) -> Observation:
    """The report comes after all that the script has said; without one, the case differs."""
    own, said = normalised(bare.err), normalised(traced.err)
    if said.startswith(own) and any(mark in said[len(own) :] for mark in _OF_REPORTS):
        return replace(traced, err=bare.err)
    return replace(traced, err=traced.err + b"(no report behind what the script said)\n")


def normalised(text: bytes) -> bytes:
    """Text without what varies by itself."""
    for one in NORMALISED:
        text = one.pattern.sub(one.instead, text)
    return text


def document(seen: Observation) -> list[str]:
    """An observation as lines."""
    streams = [("out", seen.out), ("err", seen.err)]
    said = [f"{name}: {line!r}" for name, text in streams for line in normalised(text).splitlines(keepends=True)]
    return [f"ending: {seen.ending}", *said, *(f"shell: {one}" for one in seen.events), *seen.files, *_left(seen)]


def _left(seen: Observation) -> list[str]:
    return [f"left running: {one}" for one in seen.left]
