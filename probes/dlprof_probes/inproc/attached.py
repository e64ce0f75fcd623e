"""The probes inside a process that ran before them: begun, and taken out again, while it goes on.

Python (3.14 and later) runs `begin` and `end` between two instructions of the program's main thread, from scripts that
`dlprof attach` names to it (`sys.remote_exec`). Nothing may come out of them: it would be printed by the program.
"""

import ctypes
import sys
from io import open as open_file
from json import load
from os import getpid
from sys import _getframe
from threading import main_thread

from dlprof_probes import wire
from dlprof_probes.inproc import in_place, interrupts, own_files, running
from dlprof_probes.inproc.clock import now

_LOOK_NS = 1000 * 1000 * 1000
"""How often it is looked whether the dlprof that attached is still there."""
_remote_exec = getattr(sys, "remote_exec", None)
_session = None


class Attached(in_place.InPlace):
    """The probes from here on; training that runs already is told as one that begins now.

    Args:
        config: As the conductor writes it for a script, with `conductor` ([process, when it was started]) and `end`,
            the script that ends the look.
    """

    def __init__(self, config):
        super(Attached, self).__init__(config, ())
        self._running = running.Running(self.probe)
        self._running.join(_getframe())
        self._conductor, self._script = tuple(config["conductor"]), config["end"]
        self._looked = now()
        recorder, flush = self.recorder, self.recorder.flush

        def look_and_flush(*args):
            flush(*args)
            self._look()

        recorder.flush = look_and_flush

    def _look(self):
        """End where the dlprof that attached has gone: by the same script, as in the middle of a hook nothing can."""
        if self._script is None or now() - self._looked < _LOOK_NS:
            return
        self._looked = now()
        if started(self._conductor[0]) != self._conductor[1]:
            script, self._script = self._script, None
            _remote_exec(getpid(), script)

    def stop(self):
        """As in `InPlace`."""
        self._script = None
        return self._running.leave() + super(Attached, self).stop()


def begin(path):
    """Begin, as the file says; what came of it is written beside it."""
    global _session
    config = _read(path)
    if config is None:
        return
    try:
        _session = Attached(config)
        _tell(config, {"state": "on"})
    except BaseException as error:
        _tell(config, {"state": "failed", "reason": "%s: %s" % (type(error).__name__, error)})
        _forget()
        _pass_on(error)


def end(path):
    """End, and leave nothing behind; what went wrong with that is written beside the file."""
    global _session
    session, _session = _session, None
    if session is None:
        return
    problems = []
    try:
        problems = session.stop()
    except BaseException as error:
        problems = ["%s: %s" % (type(error).__name__, error)]
        _pass_on(error)
    config = _read(path)
    if config is not None:
        _tell(config, {"state": "over", "problems": problems})
    _forget()


def _read(path):
    """What the file says; None where the one who wrote it has taken it back."""
    try:
        with open_file(path, encoding="utf-8") as source:
            return load(source)
    except (OSError, ValueError):
        return None


def _tell(config, facts):
    try:
        own_files.save(config["told"], wire.json_payload(facts))
    except OSError:  # nobody waits for it any more, or the disk is full
        pass


def _forget():
    """As if nothing of ours had been loaded."""
    for name in [name for name in sys.modules if name.split(".")[0] == "dlprof_probes"]:
        del sys.modules[name]


def _pass_on(error):
    """Raise in the program what its own handler of a signal raised while we were in its way."""
    if interrupts.is_from_handler(error):
        main = ctypes.c_ulong(main_thread().ident)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(type(error)))


def started(pid):
    """When a process was started, in ticks of the kernel since boot; None: there is none."""
    try:
        with open_file("/proc/%d/stat" % pid, "rb") as source:
            return int(source.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None
