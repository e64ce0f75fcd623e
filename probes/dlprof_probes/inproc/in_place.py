"""The probes inside a process that was there before them and goes on after them: a notebook's.

Keras and the engine may be loaded already: the hooks replace methods of classes and functions of modules, which
works at any time. What they cannot reach are functions that the program has taken out of their modules before
(`from keras.utils import to_categorical`). At the end all that was replaced is put back.
"""

import sys

from dlprof_probes.inproc import session, tracebacks
from dlprof_probes.inproc.clock import now


class InPlace(session.Session):
    """The probes around one piece of code of a running program; they work from here on.

    Args:
        config: As the conductor writes it for a script; `script` names the piece of code.
        functions: Functions that are there already, whose lines are counted too.
    """

    def __init__(self, config, functions):
        self.probe = None
        try:
            self._start(config, functions)
        except BaseException:
            if self.probe is not None:
                self.probe.end()
            raise

    def _start(self, config, functions):
        occupied = config["lines"] is not None and sys.gettrace() is not None
        super(InPlace, self).__init__(dict(config, lines=None) if occupied else config, config["script"], now())
        self.probe.goes_on = True
        if occupied:
            reason = "a debugger, or what measures coverage, has the trace function of this process"
            self.recorder.probe("lines", "unavailable", reason)
        self.imports.attach()
        tracebacks.install(self.probe.patches)
        if self.lines.on:
            self.lines.use_package()
            for function in functions:
                self._count_function(function)
            self.lines.start()
        self.start_script()

    def counted(self, code):
        """`code` with its lines counted, to be run in its stead."""
        if not self.lines.on:
            return code
        was_on = self.lines.pause()
        try:
            if code.co_name.startswith("<cell line"):  # so IPython 8 calls what is a module everywhere else
                code = code.replace(co_name="<module>")
            code = self.lines.register(code)
        except Exception as error:
            self.recorder.probe("lines", "failed", "%s: %s" % (type(error).__name__, error))
            self.lines.on = False
        self.lines.restore(was_on)
        return code

    def _count_function(self, function):
        code = function.__code__
        try:
            function.__code__ = self.lines.register(code)
            self.probe.patches.on_undo(lambda: setattr(function, "__code__", code))
        except Exception as error:
            self.recorder.note("line-profiling-failed", "%s: %s" % (function.__name__, error))

    def stop(self):
        """Write what is known, and leave the process as it was; returns what went wrong with that."""
        problems = []
        for step in (self.end_script, self.finish, self.lines.stop, self.probe.end, self.recorder.close):
            try:
                step()
            except Exception as error:
                problems.append("%s: %s" % (type(error).__name__, error))
        return problems
