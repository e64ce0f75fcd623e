"""A real IPython shell, whose cells are run as a notebook runs them."""

from __future__ import annotations

import atexit
import sys
import textwrap
from pathlib import Path
from typing import Any

from dlprof.notebook.views import RunView

HERE = "%%dlprof --probes phases,lines --no-report"


class Shell:
    """A shell of its own, whose cells are run as a notebook runs them."""

    def __init__(self, folder: Path) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        InteractiveShell.clear_instance()
        self.shell = InteractiveShell.instance(config=config, ipython_dir=str(folder / "ipython"), colors="nocolor")
        # At the end of the tests each shell would look through all objects for garbage, for half a second.
        atexit.unregister(self.shell.atexit_operations)
        self.names = self.shell.user_ns

    def run(self, text: str) -> Any:
        """Run a cell; IPython's `ExecutionResult`."""
        return self.shell.run_cell(textwrap.dedent(text).strip() + "\n", store_history=True)


def rows(view: RunView) -> list[tuple[Any, ...]]:
    """(file, function, line, hits, source) of each line that ran."""
    frame = view.lines()
    frame = frame[frame["hits"] > 0]
    return list(frame[["file", "function", "line", "hits", "source"]].itertuples(index=False, name=None))


def elsewhere(text: str, flags: str = "") -> str:
    """A cell in a process of its own."""
    return f"%%dlprof --python {sys.executable} --probes phases,lines --no-report {flags}\n{textwrap.dedent(text)}"
