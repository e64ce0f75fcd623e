"""Exit codes, and every error that dlprof tells its user."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from dlprof import errors
from reference_pages import markdown as md
from reference_pages import source

ERRORS = source.DLPROF / "errors.py"
_ABOUT = f"""\
Each error is one sentence and, where one is known, a second line: what to try. `{source.OPEN}` stands for what is known
only then: a name, a path, a reason."""


@dataclass(frozen=True)
class Message:
    """An error as the code words it.

    Attributes:
        error: Its class.
        text: The sentence, with open values.
        hint: What to try, or an empty text.
    """

    error: str
    text: str
    hint: str


def exit_codes() -> str:
    """The page of exit codes."""
    meanings = source.attributes(ERRORS, "ExitCode")
    codes = [
        (str(int(code)), md.code(code.name), md.prose(meanings[code.name]) or "done")
        for code in sorted(errors.ExitCode, key=int)
    ]
    kinds = [
        (md.code(name), str(int(code))) for name, code in sorted(error_classes().items(), key=lambda one: int(one[1]))
    ]
    return md.page(
        "Exit codes",
        "Those of dlprof's own failures; `dlprof trace` otherwise ends as the script ended. See also [Exit codes]"
        "(../../exit-codes.md), with those of single commands.",
        md.table(("code", "name", "means"), codes),
        "## Errors and their codes",
        md.table(("error", "code"), kinds),
    )


def page() -> str:
    """The page of messages."""
    codes = error_classes()
    parts = [_ABOUT]
    by_code: dict[errors.ExitCode, list[Message]] = {}
    for message in raised():
        by_code.setdefault(codes[message.error], []).append(message)
    for code, found in sorted(by_code.items(), key=lambda one: int(one[0])):
        rows = sorted({(md.plain(one.text), md.plain(one.hint)) for one in found})
        parts += [f"## Exit code {int(code)}", md.table(("message", "try"), rows)]
    return md.page("Messages", *parts)


def error_classes() -> dict[str, errors.ExitCode]:
    """Every class of error in the code, and its exit code."""
    found = {
        name: value.exit_code
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.DlprofError)
    }
    classes = [
        n for path in source.files(source.DLPROF) for n in ast.walk(source.tree(path)) if isinstance(n, ast.ClassDef)
    ]
    waiting = True
    while waiting:  # a class may stand in a file before that of its base
        new = {
            node.name: found[base.id]
            for node in classes
            for base in node.bases
            if node.name not in found and isinstance(base, ast.Name) and base.id in found
        }
        found.update(new)
        waiting = bool(new)
    return found


def raised() -> Iterator[Message]:
    """Every error that is made in the code."""
    names = error_classes()
    for path in source.files(source.DLPROF):
        for call in source.calls(source.tree(path), *names):
            text = source.text_of(call.args[0]) if call.args else source.OPEN
            if text.strip(source.OPEN + " "):
                assert isinstance(call.func, ast.Name)  # noqa: S101  (found by its name)
                yield Message(call.func.id, text, _hint(call))


def _hint(call: ast.Call) -> str:
    given = next((word.value for word in call.keywords if word.arg == "hint"), None)
    return source.text_of(given) if given is not None else ""
