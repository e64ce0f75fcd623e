"""Modules that are needed when the script is over, loaded while it runs: nobody waits for them then.

They are loaded on a thread, one by one. A process is never forked in the middle of one: the child would inherit
locks that nobody releases.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
import time
from collections.abc import Sequence

AFTER_S = 0.3
"""A script that is over sooner is not met by it: loading would delay the moment at which its end is seen."""


class Preloading:
    """Loads modules, once it is time.

    Args:
        modules: Their names, in order. One that cannot be loaded is passed over: who needs it will say why.
    """

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = modules
        self._thread: threading.Thread | None = None
        self._between = threading.Lock()
        self._over = False

    def tick(self, started_ns: int) -> None:
        """Begin, if the script has run for a while.

        Args:
            started_ns: When the script was started, on the run's clock.
        """
        if self._thread is None and time.perf_counter_ns() - started_ns > AFTER_S * 1e9:
            self._thread = threading.Thread(target=self._load, daemon=True)
            self._thread.start()

    def _load(self) -> None:
        for name in self._modules:
            if self._over:
                return
            with self._between, contextlib.suppress(Exception):
                importlib.import_module(name)

    def between(self) -> contextlib.AbstractContextManager[object]:
        """A time in which no module is being loaded, for starting a process."""
        return self._between

    def wait(self) -> None:
        """The script is over: what is still to be loaded is loaded by those who need it."""
        self._over = True
        if self._thread is not None:
            self._thread.join()
