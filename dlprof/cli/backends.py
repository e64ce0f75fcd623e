"""`dlprof backends`: the managed environments."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported when a subcommand runs: --help stays fast
    from dlprof.launch.environments import Environment

SCHEMA = "dlprof.backends/1"
SUMMARY = "list, install and remove the managed environments of the backends"
EXAMPLES = """\
examples:
  dlprof backends list
  dlprof backends install mxnet tensorflow
  $(dlprof backends path mxnet)/bin/python train.py    # the same environment, without dlprof
  dlprof backends remove mxnet"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.set_defaults(json=False)
    commands = parser.add_subparsers(dest="action", metavar="list|install|remove|path")
    for name, text, argument, count in (
        ("list", "all backends, and whether they are installed (default)", None, None),
        ("install", "make the environments of backends now, or mend damaged ones", "names", "+"),
        ("remove", "remove the environments of backends, also those of earlier locks", "names", "+"),
        ("path", "print the folder of an installed environment", "name", None),
    ):
        sub = commands.add_parser(name, help=text)
        sub.add_argument("--json", action="store_true", help="print JSON")
        if argument:
            sub.add_argument(argument, nargs=count, metavar="NAME")


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand."""
    if args.action == "install":
        return _install(args.names, as_json=args.json)
    if args.action == "remove":
        return _remove(args.names, as_json=args.json)
    if args.action == "path":
        return _path(args.name, as_json=args.json)
    return _list(as_json=args.json)


def _install(names: list[str], *, as_json: bool) -> int:
    from dlprof.backends import registry
    from dlprof.launch import environments

    made = []
    for spec in [registry.get(name) for name in names]:
        made.append(environments.ensure(spec, report=_say, show_progress=sys.stderr.isatty(), repair=True))
        if not as_json:
            print(made[-1].path, flush=True)
    if as_json:
        _print_json([_row(environment) for environment in made])
    return 0


def _remove(names: list[str], *, as_json: bool) -> int:
    from dlprof.launch import environments

    removed = {name: environments.remove(name) for name in names}
    if as_json:
        content = {"schema": SCHEMA, "removed": {name: [str(path) for path in removed[name]] for name in removed}}
        print(json.dumps(content, indent=1))
        return 0
    for name, paths in removed.items():
        for path in paths:
            print(f"removed {path}")
        if not paths:
            print(f"{name} is not installed")
    return 0


def _path(name: str, *, as_json: bool) -> int:
    from dlprof.launch import environments

    environment = environments.path_of(name)
    if as_json:
        _print_json([_row(environment)])
    else:
        print(environment.path)
    return 0


def _list(*, as_json: bool) -> int:
    from dlprof.launch import environments

    rows = [_row(environment) for environment in environments.known()]
    if as_json:
        _print_json(rows)
        return 0
    widths = {name: max(len(row[name]) for row in rows) for name in ("name", "title")}
    for row in rows:
        size = f"{row['size_bytes'] / 1e6:,.0f} MB" if row["size_bytes"] is not None else ""
        place = row["path"] or ""
        if row["environment_of"]:
            size, place = "", f"in the environment of {row['environment_of']}"
        cells = f"{row['name']:<{widths['name']}} {row['state']:<13} {row['title']:<{widths['title']}}"
        print(f"{cells} {row['python'] or '':<5} {size:>9}  {place}".rstrip())
    return 0


def _row(environment: Environment) -> dict[str, Any]:
    from dlprof.backends import registry

    spec = registry.all_specs().get(environment.name)
    size = environment.size_bytes()
    return {
        "name": environment.name,
        "title": spec.title if spec else "",
        "state": environment.state,
        "environment_of": spec.environment_of or None if spec else None,
        "python": environment.version,
        "size_bytes": size,
        "path": str(environment.path) if size is not None else None,
    }


def _print_json(rows: list[dict[str, Any]]) -> None:
    print(json.dumps({"schema": SCHEMA, "backends": rows}, indent=1))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
