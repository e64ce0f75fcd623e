"""`dlprof backends`: the managed environments."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

SUMMARY = "list, install and remove the managed environments of the backends"
EXAMPLES = """\
examples:
  dlprof backends list
  dlprof backends install mxnet tensorflow
  $(dlprof backends path mxnet)/bin/python train.py    # the same environment, without dlprof
  dlprof backends remove mxnet"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = parser.add_subparsers(dest="action", metavar="list|install|remove|path")
    listing = commands.add_parser("list", help="all backends, and whether they are installed (default)")
    listing.add_argument("--json", action="store_true", help="print JSON")
    for name, text in (
        ("install", "make the environments of backends now, not at their first use"),
        ("remove", "remove the environments of backends, also those of earlier locks"),
    ):
        sub = commands.add_parser(name, help=text)
        sub.add_argument("names", nargs="+", metavar="NAME")
    path = commands.add_parser("path", help="print the folder of an installed environment")
    path.add_argument("name", metavar="NAME")


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand."""
    if args.action == "install":
        return _install(args.names)
    if args.action == "remove":
        return _remove(args.names)
    if args.action == "path":
        from dlprof.launch import environments

        print(environments.path_of(args.name).path)
        return 0
    return _list(as_json=getattr(args, "json", False))


def _install(names: list[str]) -> int:
    from dlprof.backends import registry
    from dlprof.launch import environments

    for spec in [registry.get(name) for name in names]:
        environment = environments.ensure(spec, report=_say, show_progress=sys.stderr.isatty())
        print(environment.path)
    return 0


def _remove(names: list[str]) -> int:
    from dlprof.launch import environments

    for name in names:
        removed = environments.remove(name)
        for path in removed:
            print(f"removed {path}")
        if not removed:
            print(f"{name} is not installed")
    return 0


def _list(*, as_json: bool) -> int:
    from dlprof.backends import registry
    from dlprof.launch import environments

    specs = registry.all_specs()
    rows: list[dict[str, Any]] = [
        {
            "name": env.name,
            "title": specs[env.name].title,
            "state": env.state,
            "python": env.version,
            "size_bytes": env.size_bytes(),
            "path": str(env.path) if env.state in ("installed", "stale") else None,
        }
        for env in environments.known()
    ]
    if as_json:
        print(json.dumps({"schema": "dlprof.backends/1", "backends": rows}, indent=1))
        return 0
    for row in rows:
        size = f"{row['size_bytes'] / 1e6:,.0f} MB" if row["size_bytes"] is not None else ""
        print(f"{row['name']:<12} {row['state']:<14} {row['title']:<42} {size:>9}  {row['path'] or ''}".rstrip())
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
