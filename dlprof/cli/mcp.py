"""`dlprof mcp`: a server through which assistants look at runs."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

EXAMPLES = """\
examples:
  dlprof mcp                                   speaks the Model Context Protocol on standard input and output

An assistant is told of it in its own settings, as a rule:

  {"mcpServers": {"dlprof": {"command": "dlprof", "args": ["mcp"]}}}

It is started by an assistant, in the folder where dlprof_runs/ lies, and ends with its input. It looks at stored runs;
it starts no program, and writes nothing but tables of runs that lack them. It needs the extra mcp:
pip install 'dlprof[mcp]'.
`dlprof help assistants` shows a session."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for: nothing."""


def configure(parser: argparse.ArgumentParser) -> None:
    """There are no flags."""


def run(args: Arguments) -> int:  # noqa: ARG001  (it takes none)
    """Serve until the input ends."""
    from dlprof.cli import topics
    from dlprof.errors import UnavailableError

    try:
        import mcp  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "mcp":
            raise  # it is installed, and lacks something itself
        raise UnavailableError(
            "dlprof mcp needs the SDK of the Model Context Protocol.", hint="pip install 'dlprof[mcp]'"
        ) from None
    from dlprof.assistant import server

    pages = {name: topic.about for name, topic in topics.TOPICS.items()}
    server.make(pages, topics.text).run("stdio")
    return 0
