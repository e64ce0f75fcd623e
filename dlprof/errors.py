"""Errors that dlprof reports to its user, and the exit codes of its own failures.

`dlprof trace` ends with the exit code of the traced script (128 + n when signal n ended it). When dlprof itself fails
before the script has started, it ends with one of the codes below. Those from 64 on are of sysexits.h, so that they
cannot be taken for the usual codes of a script; BAD_DATA is not, for it comes of commands that run no script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from enum import IntEnum

Report = Callable[[str], None]
"""Takes a line for the user about what goes on."""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known word that was probably meant, or none.

    It differs by a few letters, or in small and large ones; else it contains the word, the last of those that do.
    """
    names = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), names, 1) or [
        name for name in names if len(word) > 2 and word.lower() in name
    ]
    return [names[name] for name in near[-1:]]


def _either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean X?` with the nearest of the known words, or nothing where none is near."""
    return "".join(f"; did you mean {name}?" for name in nearest(word, known))


class ExitCode(IntEnum):
    """Exit codes of dlprof's own failures (documented in `dlprof help exit-codes`)."""

    OK = 0
    USAGE = 64
    """The command line cannot be understood."""
    BAD_DATA = 4
    """A run folder, an artifact or a foreign trace cannot be read: damaged, unknown, or of a newer dlprof."""
    NO_INPUT = 66
    """The script, the run or the file named does not exist or cannot be read."""
    UNAVAILABLE = 69
    """An interpreter, a package index, a backend or a tool that is needed is not there."""
    INTERNAL = 70
    """A bug in dlprof."""
    CANNOT_CREATE = 73
    """The output folder or file cannot be written."""
    INCONCLUSIVE = 75
    """`dlprof gate` cannot tell, for the machine was in another state: measure again."""
    INTERRUPTED = 130
    """Ctrl-C while dlprof itself was working (not the script)."""
    READER_GONE = 141
    """Who reads what a command prints has gone away (`| head`): the code of other programs then, 128 + SIGPIPE."""


class DlprofError(Exception):
    """A failure with one clear sentence for the user, and what to do about it.

    Args:
        message: One sentence that says what is wrong.
        hint: The command or the change that mends it, where one is known.
        near: Words that may have been meant (`nearest`), the likeliest first.
    """

    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, *, hint: str | None = None, near: Sequence[str] = ()) -> None:
        if near:
            message = f"{message.removesuffix('.')}; did you mean {_either(near)}?"
        super().__init__(message)
        self.message = message
        self.hint: str | None = None
        self.advise(hint)

    def advise(self, hint: str | None) -> None:
        """Give this hint, in place of the one that there is."""
        if self.hint:
            self.__notes__.remove(_note(self.hint))
        self.hint = hint
        if hint:
            self.add_note(_note(hint))  # tracebacks show it: in Python there is no command to print it


def _note(hint: str) -> str:
    return f"try: {hint}"


class UsageError(DlprofError):
    """The command line or a configuration value is wrong."""

    exit_code = ExitCode.USAGE


class NoInputError(DlprofError):
    """A script, run or file does not exist or cannot be read."""

    exit_code = ExitCode.NO_INPUT


class BadDataError(DlprofError):
    """A run folder or an artifact is damaged, foreign or too new."""

    exit_code = ExitCode.BAD_DATA


class UnavailableError(DlprofError):
    """Something that is needed from outside (interpreter, index, tool) is missing."""

    exit_code = ExitCode.UNAVAILABLE


class CannotCreateError(DlprofError):
    """An output folder or file cannot be written."""

    exit_code = ExitCode.CANNOT_CREATE


class UnstoredError(DlprofError):
    """The script has run, and what stores its run could not even be loaded, as without memory.

    Attributes:
        shell_code: The script's exit code, which dlprof ends with.
    """

    def __init__(self, message: str, shell_code: int) -> None:
        super().__init__(message)
        self.shell_code = shell_code
