"""What a parser takes, for texts that are made from it: the man page, and the reference of the documentation."""

from __future__ import annotations

import argparse


def arguments(made: argparse.ArgumentParser) -> list[argparse.Action]:
    """Arguments and flags, without those for help and colour, which all have, and for subcommands."""
    kinds = (argparse._HelpAction, argparse._SubParsersAction)  # noqa: SLF001  (argparse has no public way to list them)
    shown = (action for action in made._actions if not isinstance(action, kinds))  # noqa: SLF001
    return [action for action in shown if action.dest != "color"]


def subcommands(made: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Subcommands and their parsers."""
    for action in made._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def invocation(action: argparse.Action) -> str:
    """How an argument is written."""
    value = action.metavar if isinstance(action.metavar, str) else ""
    if not action.option_strings:
        return {"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} ..."}.get(str(action.nargs), value)
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    return f"{', '.join(action.option_strings)} {value or '|'.join(str(one) for one in action.choices or ())}".strip()


def meaning(made: argparse.ArgumentParser, action: argparse.Action) -> str:
    """What an argument does, and what it may be."""
    text = (action.help or "") % {**vars(action), "prog": made.prog}
    if action.choices and isinstance(action.metavar, str):
        text += f"; one of {', '.join(str(one) for one in action.choices)}"
    return text + ("; may be given again" if isinstance(action, argparse._AppendAction) else "")  # noqa: SLF001


def synopsis(made: argparse.ArgumentParser, words: str) -> str:
    """How a command is typed, on one line, whatever the width of a terminal and the version of Python.

    Args:
        made: Its parser.
        words: Itself, such as `dlprof backends list`.
    """
    if made.usage:
        return made.usage
    taken = arguments(made)
    options = ["[options]"] if any(action.option_strings for action in taken) else []
    inner = ["|".join(subcommands(made))] if subcommands(made) else []
    return " ".join([words, *inner, *(invocation(action) for action in taken if not action.option_strings), *options])
