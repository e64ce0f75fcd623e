"""Scripts that complete the words of dlprof in bash, zsh and fish, out of the definitions of its commands."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlprof.backends import registry
from dlprof.cli import COMMANDS, finding_help, make_parser
from dlprof.cli.parser import Parser
from dlprof.cli.topics import TOPICS
from dlprof.shipped import scenarios

_OF_RUNS = {"RUN", "BASE", "NEW"}
"""How positionals are called that are runs."""


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Attributes:
        flags: How it is typed, such as `-o`.
        about: What it does.
        values: What it takes, where only some words make sense.
        takes_value: Whether a word must follow.
    """

    flags: Sequence[str]
    about: str
    values: Sequence[str]
    takes_value: bool


@dataclass(frozen=True)
class Completion:
    """What can follow a command.

    Attributes:
        command: Its name; empty: dlprof itself.
        about: What it does.
        words: Words that are no options: subcommands, choices, topics, findings.
        options: Its options, those of subcommands too.
        takes_runs: Whether names of runs can follow.
    """

    command: str
    about: str
    words: Sequence[str]
    options: Sequence[Option]
    takes_runs: bool


def all_completions() -> list[Completion]:
    """Those of dlprof itself and of each command."""
    parser = make_parser(*COMMANDS)
    of_commands = [_completion(name, COMMANDS[name], sub) for name, sub in parser.subcommands().items()]
    return [_completion("", "", parser), *of_commands]


def _completion(name: str, about: str, parser: Parser) -> Completion:
    inner = parser.subcommands()
    parsers = [parser, *(inner.values() if name else ())]
    actions = [action for one in parsers for action in one._actions]  # noqa: SLF001  (argparse has no public way to list them)
    options = {action.option_strings[0]: _option(action) for action in actions if action.option_strings}
    words = [word for action in actions if not action.option_strings for word in action.choices or ()]
    return Completion(
        command=name,
        about=about,
        words=[*words, *_names(name)],
        options=list(options.values()),
        takes_runs=any(action.metavar in _OF_RUNS for action in actions if not action.option_strings),
    )


def _names(command: str) -> Sequence[str]:
    """What a command takes by name, where that is known beforehand."""
    if command == "help":
        return [*COMMANDS, *TOPICS, *finding_help.titles()]
    if command == "scenarios":
        return [*(scenario.name for scenario in scenarios.known()), *scenarios.SETS]
    return list(registry.all_specs()) if command == "backends" else ()


def _option(action: argparse.Action) -> Option:
    about = (action.help or "").replace("%%", "%").partition("%(")[0]
    values = [str(value) for value in action.choices or (registry.all_specs() if action.dest == "backend" else ())]
    return Option(action.option_strings, about, values, takes_value=action.nargs != 0)


def bash(completions: Sequence[Completion]) -> str:
    """A script for bash."""
    values = [
        f"        {shlex.quote(f'{one.command}:{flag}')}) words={shlex.quote(' '.join(option.values))} ;;"
        for one in completions
        for option in one.options
        for flag in option.flags
        if option.values
    ]
    words = [
        f"            {one.command or chr(39) * 2}) words={shlex.quote(' '.join(_all_words(one)))}"
        + ('" last $(ls dlprof_runs 2> /dev/null)"' if one.takes_runs else "")
        + " ;;"
        for one in completions
    ]
    return "\n".join([_BASH_BEGIN, *values, "    esac", _BASH_WORDS, *words, _BASH_END])


def _all_words(one: Completion) -> list[str]:
    return [*one.words, *(flag for option in one.options for flag in option.flags)]


def zsh(completions: Sequence[Completion]) -> str:
    """A script for zsh, which can run those of bash."""
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + bash(completions)


def fish(completions: Sequence[Completion]) -> str:
    """A script for fish."""
    lines = ["# Completion of dlprof for fish."]
    for one in completions:
        lines += _fish_command(one)
    return "\n".join(lines)


def _fish_command(one: Completion) -> Iterator[str]:
    seen = f"'__fish_seen_subcommand_from {one.command}'" if one.command else "__fish_use_subcommand"
    begin = f"complete -c dlprof -n {seen}"
    for word in one.words:
        about = f" -d {shlex.quote(COMMANDS[word])}" if not one.command and word in COMMANDS else ""
        yield f"{begin} -f -a {word}{about}"
    if one.takes_runs:
        yield f"{begin} -a 'last (ls dlprof_runs 2> /dev/null)'"
    for option in one.options:
        flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
        values = f" -x -a {shlex.quote(' '.join(option.values))}" if option.values else " -r" * option.takes_value
        yield f"{begin} {flags}{values} -d {shlex.quote(option.about)}"


SCRIPTS: Mapping[str, Callable[[Sequence[Completion]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""By the name of the shell."""
_BASH_BEGIN = """\
# Completion of dlprof for bash.
_dlprof() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' words='' at
    for ((at = 1; at < COMP_CWORD; at++)); do
        case ${COMP_WORDS[at]} in
            -*) ;;
            *) command=${COMP_WORDS[at]}; break ;;
        esac
    done
    case $command:$before in"""
_BASH_WORDS = """\
    if [ -z "$words" ]; then
        case $command in"""
_BASH_END = """\
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _dlprof dlprof"""
