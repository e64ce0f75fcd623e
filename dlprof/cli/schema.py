"""`dlprof schema`: the JSON schemas of what `--json` prints."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

EXAMPLES = """\
examples:
  dlprof schema                                   all of them, and the command that prints such JSON
  dlprof schema report > report.schema.json
  dlprof report last --json | check-jsonschema --schemafile report.schema.json -

They are of draft 2020-12. New fields may come within a version, so that schemas allow fields that they do not name;
fields do not change or go. `dlprof help json` explains the fields."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    name: str | None


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the name."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="report, compare, dlprof.gate/1, ...; none: list all")


def run(args: Arguments) -> int:
    """Print one, or the list."""
    from dlprof.cli import json_types
    from dlprof.errors import UsageError, did_you_mean

    if args.name is None:
        width = max(map(len, json_types.PUBLISHED))
        for name, one in json_types.PUBLISHED.items():
            print(f"dlprof.{f'{name}/{one.version}':<{width + 2}}  {one.command}")
        return 0
    asked = args.name.removeprefix("dlprof.")
    known = {word: name for name, one in json_types.PUBLISHED.items() for word in (name, f"{name}/{one.version}")}
    if asked not in known:
        near = did_you_mean(asked, json_types.PUBLISHED)
        raise UsageError(f"There is no schema {args.name}{near}.", hint="dlprof schema")
    print(json_types.file(known[asked]).read_text(encoding="utf-8"), end="")
    return 0
