"""`dlprof trace`: run a script under the probes."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dlprof.config import PROBES, SETTABLE, TraceConfig
from dlprof.errors import DlprofError, UnstoredError, UsageError
from dlprof.report.say import say

if TYPE_CHECKING:  # imported when it runs: --help stays fast
    from dlprof.launch.view import View
    from dlprof.pipeline.storing import Traced
    from dlprof.store.run import Run

EXAMPLES = f"""\
The script runs as without dlprof: same output, same results, same exit code. Its own arguments
come after `--`.

examples:
  dlprof trace train.py
  dlprof trace train.py --python ~/venv/bin/python -- --epochs 3
  dlprof trace scenarios/mlp.py --backend mxnet -o runs/mxnet
  dlprof trace -m package.train --probes phases,cores
  dlprof trace train.py --probes=-stacks --lines mypackage.data
  dlprof trace train.py --kernels all            every kernel of fit, evaluate and predict: costs more
  dlprof trace train.py --heap                   which line allocated the memory that is held, or grows
  dlprof trace train.py --budget 0.5%            probes are thinned to cost less than that; off: never thinned
  dlprof trace train.py --live                   phases, steps, cores, GPU and output on a screen meanwhile
  dlprof trace train.py --repeat 5 -o runs/base  five runs, so that `compare` and `gate` can give intervals
  dlprof trace --exec -- julia train.jl          any program: cores, GPU, stacks where there is Python
  dlprof trace --exec -- make train              Pythons below it that import an engine: a run of their own each
  dlprof trace sweep.py --follow                 the same for what a script starts
  torchrun --no-python --nproc-per-node 2 dlprof trace train.py -o runs/ddp
                                                 each rank below runs/ddp; or: dlprof trace --exec -- torchrun ...
  dlprof trace -m pytest tests/test_train.py     whatever python -m would run

