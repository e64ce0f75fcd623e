"""`dlprof scenarios`: the scripts that come with dlprof, to be copied and traced."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

SCHEMA = "dlprof.scenarios/1"
EXAMPLES = """\
examples:
  dlprof scenarios                      what there is
  dlprof scenarios copy mlp             scenarios/mlp.py here, with the modules that it imports
  dlprof trace scenarios/mlp.py --backend mxnet
  dlprof scenarios copy all my/folder   all of them, into a folder of yours
  dlprof scenarios copy faults          what `dlprof exam` runs
  dlprof scenarios copy studies         matrices for `dlprof bench`, with their scripts

They are plain Keras scripts that know nothing of dlprof: change a copy as you like. `dlprof help scenarios` says more
of each."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    action: str | None = None
    json: bool = False
    name: str = ""
    folder: str = "scenarios"
    force: bool = False


class ScenarioRow(TypedDict):
    """A scenario, and the frameworks that have the same model without Keras."""

    name: str
    about: str
    without_keras: list[str]


class ScenariosReport(TypedDict):
    """What `--json` prints of `list` (scenarios, sets) and of `copy` (script, files, written)."""

    schema: str
    scenarios: NotRequired[list[ScenarioRow]]
    sets: NotRequired[Mapping[str, str]]
    script: NotRequired[str]
    files: NotRequired[list[str]]
    written: NotRequired[int]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.add_argument("--json", action="store_true", help=f"print JSON ({SCHEMA})")
    commands = parser.add_subparsers(dest="action", metavar="list|copy")
    listing = commands.add_parser("list", help="all scenarios, and what each trains (default)")
    copying = commands.add_parser("copy", help="copy one, with all that it needs, into a folder")
    copying.add_argument("name", metavar="NAME", help="a scenario, or faults, outside, ranks, studies or all")
    copying.add_argument(
        "folder", nargs="?", default="scenarios", metavar="DIR", help="folder of the copies (default: scenarios)"
    )
    copying.add_argument("--force", action="store_true", help="replace files that have other text")
    for sub in (listing, copying):
        sub.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=f"print JSON ({SCHEMA})")


def run(args: Arguments) -> int:
    """Carry out the subcommand."""
    if args.action == "copy":
        _copy(args)
    else:
        _list(args)
    return 0


def _list(args: Arguments) -> None:
    from dlprof.report.json_text import print_json
    from dlprof.shipped import scenarios

    found = scenarios.all_scenarios()
    if args.json:
        rows = [ScenarioRow(name=one.name, about=one.about, without_keras=list(one.without_keras)) for one in found]
        print_json(ScenariosReport(schema=SCHEMA, scenarios=rows, sets=scenarios.SETS))
        return
    width = max(len(name) for name in (*scenarios.SETS, *(one.name for one in found)))
    for one in found:
        print(f"{one.name:<{width}}  {one.about}")
    print()
    for name, about in scenarios.SETS.items():
        print(f"{name:<{width}}  {about}")


def _copy(args: Arguments) -> None:
    from dlprof.report.json_text import print_json
    from dlprof.report.say import say
    from dlprof.shipped import scenarios

    copied = scenarios.copy(args.name, Path(args.folder), force=args.force)
    if args.json:
        files = [path.as_posix() for path in copied.files]
        script = str(copied.script)
        print_json(ScenariosReport(schema=SCHEMA, script=script, files=files, written=copied.written))
        return
    print(copied.script)
    done = "copied" if copied.written else "it was there already"
    if not copied.script.is_file():
        say(f"{done}: {len(copied.files)} files")
        for name in scenarios.left_out() if args.name == "all" else ():
            say(f"without the set {name}, which comes with the sources of dlprof, not with an installed one")
        return
    say(f"{done}, with {len(copied.files) - 1} other files: its helpers, and the same model without Keras")
    say(f"next: dlprof trace {copied.script} --backend mxnet    (other backends: dlprof backends list)")
