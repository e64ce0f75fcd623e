"""dlprof: deep profiling and tracing of training: Keras on every backend, PyTorch, JAX, TensorFlow, MXNet.

This package is the conductor and the analyser. What runs inside and beside the traced
process lives in the separate package `dlprof_probes` (folder `probes/`).

In notebooks and scripts: `dlprof.trace("train.py")`, `dlprof.open("last")`, `dlprof.compare(a, b)`, `dlprof.runs()`,
`dlprof.view()`, and `%load_ext dlprof` (`dlprof help python`, `dlprof help notebook`).
"""

from __future__ import annotations

from dlprof.version import __version__

TYPE_CHECKING = False  # not of `typing`: under `python -m dlprof` that may still be a file of the current folder
if TYPE_CHECKING:
    from typing import Any

    from dlprof.errors import DlprofError
    from dlprof.notebook.files import runs
    from dlprof.notebook.ranks import RanksView, open_ranks
    from dlprof.notebook.time_units import in_ms, in_unit
    from dlprof.notebook.tracing import trace
    from dlprof.notebook.views import ComparisonView, RunView, compare, open_run, view

    open = open_run  # noqa: A001  (dlprof.open, never a bare open)

# Not `open`: a star would hide Python's own.
__all__ = [
    "ComparisonView",
    "DlprofError",
    "RanksView",
    "RunView",
    "__version__",
    "compare",
    "in_ms",
    "in_unit",
    "load_ipython_extension",
    "open_ranks",
    "runs",
    "trace",
    "view",
]
_HOMES = {
    "ComparisonView": "notebook.views",
    "DlprofError": "errors",
    "RanksView": "notebook.ranks",
    "RunView": "notebook.views",
    "compare": "notebook.views",
    "in_ms": "notebook.time_units",
    "in_unit": "notebook.time_units",
    "open": "notebook.views",
    "open_ranks": "notebook.ranks",
    "runs": "notebook.files",
    "trace": "notebook.tracing",
    "view": "notebook.views",
}
"""What notebooks and scripts use, and the module of dlprof that has it."""


def __getattr__(name: str) -> Any:
    """What notebooks use is loaded when it is first asked for: the command line never pays for it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    home = importlib.import_module(f"dlprof.{_HOMES[name]}")
    return getattr(home, "open_run" if name == "open" else name)


def __dir__() -> list[str]:
    """What there is to use, and what every module has."""
    return sorted({*__all__, *_HOMES, *(name for name in globals() if name.startswith("__"))})


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext dlprof`: make `%%dlprof` known to IPython."""
    from dlprof.notebook import magic  # noqa: PLC0415

    shell.register_magics(magic.TraceMagics)
