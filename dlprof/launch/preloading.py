"""Modules that are needed when the script is over, loaded while it runs: nobody waits for them then.

They are loaded on a thread, one by one. The other thread may start a process meanwhile, if that neither imports nor
loads anything between fork and exec: the locks for that may be held, and nobody releases them there.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Sequence

ALONE_S = 0.3
"""Where there is one core alone, a script that is over sooner is not met by it: it would take the core from it."""
_SWITCH_S = 0.0005
"""How long this thread keeps Python for itself while another one, which sees the script's end, waits for it."""


class Preloading:
    """Loads modules, once it is time: at once where another core is there for the script.

    Args:
        modules: Their names, in order; the largest ones, which cannot be interrupted, come first: no script is over
            by then. One that cannot be loaded is passed over: who needs it will say why.
        cores: How many cores there are; None: those that this process may use.
    """

    def __init__(self, modules: Sequence[str] = (), cores: int | None = None) -> None:
        self._modules = modules
        alone = (len(os.sched_getaffinity(0)) if cores is None else cores) < 2
        self._after_ns = ALONE_S * 1e9 if alone else 0.0
        self._thread: threading.Thread | None = None
        self._over = False

    def tick(self, started_ns: int) -> None:
        """Begin, if it is time.

        Args:
            started_ns: When the script was started, on the run's clock.
        """
        if self._thread is None and time.perf_counter_ns() - started_ns > self._after_ns:
            self._thread = threading.Thread(target=self._load, daemon=True)
            self._thread.start()

    def _load(self) -> None:
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            self._load_all()
        finally:
            sys.setswitchinterval(before)

    def _load_all(self) -> None:
        for name in self._modules:
            if self._over:
                return
            with contextlib.suppress(Exception):
                importlib.import_module(name)

    def wait(self) -> None:
        """The script is over: what is still to be loaded is loaded by those who need it."""
        self._over = True
        if self._thread is not None:
            self._thread.join()
