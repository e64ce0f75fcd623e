"""`dlprof attach`: look at a process that runs already."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.errors import UsageError
from dlprof.report.say import say

EXAMPLES = """\
The process is not stopped, and goes on. Cores, memory, I/O, GPUs, sampled stacks and lines, of it and of all that
it starts, from outside. If it is a Python from 3.14 on and your own, a probe is started inside it, too, and taken out
at the end: phases, steps and kernels. The run is one like any other: report, lines, view, compare, export.

examples:
  dlprof attach 4711                        until Ctrl-C, or until the process ends
  dlprof attach 4711 --seconds 30
  dlprof attach $(pgrep -nf train.py) --seconds 30 -o runs/now
  dlprof attach 4711 --outside              nothing in the process is changed
  dlprof attach 4711 --probes cores,gpu     no stacks: needs no right to look into the process
  sudo dlprof attach 4711                   one of another user

Exit code 0: also where the process ended meanwhile. Counts of lines need `dlprof trace`, and so do phases, steps and
kernels before Python 3.14."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for; None: not given, so that other settings hold."""

    pid: str
    seconds: float | None
    probes: str | None
    outside: bool
    stacks_hz: float | None
    cores_hz: float | None
    budget: str | None
    output: str | None
    keep_arguments: bool | None
    no_report: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.usage = "dlprof attach PID [options]"
    parser.add_argument("pid", metavar="PID", help="number of the process (pgrep -af python lists some)")
    parser.add_argument(
        "--seconds", type=float, metavar="N", help="look for so long (default: until Ctrl-C, or its end)"
    )
    parser.add_argument("--probes", metavar="LIST", help="of stacks, cores, gpu, phases, kernels (default: all)")
    parser.add_argument("--outside", action="store_true", help="start no probe inside: --probes stacks,cores,gpu")
    parser.add_argument("--stacks-hz", type=float, metavar="HZ", help="stack samples per second (default: 20)")
    parser.add_argument("--cores-hz", type=float, metavar="HZ", help="core and GPU samples per second (default: 10)")
    parser.add_argument("--budget", metavar="SHARE", help="what probes may cost of the time: 1%% (default), 0.5%%, off")
    parser.add_argument("-o", dest="output", metavar="DIR", help="run folder (default: a new one below dlprof_runs/)")
    parser.add_argument(
        "--keep-arguments",
        action="store_true",
        default=None,
        help="do not hide what looks like a secret on command lines",
    )
    parser.add_argument("--no-report", action="store_true", help="do not print the report at the end")


def run(args: Arguments) -> int:
    """Look, and report."""
    from dlprof import config
    from dlprof.cli.trace import store_and_tell
    from dlprof.launch import system

    system.need_linux("dlprof attach")
    from dlprof.pipeline.attach import attach

    if args.outside and args.probes is not None:
        raise UsageError("--outside says which probes: it cannot be given with --probes.")
    settings = config.load(_flags(args), *config.current())
    for line in settings.said:
        say(line)
    traced = attach(settings, _number(args.pid), _seconds(args.seconds), report=say)
    store_and_tell(traced, report=not args.no_report)
    return 0


_SETTINGS: Sequence[str] = ("probes", "stacks_hz", "cores_hz", "budget", "output", "keep_arguments")


def _flags(args: Arguments) -> dict[str, Any]:
    flags = {name: getattr(args, name) for name in _SETTINGS}
    return flags | {"probes": "stacks,cores,gpu"} if args.outside else flags


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 31:
        raise UsageError(f"{text} is no number of a process.", hint="pgrep -af python lists those of Python")
    return int(text)


def _seconds(value: float | None) -> float | None:
    if value is not None and not 0 < value < 1e9:
        raise UsageError(f"--seconds must be more than 0, not {value:g}.")
    return value
