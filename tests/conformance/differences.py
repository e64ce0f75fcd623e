"""Differences between a bare run and a traced one that are meant, each with its reason. A short list: empty is the goal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.conformance.case import Case


@dataclass(frozen=True)
class Difference:
    """A difference that is documented.

    Attributes:
        cases: Names of the cases that may have it (a regular expression, of the whole name).
        line: Lines that may differ, with their - or + (the same).
        why: The reason, as users are told.
    """

    cases: str
    line: re.Pattern[str]
    why: str

    def concerns(self, name: str) -> bool:
        """Whether the case of this name has it."""
        return re.fullmatch(self.cases, name) is not None


DOCUMENTED: tuple[Difference, ...] = (
    Difference(
        "descriptors/all",
        re.compile(r"\+out: b'1000 -\\n'"),
        "dlprof's own file is open at a high number (1000, or below the limit), checked before each write and never inherited",
    ),
    Difference(
        "born/few-descriptors",
        re.compile(r"\+file work/facts.txt: b\"descriptor \d\d: \('file', False, 1025, False\)\\n\""),
        "dlprof's own file is open at a high number (1000, or below the limit), checked before each write and never inherited",
    ),
    Difference(
        "born/folder-gone",
        re.compile(r".*"),
        "a current folder that has been deleted is refused with a sentence before the script starts",
    ),
    Difference(
        "born/terminal",
        re.compile(r".file work/facts.txt: b'leads its group: (True|False)\\n'"),
        "at a terminal the script shares dlprof's process group: Ctrl-C, Ctrl-Z and fg are the kernel's affair, for both",
    ),
    Difference(
        "environment.*",
        re.compile(r"(\+out: b\"b'KERAS_HOME' .*|.out: b'b\"\[\(.*KERAS_HOME.*|-out: b'b\"\[\(.*)"),
        "KERAS_HOME is a private folder: no other Keras of the user is disturbed, nor disturbs",
    ),
    Difference(
        "death-signal",
        re.compile(r".out: b\"signal at the parent's death (0|15)\\n\""),
        "when dlprof is killed the kernel ends the script (SIGTERM): nobody would measure it, nor tell that it runs",
    ),
    Difference(
        "depth|ends/recursion",
        re.compile(r".(out: b'calls left|err: b'  \[Previous line repeated) \d+ ?.*"),
        "Python 3.11 and older count calls of C below the script's first frame: four of the recursion limit",
    ),
    Difference(
        "threads.*",
        re.compile(r".out: (b\"\[\['Threads:', '[12]'\]\]\\n\"|b'1 [12]\\n')"),
        "a thread of dlprof's watches what counting lines costs; `threading` does not know it",
    ),
    Difference(
        "ends/faulthandler|hostile/dumps_later",
        re.compile(
            r"\+err: b'(|Thread 0x\.\.\. \(most recent call first\):|  File \".*/inproc/thinning.py\", line \d+ in \w+|  <no Python frame>|Extension modules: .*)\\n'"
        ),
        "`faulthandler` tells of all threads and modules: of the one of dlprof's and of line_profiler, too",
    ),
    Difference(
        "hostile/builtins_none",
        re.compile(
            r"\+err: b('Exception ignored in atexit callback: <function shutdown at 0x\.\.\.>|'Traceback .*|'  File \".*/logging/__init__.py\", .*"
            r"|'    h\.flush\(\)|'    if self\.stream and .*|' +\^+|\"TypeError: 'NoneType' object is not callable)\\n['\"]"
        ),
        "line_profiler loads `logging`, which does its own work when Python ends, with the builtins that it finds then",
    ),
    Difference(
        "source/(null_byte|not_utf_8)",
        re.compile(
            r".err: (b'  File|b'    |b['\"]SyntaxError: ).*"
            r"|-ending: 0|-out: b'never\\n'|\+ending: 1|\+err: b'ValueError: source code string cannot .* null bytes\\n'"
        ),
        "a script that is no text is refused by another sentence of Python's: its text is compiled, not its file; before"
        " Python 3.11.4 a file runs up to its null byte, and a text does not",
    ),
    Difference(
        "born/bytecode-elsewhere",
        re.compile(r"\+file tmp/compiled/.*"),
        "where PYTHONPYCACHEPREFIX has compiled files of all programs, there are those of dlprof",
    ),
    Difference(
        "born/interactive-after",
        re.compile(r"-ending: 0|\+ending: 1|\+err: .*"),
        "PYTHONINSPECT concerns dlprof's own Python, too: it is interactive when the script has ended",
    ),
    Difference(
        "modules/.*",
        re.compile(r".out: b.\[('(json|threading|queue|random|dlprof_probes)'(, )?)*\]\\n."),
        "modules that the probe itself needs are loaded when the script begins, but where the script has its own of that name",
    ),
)
"""Each must occur in all cases that it names."""


def meant_for(case: Case) -> list[Difference]:
    """Those of a case."""
    return [one for one in DOCUMENTED if one.concerns(case.name)]
