"""Imports: how long each takes, attaching hooks when Keras arrives, and line profiling of the user's modules."""

import sys
from sys import _getframe
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import hooks
from dlprof_probes.inproc.clock import now

LONG_NS = 5 * 1000 * 1000
"""Imports inside other imports are recorded when they take longer than this."""


class Imports(object):
    """Wraps the import system's entry for modules that are not loaded yet."""

    def __init__(self, probe, overrides=None):
        self._probe = probe
        self._overrides = overrides
        self._attached = set()
        self._depth = {}
        self._attach = probe.guard(lambda: hooks.attach_new(probe, sys.modules, self._attached))

    def install(self):
        """Begin to watch imports."""
        probe = self._probe
        machinery = sys.modules["_frozen_importlib"]
        enter, leave = probe.guard_enter(self._enter), probe.guard(self._leave)
        probe.replace(machinery, "_find_and_load", lambda f: probe.wrappers.importing(f, enter, leave))
        if probe.lines.on:
            loader = sys.modules["_frozen_importlib_external"].SourceLoader
            select = self._select
            probe.replace(loader, "get_code", lambda f: probe.wrappers.getting_code(f, select))

    def attach(self):
        """Attach to what is loaded already, in a process that did not begin with the probe."""
        self._attach()

    def _enter(self, name):
        if name in sys.modules:  # importlib.import_module of a module that is there
            return None
        ident = get_ident()
        outer = self._depth.get(ident, 0)
        was_on = self._probe.lines.pause()
        span = None if outer else self._probe.recorder.begin(wire.SpanKind.IMPORT, name, _getframe(3))
        token = span, now() if outer else 0, was_on, outer
        self._depth[ident] = outer + 1
        return token

    def _leave(self, token, name):
        if token is None:
            return
        span, start, was_on, outer = token
        self._depth[get_ident()] = outer
        self._probe.lines.pause()  # the module may be one of the user's, whose lines were counted
        if span is None:
            end = now()
            if end - start > LONG_NS:
                self._probe.recorder.complete(wire.SpanKind.IMPORT, name, start, end)
        else:
            self._probe.recorder.end(span)
            self._attach()
            if self._overrides is not None:
                self._overrides.apply()
        self._probe.lines.restore(was_on)

    def _select(self, code, loader, module):
        lines = self._probe.lines
        try:
            if code is not None and lines.selects(getattr(loader, "path", ""), module):
                code = lines.register(code)
                lines.resume()
        except Exception as error:
            self._probe.recorder.note("line-profiling-failed", "%s: %s" % (module, error))
        return code
