"""Who allocates memory: memray records each allocation, from the script's first line to its end, where asked for.

memray lies in a folder of its own, which is on the path only while it is loaded. What came with it is taken out of
`sys.modules` again: a script that loads `rich` gets the one of its own environment.
"""

import importlib
import logging
import sys
from os import stat

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_NAME = "memray"
_BROUGHT = ("rich", "typing_extensions")
"""What memray brings along beside Python's own modules."""
_TOO_LARGE = (
    "What memray recorded reached its limit of %d MB: of memory that was allocated later it is not known who did"
)


class NoHeap(object):
    """Nothing is recorded."""

    def start(self):
        """Nothing."""

    def stop(self):
        """Nothing."""


class Heap(object):
    """A recording.

    Args:
        config: {"package": folder that holds memray, "most_bytes": size of the file at which it ends}.
        path: The file.
        recorder: `Recorder`.
    """

    def __init__(self, config, path, recorder):
        self._package = config["package"]
        self._most_bytes = config["most_bytes"]
        self._path = path
        self._recorder = recorder
        self._tracker = None

    def start(self):
        """Record from now on; where that fails it is noted, and the script runs without."""
        begin = now()
        try:
            memray = self._load()
            memray.set_log_level(logging.CRITICAL)  # it tells of symbols that it corrects, on the script's stderr
            tracker = memray.Tracker(destination=memray.FileDestination(self._path, overwrite=True))
            tracker.__enter__()
            self._tracker = tracker
            self._recorder.on_flush.append(self.look)
        except Exception as error:
            self._recorder.note("heap-failed", "memray cannot record: %s: %s" % (type(error).__name__, error))
        self._recorder.complete(wire.SpanKind.DLPROF, "start recording allocations", begin, now())

    def look(self):
        """End the recording where its file has become too large."""
        try:
            if stat(self._path).st_size > self._most_bytes:
                self.stop()
                self._recorder.note("heap-cut", _TOO_LARGE % (self._most_bytes >> 20))
        except OSError:  # it is gone, with the run folder
            self._look_no_more()

    def stop(self):
        """Record no more; a failure of memray's is noted, and keeps nobody from what comes next."""
        tracker, self._tracker = self._tracker, None
        self._look_no_more()
        if tracker is not None:
            try:
                tracker.__exit__(None, None, None)
            except Exception as error:
                self._recorder.note("heap-failed", "memray cannot end: %s: %s" % (type(error).__name__, error))

    def _look_no_more(self):
        if self.look in self._recorder.on_flush:
            self._recorder.on_flush.remove(self.look)

    def _load(self):
        known = set(sys.modules)
        sys.path.insert(0, self._package)
        try:
            return importlib.import_module(_NAME)
        finally:
            if self._package in sys.path:
                sys.path.remove(self._package)
            for name in set(sys.modules) - known:
                if name.split(".")[0] in _BROUGHT:
                    del sys.modules[name]


def make(config, path, recorder):
    """What records, by its configuration; None or empty: nothing does."""
    return Heap(config, path, recorder) if config else NoHeap()
