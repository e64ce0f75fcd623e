"""`dlprof runs`: the runs in a folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

EXAMPLES = """\
examples:
  dlprof runs
  dlprof runs results --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="where to look (default: dlprof_runs)")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.runs/1)")


def run(args: argparse.Namespace) -> int:
    """Print the list, oldest first."""
    from dlprof import rundir
    from dlprof.errors import NoInputError

    folder = Path(args.folder or rundir.RUNS_FOLDER)
    if args.folder and not folder.is_dir():
        raise NoInputError(f"There is no folder {folder}.")
    rows = [_row(found) for found in rundir.find(folder)]
    if args.json:
        print(json.dumps({"schema": "dlprof.runs/1", "runs": rows}, indent=1))
    elif not rows:
        print(f"no runs in {folder}; make one: dlprof trace SCRIPT")
    else:
        _print(rows)
    return 0


def _row(found: Any) -> dict[str, Any]:
    from dlprof.errors import DlprofError

    try:
        manifest = found.read_manifest()
    except DlprofError as error:
        return {"run": found.path.name, "damaged": error.message}
    process, command = manifest.process, manifest.command
    return {
        "run": found.path.name,
        "created": manifest.created,
        "script": command.script or command.program or f"-m {command.module}",
        "backend": manifest.keras_backend or manifest.backend.name,
        "state": manifest.state,
        "exit_code": process.exit_code,
        "signal": process.signal,
        "wall_ns": process.wall_ns,
        "size_bytes": found.size_bytes(),
    }


def _print(rows: list[dict[str, Any]]) -> None:
    from dlprof.units import duration, safe, size

    for row in rows:
        if "damaged" in row:
            print(f"{row['run']:<40} damaged: {safe(row['damaged'])}")
            continue
        ended = f"signal {row['signal']}" if row["signal"] else f"exit {row['exit_code']}"
        ended = row["state"] if row["wall_ns"] is None else ended
        print(
            f"{row['run']:<40} {row['backend'] or '-':<12} {safe(row['script']):<24} {ended:<10} "
            f"{duration(row['wall_ns']):>9} {size(row['size_bytes']):>8}"
        )
