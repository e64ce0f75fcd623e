"""`dlprof gate`: stop a slow-down before it lands."""

from __future__ import annotations

import argparse
import json
import re
from typing import Any

EXAMPLES = """\
examples:
  dlprof trace train.py --repeat 5 -o runs/base        on the main branch
  dlprof trace train.py --repeat 5 -o runs/new         on the change
  dlprof gate runs/base runs/new                       exit code 1 when a part became more than 5 % slower
  dlprof gate runs/base runs/new --max-regression 10% --only fit/steps,wall

A part has regressed when it grew beyond noise, beyond the limit, and by more than 1 % of the wall time.
With three runs or more on each side, noise is a 95 % interval; with fewer, 20 % of the part or 50 ms."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument("base", metavar="BASE", help="the version before: a run, or a folder of repeats")
    parser.add_argument("new", metavar="NEW", help="the version now")
    parser.add_argument("--max-regression", default="5%", metavar="P", help="growth that may pass (default: 5%%)")
    parser.add_argument("--only", metavar="PARTS", help="judge only these parts and what is below them: fit,wall")
    parser.add_argument("--anyway", action="store_true", help="judge also what is not comparable")
    parser.add_argument("--json", action="store_true", help="print JSON (dlprof.gate/1, see docs/json.md)")


def run(args: argparse.Namespace) -> int:
    """Print a line for the log; 1 when something regressed."""
    from dlprof.analysis import compare, gate
    from dlprof.errors import UsageError
    from dlprof.pipeline.opening import open_sides

    limit = _limit(args.max_regression)
    base, new = open_sides([args.base, args.new])
    found = compare.compare(new, base)
    if not found.parity.comparable and not args.anyway:
        why = "; ".join(found.parity.why_not)
        raise UsageError(f"The runs are not comparable, because {why} (A is NEW, B is BASE).", hint="--anyway")
    parts = _chosen(gate.components(found, limit), args.only)
    regressed = [part for part in parts if part.regressed]
    if args.json:
        print(json.dumps(_as_json(found, parts, limit), indent=1))
    else:
        _print(parts, limit, min(len(base.runs), len(new.runs)))
    return 1 if regressed else 0


def _limit(text: str) -> float:
    from dlprof.errors import UsageError

    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    if match is None:
        raise UsageError(f"--max-regression must be a share such as 5% or 0.05, not {text}.")
    return float(match[1]) / (100 if match[2] else 1)


def _chosen(parts: list[Any], only: str | None) -> list[Any]:
    from dlprof.errors import UsageError

    if only is None:
        return parts
    names = [name.strip() for name in only.split(",") if name.strip()]
    found = [part for part in parts if any(part.name == name or part.name.startswith(f"{name}/") for name in names)]
    if not found:
        raise UsageError(f"No part is called {only}.", hint=f"there are: {', '.join(part.name for part in parts)}")
    return found


def _print(parts: list[Any], limit: float, repeats: int) -> None:
    from dlprof.units import duration, safe

    regressed = [part for part in parts if part.regressed]
    whole = next((part for part in parts if part.name == "wall"), None)
    wall = f" wall {duration(whole.base_ns)} to {duration(whole.new_ns)}" if whole is not None else ""
    runs = f"{repeats} run{'s' if repeats > 1 else ''} a side"
    if not regressed:
        print(f"dlprof gate: ok, nothing grew by more than {100 * limit:g} % beyond noise;{wall} ({runs})")
        return
    names = ", ".join(_told(part) for part in regressed[:3])
    print(safe(f"dlprof gate: FAILED, limit {100 * limit:g} %: {names};{wall} ({runs})"))
    for part in regressed:
        ci = f", 95 % {duration(part.ci_ns[0])} to {duration(part.ci_ns[1])}" if part.ci_ns else ""
        print(safe(f"  {part.name}: {duration(part.base_ns)} to {duration(part.new_ns)}{ci}"))


def _told(part: Any) -> str:
    return f"{part.name} {'new' if part.change is None else f'{100 * part.change:+.1f} %'}"


def _as_json(found: Any, parts: list[Any], limit: float) -> dict[str, Any]:
    return {
        "schema": "dlprof.gate/1",
        "passed": not any(part.regressed for part in parts),
        "max_regression": limit,
        "base": [run.name for run in found.b.runs],
        "new": [run.name for run in found.a.runs],
        "comparable": found.parity.comparable,
        "why_not": list(found.parity.why_not),
        "components": [
            {
                "name": part.name, "base_ns": part.base_ns, "new_ns": part.new_ns, "change": part.change,
                "ci_ns": list(part.ci_ns) if part.ci_ns else None, "within_noise": part.noise,
                "regressed": part.regressed,
            }
            for part in parts
        ],
    }  # fmt: skip
