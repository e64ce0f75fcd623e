"""What the tracers of all engines have in common."""

import os
import re
import sys
from glob import escape, glob
from os import close, dup, dup2, write

_CHATTER = re.compile(
    r"profiler_session\.cc|save_profile\.cc|session_manager\.cc|Profiler session|USDT:|kineto|cupti|profiler\.cc"
    r"|plugin_tracer|DeviceProperties\.cpp"
    r"|ActivityProfiler|output_json\.cpp|External init callback must run in same thread"
    r"|\[W .*profiler|rocprofiler|graph_executor\.cc:\d+: Subgraph backend",
    re.IGNORECASE,
)


class Tracer(object):
    """Switches an engine's own tracer on and off; one per process, for one window after the other.

    All methods may raise: the loop goes on, and the run's health says why there are no kernels.

    Attributes:
        gpu: Whether it may trace the GPU; set from outside.
        whole_loops: Whether its windows are whole loops, with what is compiled in them; set from outside.
        whole_run: Its engine only times all calls of a process: it has no `start`, and `stop` writes at the end.
        of_thread: Its state is of the thread that starts it: that one stops it, and must not end before.
        memory_bytes: What it may take for a moment: where less is left, it is not started.
        zero_ns: Zero of the clock of its traces, on the run's clock (ns); None: their clock is the wall clock.
    """

    gpu = True
    whole_loops = False
    whole_run = False
    of_thread = False
    memory_bytes = 1000 * 1000 * 1000
    zero_ns = None

    def start(self, folder):
        """Begin to trace into files below `folder`, which is there and empty."""
        raise NotImplementedError

    def stop(self):
        """End the trace, whatever `start` came to, and leave the engine as it was.

        Returns:
            list: Paths of the files that were written, below the folder. Of a `whole_run`, whether there is anything.

        Raises:
            RuntimeError: There is nothing to be written.
        """
        raise NotImplementedError

    def drain(self):
        """Wait until all that was dispatched has been executed, so that a window holds whole steps."""

    def annotation(self, text):
        """Begin a named range; returns a function that ends it, or None where ranges are of no use."""
        return


class quiet(object):  # noqa: N801
    """Keeps what tracers say of themselves on standard error from the user's own output.

    Whatever else is written meanwhile, by other threads, comes right after.
    """

    def __enter__(self):
        self._saved = self._file = None
        try:
            from tempfile import TemporaryFile  # it loads much that the program may not need

            sys.stderr.flush()
            self._file = TemporaryFile()
            self._saved = dup(2)
            dup2(self._file.fileno(), 2)
        except (OSError, AttributeError, ValueError):
            self._restore()

    def __exit__(self, *_):
        if self._saved is None:
            return
        try:
            sys.stderr.flush()
        except (OSError, AttributeError, ValueError):
            pass
        self._restore()
        try:
            self._file.seek(0)
            for line in self._file.read().splitlines(True):
                if not _CHATTER.search(line.decode("utf-8", "replace")):
                    write(2, line)
            self._file.close()
        except OSError:
            pass

    def _restore(self):
        if self._saved is not None:
            dup2(self._saved, 2)
            close(self._saved)
            self._saved = None


def xplanes(folder):
    """The files that XLA's profiler wrote below a folder, in the layout of TensorBoard.

    Raises:
        RuntimeError: There are none.
    """
    paths = glob(os.path.join(escape(folder), "plugins", "profile", "*", "*.xplane.pb"))
    if not paths:
        raise RuntimeError("the profiler wrote no trace")
    return paths