probes: {", ".join(PROBES)}. Settings may also be in pyproject.toml, as [tool.dlprof], and in
environment variables DLPROF_BACKEND, DLPROF_PYTHON, DLPROF_PROBES, ..."""


_REPEATS = 1000
_REPORT = ("dlprof.report.text",)
"""What the report needs, beyond the tables."""


@dataclass(frozen=True)
class Arguments:
    """What the command line asks for; None: not given, so that other settings hold."""

    script: str | None
    module: str | None
    backend: str | None
    python: str | None
    program: bool
    """Run what stands after `--`, whatever it is."""
    follow: bool | None
    probes: str | None
    lines: Sequence[str] | None
    stacks_hz: float | None
    kernels: str | None
    kernel_steps: str | None
    gpu_tracer: str | None
    cores_hz: float | None
    heap: bool | None
    budget: str | None
    repeat: int
    output: str | None
    keep_arguments: bool | None
    no_report: bool
    progress: bool | None
    live: bool | None
    script_arguments: tuple[str, ...]
    """What stands after `--`."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.usage = "dlprof trace SCRIPT [options] [-- script arguments]"
    parser.add_argument("script", nargs="?", metavar="SCRIPT", help="the Python script to run")
    target = parser.add_argument_group("what to run it on")
    target.add_argument("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    target.add_argument("--backend", metavar="NAME", help="managed environment of a backend (dlprof backends list)")
    target.add_argument("--python", metavar="PATH", help="an interpreter of your own (default: the one dlprof runs in)")
    target.add_argument(
        "--exec", dest="program", action="store_true", help="run any program, which comes after --, from the outside"
    )
    target.add_argument(
        "--follow",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="trace Pythons below it that import an engine, each as a run of its own (default: with --exec)",
    )
    _add_measuring(parser)
    _add_results(parser)


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what to measure")
    what.add_argument("--probes", metavar="LIST", help="all, none, names, or -name to leave one out (default: all)")
    what.add_argument(
        "--lines",
        metavar="WHAT",
        action="append",
        help="more modules or files for line profiling; exact: count each line, at any cost",
    )
    what.add_argument("--stacks-hz", type=float, metavar="HZ", help="stack samples per second (default: 20)")
    what.add_argument("--kernels", metavar="WHEN", help="trace kernels: windows of some steps (default), all, off")
    what.add_argument("--kernel-steps", metavar="N", help="steps of a window at most (default: 10)")
    what.add_argument("--gpu-tracer", metavar="T", help="auto (default), framework, nsys, nvprof or off")
    what.add_argument("--cores-hz", type=float, metavar="HZ", help="core and GPU samples per second (default: 10)")
    what.add_argument(
        "--heap",
        action="store_true",
        default=None,
        help="record who allocates memory, with memray: dlprof memory RUN --by line (the script takes longer)",
    )
    what.add_argument(
        "--budget", metavar="SHARE", help="what all probes may cost, of the run's time: 1%% (default), 0.5%%, off"
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    out = parser.add_argument_group("results")
    out.add_argument("--repeat", type=int, default=1, metavar="N", help="run it N times, for intervals (default: 1)")
    out.add_argument("-o", dest="output", metavar="DIR", help="run folder (default: a new one below dlprof_runs/)")
    out.add_argument(
        "--keep-arguments",
        action="store_true",
        default=None,
        help="do not hide what looks like a secret on command lines",
    )
    out.add_argument("--no-report", action="store_true", help="do not print the report at the end")
    out.add_argument(
        "--no-progress", dest="progress", action="store_false", default=None, help="no status line, no screen"
    )
    out.add_argument(
        "--live", action="store_true", default=None, help="show the run on the whole screen while it goes on"
    )


def run(args: Arguments) -> int:
    """Trace, report, and end as the script ended."""
    from dlprof import config
    from dlprof.launch import system

    settings = config.load(_flags(args), *config.current())
    system.need_linux("dlprof trace")
    from dlprof.launch import signals

    for line in (*settings.said, *settings.announced):
        say(line)
    with signals.meant_for_script():
        if args.repeat != 1:
            return _repeated(args, settings)
        return _once(settings, report=not args.no_report)


def _repeated(args: Arguments, settings: TraceConfig) -> int:
    """Run the script several times, into a folder of its own; the first failure ends it."""
    from dlprof.launch import ranks
    from dlprof.report import repeats
    from dlprof.rundir import repeats_folder

    if ranks.of_environment(os.environ) is not None:
        raise UsageError(
            "--repeat is for one process, and this is one of several ranks.", hint="repeat what starts them instead"
        )
    if not 2 <= args.repeat <= _REPEATS:
        raise UsageError(f"--repeat must lie between 1 and {_REPEATS}, not {args.repeat}.")
    folder = repeats_folder(Path(settings.output) if settings.output else None, settings.label)
    for number in range(1, args.repeat + 1):
        say(f"run {number} of {args.repeat}")
        code = _once(replace(settings, output=str(folder / f"{number:03d}")), report=False)
        if code:
            say(f"run {number} ended with exit code {code}: no more runs")
            return code
    if not args.no_report:
        repeats.print_repeats(folder, file=sys.stderr)
    return 0


def _once(settings: TraceConfig, *, report: bool) -> int:
    from dlprof.launch import ranks
    from dlprof.pipeline import trace as pipeline

    if ranks.of_environment(os.environ) is not None:
        settings = replace(settings, progress=False)  # a terminal has one line for all ranks
    settings, view = _view(settings)
    try:
        traced = pipeline.trace(settings, report=say, view=view, meanwhile=_REPORT if report else ())
    except UnstoredError as error:
        say(error.message)
        return error.shell_code
    store_and_tell(traced, report=report)
    return int(traced.outcome.shell_code)


def store_and_tell(traced: Traced, *, report: bool) -> None:
    """Print the report of a run, and make its artifacts smaller."""
    from dlprof.pipeline import storing  # loaded by now

    _tell(traced, report=report)
    with contextlib.suppress(OSError):  # the run folder was removed
        storing.pack(traced)


def _tell(traced: Traced, *, report: bool) -> None:
    """Print the report. The script has run: no failure here changes the exit code."""
    if traced.failure is not None:
        say(f"the run could not be stored: {traced.failure.message}{traced.rest}")
    if traced.run is None or not report:
        return
    from dlprof.report import text

    try:
        if not _tell_ranks(traced.run):
            text.print_answer(traced.run, file=sys.stderr, own_python=sys.executable)
    except DlprofError as error:
        say(f"there is no report: {error.message}")
    except Exception as error:
        if os.environ.get("DLPROF_DEBUG"):
            raise
        say(f"there is no report, by a bug in dlprof: {type(error).__name__}: {error}")


def _tell_ranks(run: Run) -> bool:
    """Print the report of all ranks, if a run has to do with some; returns whether it has.

    Of ranks that are a dlprof each the last that is stored prints it; the others print nothing, but for rank 0, which
    says where it will be.
    """
    from dlprof import run_names, rundir
    from dlprof.launch import ranks
    from dlprof.pipeline import rank_folders

    rank = ranks.of_environment(os.environ)
    if rank is None:
        return run.manifest.followed is not None and _print_ranks(run.folder.path)
    shared = run.folder.path.parent
    if rank_folders.is_last(run.folder, rank):
        return _print_ranks(shared)
    if rank.rank == 0:
        say(f"all ranks, once they are stored: dlprof report {run_names.name_to_type(rundir.RunDir(shared))}")
    return True


def _print_ranks(folder: Path) -> bool:
    from dlprof.analysis import ranks
    from dlprof.pipeline import ranked
    from dlprof.report import ranks_causes, ranks_text

    found = ranked.find(str(folder))
    if found is None:
        return False
    summary = ranks.of_run(found)
    ranks_text.print_ranks(found, summary, ranks_causes.of_run(found, summary), file=sys.stderr)
    return True


def _flags(args: Arguments) -> dict[str, Any]:
    """What the command line says of the settings, and what is to run."""
    flags = {name: getattr(args, name) for name in SETTABLE if hasattr(args, name)}
    if args.program:
        return {**flags, **_program(args)}
    if args.module and args.script:
        from dlprof.cli import meant

        python = f"dlprof trace -m {args.module} --python {args.script}" if meant.is_interpreter(args.script) else None
        raise UsageError(
            "Give a script or -m MODULE, not both.", hint=python or "arguments of the module come after --"
        )
    if not args.module and not args.script:
        raise UsageError("There is no script to trace.", hint="dlprof trace SCRIPT")
    return {**flags, "module": args.module, "script": args.script, "arguments": args.script_arguments}


def _program(args: Arguments) -> dict[str, Any]:
    """What `--exec` is to run."""
    if args.script or args.module or args.backend or args.python:
        raise UsageError(
            "--exec runs a program as it is: no SCRIPT, -m, --backend or --python with it.",
            hint="dlprof trace --exec -- PROGRAM ARGUMENTS",
        )
    if not args.script_arguments:
        raise UsageError("There is no program to run.", hint="dlprof trace --exec -- PROGRAM ARGUMENTS")
    program, *arguments = args.script_arguments
    return {"script": "", "module": None, "program": program, "arguments": tuple(arguments)}


def _view(settings: TraceConfig) -> tuple[TraceConfig, View]:
    """The settings, and what shows the run: `live` only where there is a terminal for it."""
    from dlprof.live import status_line

    settings = replace(settings, live=settings.live and settings.progress)
    if settings.live:
        from dlprof.live import terminal, view

        refusal = terminal.refusal(os.environ)
        if refusal is None:
            return settings, view.LiveView(settings, say)
        say(f"--live: {refusal}; the run goes on without a screen")
    return replace(settings, live=False), status_line.for_terminal(settings, sys.stderr)
