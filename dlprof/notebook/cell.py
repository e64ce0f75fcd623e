"""A cell of a notebook, run by its own shell while dlprof traces it."""

from __future__ import annotations

import contextlib
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from dlprof.launch.traced_cell import strip_own_frames

NAME = "cell.py"
"""What the tables call a traced cell: always the same, so that two runs of it can be compared line by line."""


class ShellCell:
    """Runs a cell as IPython does, so that names, output, `_` and displays are those of the notebook.

    Args:
        shell: IPython's `InteractiveShell`.
        text: The cell.
        functions: Functions of earlier cells whose lines are to be counted too.
    """

    def __init__(self, shell: Any, text: str, functions: Sequence[FunctionType] = ()) -> None:
        self.functions = functions
        self.error: BaseException | None = None
        self._shell = shell
        self._text = text
        self._file: str | None = None
        self._is_held = False

    def run(self, counted: Callable[[CodeType], CodeType]) -> BaseException | None:
        """Run it, each statement as `counted` gives it; what it raised, or None."""
        shell = self._shell
        # Both would look at the input as a whole, which is a call of the magic.
        silent = shell.displayhook.semicolon_at_end_of_expression(self._text)
        with (
            _replaced(shell.displayhook, "quiet", lambda: silent),
            _replaced(shell.compile, "cache", self._numbered(shell.compile.cache)),
            _replaced(shell, "run_code", self._counted(shell.run_code, counted)),
            _replaced(shell, "showtraceback", self._held(shell.showtraceback)),
        ):
            result = shell.run_cell(self._text, store_history=False)
        self.error = result.error_before_exec or result.error_in_exec
        return self.error

    def _numbered(self, cache: Callable[..., str]) -> Callable[..., str]:
        """Name the cell's code by the number that the notebook shows; IPython 9 has counted on already."""
        number = self._shell.displayhook.prompt_count
        return lambda code, _number=0, raw_code=None: cache(code, number, raw_code)

    def _counted(self, run_code: Callable[..., Any], counted: Callable[[CodeType], CodeType]) -> Callable[..., Any]:
        async def run_counted(code: CodeType, *args: Any, **kwargs: Any) -> Any:
            self._file = self._file or code.co_filename
            return await run_code(counted(code), *args, **kwargs)

        return run_counted

    def _held(self, show: Callable[..., None]) -> Callable[..., None]:
        """Show nothing of what the cell raises yet: that takes time, which is not the cell's."""

        def hold(*args: Any, **kwargs: Any) -> None:
            if kwargs.get("running_compiled_code"):
                self._is_held = True
            elif not kwargs.get("exception_only"):  # of SystemExit, which is shown in the end by a line
                show(*args, **kwargs)  # of something else, such as a value that cannot be displayed

        return hold

    def raise_again(self) -> None:
        """Raise what the cell raised, for the shell to show as if there were no magic around the cell."""
        error = self.error
        if error is None:
            return
        strip_own_frames(error)
        trace = error.__traceback__
        if self._is_held and not hasattr(error, "_render_traceback_"):
            # As it looks here, where the cell is the outermost frame.
            shown: list[str] = self._shell.InteractiveTB.structured_traceback(type(error), error, trace)

            def once() -> list[str]:
                del error._render_traceback_  # type: ignore[attr-defined]
                return shown

            with contextlib.suppress(AttributeError):  # an exception that takes no attributes
                error._render_traceback_ = once  # type: ignore[attr-defined]
        raise error.with_traceback(trace.tb_next if trace is not None else None)

    def names(self) -> Mapping[str, str]:
        """What cells are called as compiled, to what the tables call them: `cell.py`, and `In[2]` for earlier ones."""
        labels = {name: self._shell.compile.format_code_name(name) for name in list(linecache.cache)}
        names = {name: label[1] for name, label in labels.items() if label is not None}
        return {**names, self._file: NAME} if self._file else names


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """An attribute of an object replaced for a while."""
    before = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if before is None:
            delattr(owner, name)
        else:
            setattr(owner, name, before)
