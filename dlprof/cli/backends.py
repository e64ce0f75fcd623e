"""`dlprof backends`: the managed environments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:  # imported when a subcommand runs: --help stays fast
    from dlprof.launch.environments import Environment

EXAMPLES = """\
examples:
  dlprof backends list
  dlprof backends install mxnet tensorflow
  $(dlprof backends path mxnet)/bin/python train.py    # the same environment, without dlprof
  dlprof backends remove mxnet"""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for."""

    action: str | None = None
    json: bool = False
    names: Sequence[str] = ()
    """Backends to install or remove."""
    name: str = ""
    """The backend whose folder is asked for."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.backends/1)")
    commands = parser.add_subparsers(dest="action", metavar="list|install|remove|path")
    for name, text, argument, count in (
        ("list", "all backends, and whether they are installed (default)", None, None),
        ("install", "make the environments of backends now, or mend damaged ones", "names", "+"),
        ("remove", "remove the environments of backends, also those of earlier locks", "names", "+"),
        ("path", "print the folder of an installed environment", "name", None),
    ):
        sub = commands.add_parser(name, help=text)
        sub.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print JSON (dlprof.backends/1)"
        )
        if argument:
            sub.add_argument(argument, nargs=count, metavar="NAME")


def run(args: Arguments) -> int:
    """Carry out the subcommand."""
    if args.action == "install":
        _install(args)
    elif args.action == "remove":
        _remove(args)
    elif args.action == "path":
        _path(args)
    else:
        _list(args)
    return 0


def _install(args: Arguments) -> None:
    from dlprof.launch import system

    system.need_linux("dlprof backends install")
    from dlprof.backends import registry
    from dlprof.launch import environments
    from dlprof.report.say import say

    made = []
    for spec in [registry.get(name) for name in args.names]:
        made.append(environments.ensure(spec, report=say, show_progress=sys.stderr.isatty(), repair=True))
        if not args.json:
            print(made[-1].path, flush=True)
    if args.json:
        _print_json(_told([_row(environment) for environment in made]))


def _remove(args: Arguments) -> None:
    from dlprof.launch import environments

    removed = {name: environments.remove(name) for name in args.names}
    if args.json:
        folders = {name: [str(path) for path in removed[name]] for name in removed}
        _print_json(BackendsReport(schema="dlprof.backends/1", removed=folders))
        return
    for name, paths in removed.items():
        for path in paths:
            print(f"removed {path}")
        if not paths:
            print(f"{name} is not installed")


def _path(args: Arguments) -> None:
    from dlprof.launch import environments

    environment = environments.path_of(args.name)
    if args.json:
        _print_json(_told([_row(environment)]))
    else:
        print(environment.path)


def _list(args: Arguments) -> None:
    from dlprof.launch import environments

    rows = [_row(environment) for environment in environments.known()]
    if args.json:
        _print_json(_told(rows))
        return
    names, titles = (max((len(getattr(row, column)) for row in rows), default=0) for column in ("name", "title"))
    for row in rows:
        size = f"{row.size_bytes / 1e6:,.0f} MB" if row.size_bytes is not None else ""
        place = row.path or ""
        if row.environment_of:
            size, place = "", f"in the environment of {row.environment_of}"
        cells = f"{row.name:<{names}} {row.state:<13} {row.title:<{titles}}"
        print(f"{cells} {row.python or '':<5} {size:>9}  {place}".rstrip())


@dataclass(frozen=True)
class Row:
    """A backend and its environment, as `--json` has it; None: there is none, or it is not known."""

    name: str
    title: str
    state: str
    environment_of: str | None
    python: str | None
    size_bytes: int | None
    path: str | None


def _row(environment: Environment) -> Row:
    from dlprof.backends import registry

    spec = registry.all_specs().get(environment.name)
    size = environment.size_bytes()
    return Row(
        name=environment.name,
        title=spec.title if spec else "",
        state=environment.state,
        environment_of=spec.environment_of or None if spec else None,
        python=environment.version,
        size_bytes=size,
        path=str(environment.path) if size is not None else None,
    )


class BackendsReport(TypedDict):
    """Backends and their environments, or what was removed of them."""

    schema: Literal["dlprof.backends/1"]
    backends: NotRequired[list[Row]]
    """Of `list`, `install` and `path`."""
    removed: NotRequired[dict[str, list[str]]]
    """Of `remove`: folders by backend."""


def _told(rows: list[Row]) -> BackendsReport:
    return BackendsReport(schema="dlprof.backends/1", backends=rows)


def _print_json(content: BackendsReport) -> None:
    from dlprof.report.json_text import print_json

    print_json(content)
