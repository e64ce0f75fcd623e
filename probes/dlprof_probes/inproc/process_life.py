"""The ends of a process that Python does not announce, and its doubles: `os._exit`, `os.exec*`, forks."""

import atexit
import functools
import os
import threading
import weakref
from os import X_OK, access, fsdecode, getpid
from signal import ITIMER_PROF, ITIMER_REAL, ITIMER_VIRTUAL, getitimer, setitimer

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_REPLACED = (
    "The program put another one in its own place (%s): of that one only what is measured from outside is known."
)


_LONGER_S = 0.25
"""So much longer, at most, Python may take to end for the modules of dlprof."""

_AT_ONCE_S = 0.002
"""Python takes longer than this to end by itself: a timer that is due by then ends the process without dlprof, too."""


def watch(session):
    """Have `session` told of all of them, until its probe takes its hooks back."""
    _watch_exits(session)
    _watch_forks(session)
    _watch_execs(session)


def _watch_exits(session):
    patches = session.probe.patches
    atexit.register(put_off_timers)
    patches.on_undo(lambda: atexit.unregister(put_off_timers))
    atexit.register(session.finish)
    patches.on_undo(lambda: atexit.unregister(session.finish))

    def make(original):
        def _exit(status):
            try:
                session.finish()
            finally:
                original(status)

        return _exit

    patches.replace(os, "_exit", make)


def put_off_timers():
    """Let timers of the script's that still run ring later, by what Python's end takes longer here.

    Python takes handlers of signals back before it takes modules apart: from then on a timer ends the process.
    """
    for timer in (ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF):
        left, interval = getitimer(timer)
        if left > _AT_ONCE_S:
            setitimer(timer, left + _LONGER_S, interval)


def at_shutdown(session):
    """Tell `session` that the script is over when Python begins to end: it waits for threads first of all."""
    ended = _if_alive(weakref.ref(session), "end_script")

    session.probe.patches.replace(threading, "_shutdown", lambda original: _one_after_the_other(ended, original))


class _Call(functools.partial):  # type: ignore[type-arg]
    """A function that is called by looking at an attribute."""

    called = property(functools.partial.__call__)


def _one_after_the_other(first, second):
    """Both as one function of C, which takes no notice of arguments.

    What comes out of the second one while it waits, as of Ctrl-C, has no frame of ours in its traceback then.
    """
    return functools.partial("{0.called}{1.called}".format, _Call(first), _Call(second))


def _watch_forks(session):
    forked = _if_alive(weakref.ref(session), "forked")
    if hasattr(os, "register_at_fork"):
        before, after = (_if_alive(weakref.ref(session), name) for name in ("before_fork", "after_fork"))
        os.register_at_fork(before=before, after_in_child=forked, after_in_parent=after)
        return
    for name in ("fork", "forkpty"):  # Python 3.6

        def make(original):
            def fork():
                result = original()
                if result == 0 or (isinstance(result, tuple) and result[0] == 0):
                    forked()
                return result

            return fork

        session.probe.patches.replace(os, name, make)


def _watch_execs(session):
    """`os.execl`, `os.execvp` and the others all end in these two."""
    probe = session.probe
    told = Execs(session)
    enter, failed = probe.guard(told.begins), probe.guard(told.failed)
    for name in ("execv", "execve"):
        original = vars(os).get(name)
        probe.replace(os, name, lambda f: probe.wrappers.not_returning(f, enter, failed))
        if original in os.supports_fd:
            os.supports_fd.add(vars(os)[name])


class Execs(object):
    """Ends the stream where the program puts another one in its own place."""

    def __init__(self, session):
        self._session = session

    def begins(self, args):
        """Another program is about to run in this process; returns whether that was noted."""
        recorder = self._session.recorder
        path = args[0] if args else None
        if getpid() != recorder.pid or not (isinstance(path, int) or access(path, X_OK)):
            return False  # os.execvp tries each folder of PATH
        self._session.lines.save()
        time_ns = now()
        name = str(path) if isinstance(path, int) else fsdecode(path)
        recorder.meta({"exec": {"time_ns": time_ns, "program": name}})
        recorder.note("program-replaced", _REPLACED % name)
        recorder.complete(wire.SpanKind.DLPROF, "exec", time_ns, now())
        recorder.flush()
        return True

    def failed(self, noted):
        """It could not: this program goes on."""
        if noted:
            recorder = self._session.recorder
            recorder.meta({"exec": None})
            recorder.note("program-not-replaced", "That failed: the program went on, and so did the measurement.")


def _if_alive(reference, method):
    """A function that calls the method of what `reference` points to, as long as that is there."""

    def call():
        found = reference()
        if found is not None:
            getattr(found, method)()

    return call
