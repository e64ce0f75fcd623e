"""`dlprof completion`: what a shell needs to complete commands, options, their values and names of runs."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

EXAMPLES = """\
examples:
  dlprof completion bash                         prints the script
  dlprof completion bash > ~/.local/share/bash-completion/completions/dlprof
  dlprof completion zsh > ~/.dlprof.zsh          then, in ~/.zshrc: source ~/.dlprof.zsh
  dlprof completion fish > ~/.config/fish/completions/dlprof.fish

It is made from the definitions of the commands: make it again after an update of dlprof."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    shell: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the shells."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")


def run(args: Arguments) -> int:
    """Print the script."""
    from dlprof.cli import shells

    print(shells.SCRIPTS[args.shell](shells.all_completions()))
    return 0
