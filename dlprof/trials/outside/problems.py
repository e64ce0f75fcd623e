"""Problems of the outside exam: a folder with a truth file, and per problem a script with its cause and one without."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from dlprof.backends import registry
from dlprof.errors import DlprofError, NoInputError, UsageError, did_you_mean

TRUTH = "truth.json"
BUGGY, FIXED = "buggy", "fixed"
"""The two scripts of a problem, and the runs that are made of them."""
_WORDS = {"held out": "held-out", "by the rules' writer": "by-rule-writer", "open": "open"}
"""What `only` calls the parts of an exam."""
ELSEWHERE = "not in the study"
"""Root cause of what DLPerf's study does not have."""


class Truth(Struct, frozen=True, rename={"lines": "line", "line_texts": "line_text"}):
    """What is true of a problem, as its truth file says it; written before any finding was seen.

    Attributes:
        source: Where somebody had it: an address, or `owner/repository#number`.
        cause: The cause, in words.
        backend: Managed backend.
        keras: Whether the script is one of Keras; False: it takes the environment of the backend as a plain Python.
        accept: Slugs of findings that are right; may name rules that do not exist (yet).
        lines, line_texts: Lines of `buggy.py` that may be blamed, and their texts; empty: there is no such line.
        true_fix: What mends it, in words.
        fix_words: A finding that has one of these in what it says to do names the fix; empty: that is not judged.
        dlperf: Root cause in DLPerf's study; None: it has none like it.
        seconds: Bare wall time of both scripts (s), where it was measured.
        true_of_fixed: Slugs of findings that are also true of `fixed.py`, and no false ones there.
        held_out: Whether those who write rules keep their hands off it.
        by_rule_writer: Whether it was written by who writes rules, with these in mind: no fair measure of them.
    """

    source: str
    cause: str
    backend: str
    keras: bool
    accept: tuple[str, ...]
    true_fix: str
    lines: tuple[int, ...] = ()
    line_texts: tuple[str, ...] = ()
    fix_words: tuple[str, ...] = ()
    dlperf: str | None = None
    seconds: Mapping[str, float] | None = None
    true_of_fixed: tuple[str, ...] = ()
    held_out: bool = False
    by_rule_writer: bool = False

    @property
    def half(self) -> str:
        """Which of the parts of an exam it belongs to, that are told apart."""
        if self.held_out:
            return "held out"
        return "by the rules' writer" if self.by_rule_writer else "open"

    @property
    def root_cause(self) -> str:
        """Root cause of the study, without what is said beside it."""
        return (self.dlperf or "").split(" (")[0].strip() if not (self.dlperf or "(").startswith("(") else ELSEWHERE


class Problem(Struct, frozen=True):
    """A problem.

    Attributes:
        name: Name of its folder.
        truth: What is true of it.
        folder: Where its scripts are.
    """

    name: str
    truth: Truth
    folder: Path

    def script(self, kind: str) -> Path:
        """The script with the cause (`buggy`), or without it (`fixed`)."""
        return self.folder / f"{kind}.py"

    @property
    def place(self) -> str:
        """Name of the folder of its runs: with a digest of the scripts, so that a changed one is run again."""
        parts = [self.truth.backend, str(self.truth.keras), *(self.script(kind).read_text() for kind in (BUGGY, FIXED))]
        return f"{self.name}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:8]}"


def load(folder: Path, *, only: Sequence[str] = ()) -> list[Problem]:
    """Read the problems of a folder, by name.

    Args:
        folder: Where the truth file is.
        only: Names of problems or backends, or `held-out`, `open` or `by-rule-writer`; empty: all.

    Raises:
        NoInputError: There is no truth file, or a script is missing.
        UsageError: The truth file is wrong, or `only` names nothing.
    """
    path = folder / TRUTH
    try:
        truths = msgspec.json.decode(path.read_bytes(), type=dict[str, Truth])
    except OSError:
        hint = (
            "dlprof scenarios copy outside, or a folder with a truth.json and a buggy.py and fixed.py for each problem"
        )
        raise NoInputError(f"There is no {TRUTH} in {folder}.", hint=hint) from None
    except msgspec.MsgspecError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    problems = [_checked(Problem(name, truth, (folder / name).resolve())) for name, truth in sorted(truths.items())]
    _refuse_unknown(problems, only)
    return [problem for problem in problems if not only or _names(problem) & set(only)]


def _checked(problem: Problem) -> Problem:
    for kind in (BUGGY, FIXED):
        if not problem.script(kind).is_file():
            raise NoInputError(f"There is no {kind}.py of the problem {problem.name} in {problem.folder}.")
    try:
        registry.get(problem.truth.backend)
    except DlprofError as error:
        raise UsageError(f"{problem.name}: {error.message}") from error
    return problem


def _names(problem: Problem) -> set[str]:
    """What `only` may call it."""
    return {problem.name, problem.truth.backend, _WORDS[problem.truth.half]}


def _refuse_unknown(problems: Sequence[Problem], only: Sequence[str]) -> None:
    known = {name for problem in problems for name in _names(problem)}
    for word in only:
        if word not in known:
            raise UsageError(
                f"Nothing in the exam is called {word}{did_you_mean(word, sorted(known))}.",
                hint="names of problems, backends, open, held-out or by-rule-writer",
            )
