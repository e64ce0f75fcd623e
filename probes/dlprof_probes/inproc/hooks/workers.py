"""Processes that the program starts: their lines, and of those of `multiprocessing` the names, unseen from outside."""

from os import getpid
from sys import _getframe

MODULE = "multiprocessing.process"


def ready(modules):
    """Whether `multiprocessing` is loaded as far as processes need it."""
    return hasattr(modules[MODULE], "BaseProcess")


def attach(probe, module):
    """Note the name of each process when it has been started."""

    def enter(args):
        return _name(probe, args[0])  # what it is to run is forgotten at the end of `start`

    def leave(name, args):
        pid = getattr(args[0], "pid", None)
        if isinstance(pid, int) and getpid() == probe.recorder.pid:
            probe.recorder.child(pid, name, probe.recorder.user_line(_getframe(3)))

    probe.around(module.BaseProcess, "start", enter, leave)


SUBPROCESS = "subprocess"
MOST_CHILDREN = 1000
"""Of `subprocess`, whose lines are told; a program may start them without end."""


def subprocess_ready(modules):
    """Whether `subprocess` is loaded to its end."""
    return hasattr(modules[SUBPROCESS], "getstatusoutput") and hasattr(modules[SUBPROCESS], "Popen")


def attach_subprocess(probe, module):
    """Note the line that started each process."""
    told = [0]

    def started(_result, args):
        pid = getattr(args[0], "pid", None)
        if isinstance(pid, int) and told[0] < MOST_CHILDREN and getpid() == probe.recorder.pid:
            told[0] += 1
            place = probe.recorder.user_line(_getframe(3))
            if place[0]:
                probe.recorder.child(pid, None, place)

    hook = probe.guard(started, goes_on=True)
    probe.replace(module.Popen, "__init__", lambda f: probe.wrappers.after(f, hook))


def _name(probe, process):
    """What a process is called: by the engine whose worker it is, else by itself."""
    target = getattr(process, "_target", None)
    called = probe.engines.worker_called(getattr(target, "__module__", None))
    code = getattr(target, "__code__", None)
    if called is None or code is None:
        return str(process.name)
    number = _argument(code, getattr(process, "_args", ()), "worker_id")
    return called if number is None else "%s %d" % (called, number)


def _argument(code, args, name):
    """The whole number that a function is given by place for one of its arguments; None: none."""
    names = code.co_varnames[: code.co_argcount]
    place = names.index(name) if name in names else len(args)
    found = args[place] if place < len(args) else None
    return found if isinstance(found, int) else None
