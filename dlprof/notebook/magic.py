"""`%%dlprof`: trace a cell of a notebook, in place or in a process of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import FunctionType

from IPython.core.error import UsageError as ShellUsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from dlprof import config as configuration
from dlprof import rundir
from dlprof.errors import DlprofError
from dlprof.launch import traced_cell
from dlprof.notebook import fresh
from dlprof.notebook.cell import NAME, ShellCell
from dlprof.notebook.views import RunView
from dlprof.pipeline import opening
from dlprof.pipeline import trace as pipeline
from dlprof.store.run import Run

_SETTINGS = ("probes", "lines", "stacks_hz", "cores_hz", "kernels", "kernel_steps", "budget", "output")
_ELSEWHERE = ("backend", "python")
"""Flags that say where to run: with one of them the cell gets a process of its own."""


@magics_class
class TraceMagics(Magics):
    """The magics of dlprof."""

    @magic_arguments()
    @argument("--into", default="_dlprof", metavar="NAME", help="variable that takes the run (default: _dlprof)")
    @argument("--backend", metavar="NAME", help="in a process of its own, on this managed backend")
    @argument("--python", metavar="PATH", help="in a process of its own, on this interpreter")
    @argument("--probes", metavar="LIST", help="all, none, names, or -name to leave one out (default: all)")
    @argument("--lines", metavar="WHAT", action="append", help="functions of the notebook, or modules, to count too")
    @argument("--stacks-hz", metavar="HZ", help="stack samples per second (default: 20)")
    @argument("--cores-hz", metavar="HZ", help="core and GPU samples per second (default: 10)")
    @argument("--kernels", metavar="WHEN", help="trace kernels: windows of some steps (default), all, off")
    @argument("--kernel-steps", metavar="N", help="steps of a window at most (default: 10)")
    @argument(
        "--budget", metavar="SHARE", help="what all probes may cost, of the run's time: 1%% (default), 0.5%%, off"
    )
    @argument("-o", dest="output", metavar="DIR", help="run folder (default: a new one below dlprof_runs/)")
    @argument("--no-report", action="store_true", help="do not show the report")
    @cell_magic
    def dlprof(self, line: str, cell: str) -> None:
        """Run the cell under the probes, keep the run in a variable, and show its report.

        The cell runs here, with the names of the notebook. With --backend or --python it runs as a script in a
        process of its own, which knows none of them.
        """
        args = parse_argstring(self.dlprof, line)
        try:
            self._trace(args, cell)
        except DlprofError as error:
            raise ShellUsageError(f"{error.message}\n  try: {error.hint}" if error.hint else error.message) from None

    def _trace(self, args: argparse.Namespace, cell: str) -> None:
        if not args.into.isidentifier():
            raise ShellUsageError(f"--into takes the name of a variable, not {args.into}")
        code = self.shell.transform_cell(cell)
        name = self.shell.compile.cache(code, self.shell.displayhook.prompt_count, raw_code=cell)
        self.shell.compile.ast_parse(code, filename=name)  # a syntax error is shown, and nothing is traced
        if args.backend or args.python:
            self._elsewhere(args, code)
        else:
            self._here(args, cell, code)

    _busy = False
    """Whether a cell is being traced in this process."""

    def _here(self, args: argparse.Namespace, text: str, code: str) -> None:
        if self._busy:
            raise ShellUsageError("a traced cell cannot trace another")
        if self.shell.should_run_async(text, transformed_cell=code):
            raise ShellUsageError("a traced cell cannot await at its top level; put that into a function")
        functions, modules = self._named(args.lines or [])
        flags = {name: getattr(args, name) for name in _SETTINGS}
        settings = configuration.load({**flags, "lines": modules, "script": NAME}, *configuration.current())
        for line in settings.said:
            print(f"dlprof: {line}", file=sys.stderr)
        settings = replace(settings, backend=None, python=None, overrides={})  # of the environment: not here
        cell = ShellCell(self.shell, text, functions)
        self._busy = True
        try:
            traced = pipeline.trace_cell(settings, cell)
        finally:
            self._busy = False
        if cell.error is None:  # else it may not have come to what defines them
            self._tell_unknown(modules)
        if traced.failure is not None:
            print(f"dlprof: the run could not be stored: {traced.failure.message}", file=sys.stderr)
        elif traced.run is not None:
            self._keep(traced.run, args, shown=cell.error is None)
        cell.raise_again()

    def _named(self, names: list[str]) -> tuple[list[FunctionType], list[str]]:
        """What `--lines` names: functions of the notebook, and modules."""
        words = [word for name in names for word in name.split(",")]
        known = {word: self.shell.user_ns.get(word) for word in words}
        functions = [value for value in known.values() if isinstance(value, FunctionType)]
        return functions, [word for word in words if not isinstance(known[word], FunctionType)]

    def _tell_unknown(self, modules: list[str]) -> None:
        """Say which of the names of `--lines` are of nothing that could be counted: no line is missing by accident."""
        for word in modules:
            if word and not traced_cell.is_loaded(word) and not isinstance(self.shell.user_ns.get(word), FunctionType):
                print(
                    f"dlprof: no line of {word} was counted: --lines takes functions of the notebook and modules that "
                    "the cell imports, and it is neither",
                    file=sys.stderr,
                )

    def _elsewhere(self, args: argparse.Namespace, code: str) -> None:
        if "get_ipython()" in code:
            raise ShellUsageError("in a process of its own a cell is plain Python: no magics, no !commands")
        name = f"{Path(NAME).stem}-{args.backend or 'python'}"
        output = Path(args.output) if args.output else rundir.free_path(name, datetime.now().astimezone())
        ended = fresh.run(code, list(_flags(args)), output)
        if (output / "manifest.json").is_file():
            self._keep(opening.open_run(str(output)), args, shown=not ended.code)
        if ended.interrupted:
            raise KeyboardInterrupt("the cell's process was interrupted")
        if ended.code:
            self._explain(ended)

    def _explain(self, ended: fresh.Ended) -> None:
        name = fresh.missing_name(ended.said, self.shell.user_ns)
        if name is not None:
            raise ShellUsageError(
                f"{name} is a name of the notebook, and the cell ran in a process of its own, which does not know it.\n"
                "  try: define it in the cell, or trace in place, without --backend and --python"
            )
        raise ShellUsageError(f"the cell's process ended with exit code {ended.code}; its own words are above")

    def _keep(self, run: Run, args: argparse.Namespace, *, shown: bool) -> None:
        view = RunView(run)
        self.shell.user_ns[args.into] = view
        if not shown:
            print(f"dlprof: the run up to here is in {args.into}", file=sys.stderr)
        elif not args.no_report:
            display(view)


def _flags(args: argparse.Namespace) -> Iterator[str]:
    """The flags for `dlprof trace`, as they were given."""
    for name in (*_ELSEWHERE, *_SETTINGS):
        value = getattr(args, name)
        if name != "output" and value is not None:
            for text in value if isinstance(value, list) else [value]:
                yield f"--{name.replace('_', '-')}={text}"
