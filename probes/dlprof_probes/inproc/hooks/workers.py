"""Processes that `multiprocessing` starts: their names, which nobody can see from outside."""

from os import getpid

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
            probe.recorder.child(pid, name)

    probe.around(module.BaseProcess, "start", enter, leave)


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
