"""dlprof: deep profiling and tracing of Keras training, on every backend.

This package is the conductor and the analyser. What runs inside and beside the traced
process lives in the separate package `dlprof_probes` (folder `probes/`).

In notebooks: `dlprof.open("last")`, `dlprof.compare(a, b)` and `%load_ext dlprof` (`dlprof help notebook`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlprof.notebook.views import compare, open_run

    open = open_run  # noqa: A001  (dlprof.open, never a bare open)

__version__ = "0.1.0.dev0"
__all__ = ["__version__", "compare", "load_ipython_extension"]  # not `open`: a star would hide Python's own


def __getattr__(name: str) -> Any:
    """What notebooks use is loaded when it is first asked for: the command line never pays for it."""
    if name not in ("open", "compare"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dlprof.notebook import views  # noqa: PLC0415

    return views.open_run if name == "open" else views.compare


def __dir__() -> list[str]:
    return sorted({*globals(), "compare", "open"})


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext dlprof`: make `%%dlprof` known to IPython."""
    from dlprof.notebook import magic  # noqa: PLC0415

    shell.register_magics(magic.TraceMagics)
