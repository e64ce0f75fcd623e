"""All that a script can ask of its process and interpreter, into facts.txt beside it: streams may be closed."""

import fcntl
import gc
import json
import locale
import os
import resource
import signal
import stat
import sys
import threading
import time
import warnings

OURS_MAY_BE_FROM = 200  # descriptors that a tool needs are out of the way of a script's
facts = []


def tell(name, value):
    facts.append("%s: %s" % (name, value))


def kind(number):
    mode = os.fstat(number).st_mode
    names = {stat.S_IFREG: "file", stat.S_IFIFO: "pipe", stat.S_IFCHR: "device", stat.S_IFSOCK: "socket", stat.S_IFDIR: "folder"}
    flags = fcntl.fcntl(number, fcntl.F_GETFL) & (os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK)
    return names[stat.S_IFMT(mode)], os.isatty(number), flags, os.get_inheritable(number)


def numbers():
    found = []
    for number in range(OURS_MAY_BE_FROM):
        try:
            found.append((number, kind(number)))
        except OSError:
            pass
    return found


first = os.open("/dev/null", os.O_RDONLY)
os.close(first)
tell("first free descriptor", first)
for number, what in numbers():
    tell("descriptor %d" % number, what)

for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT_")):
    tell(name, resource.getrlimit(getattr(resource, name)))
for number in sorted(signal.valid_signals()):
    handler = signal.getsignal(number)
    tell("signal %d" % number, getattr(handler, "__name__", handler))
tell("mask", sorted(int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])))
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
for name in ("SigIgn", "SigBlk", "CapEff", "NoNewPrivs", "Seccomp", "Groups", "Uid", "Gid"):
    tell(name, status.get(name, "").strip())
C_LIBRARYS = 3 << 31  # signals 32 and 33 are handled by the C library once there was a second thread
tell("SigCgt", hex(int(status["SigCgt"], 16) & ~C_LIBRARYS))
tell("wakeup", signal.set_wakeup_fd(-1))
tell("timers", [signal.getitimer(n) for n in (0, 1, 2)])

umask = os.umask(0)
os.umask(umask)
tell("umask", oct(umask))
try:
    tell("folder", os.getcwd())
except OSError as error:
    tell("folder", error.strerror)
tell("nice", os.nice(0))
tell("cpus", sorted(os.sched_getaffinity(0)))
tell("scheduler", os.sched_getscheduler(0))
tell("leads its group", os.getpgrp() == os.getpid())
tell("leads its session", os.getsid(0) == os.getpid())
tell("adjusted oom", open("/proc/self/oom_score_adj").read().strip())
tell("dumps", open("/proc/self/coredump_filter").read().strip())
try:
    terminal = os.open("/dev/tty", os.O_RDWR)
    tell("in the foreground", os.tcgetpgrp(terminal) == os.getpgrp())
    tell("size", tuple(os.get_terminal_size(terminal)))
    os.close(terminal)
except OSError as error:
    tell("terminal", error.strerror)

tell("arguments", sys.argv)
tell("original arguments", getattr(sys, "orig_argv", None))
tell("path", sys.path)
tell("flags", sys.flags)
tell("options", (sys.warnoptions, sys._xoptions))
tell("executable", (sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix))
tell("hooks", [h is o for h, o in ((sys.excepthook, sys.__excepthook__), (sys.displayhook, sys.__displayhook__))])
tell("tracing", (sys.getprofile(), sys.getrecursionlimit(), sys.getswitchinterval(), sys.dont_write_bytecode))
tell("collector", (gc.isenabled(), gc.get_threshold(), gc.get_debug()))
tell("threads", [thread.name for thread in threading.enumerate()])
for stream in (sys.stdin, sys.stdout, sys.stderr):
    if stream is None:
        tell("stream", None)
    else:
        how = (stream.encoding, stream.errors, stream.line_buffering, getattr(stream, "write_through", None))
        tell("stream %s" % stream.name, (stream.mode, how, stream.isatty(), stream.fileno(), type(stream).__name__))
tell("encodings", (sys.getdefaultencoding(), sys.getfilesystemencoding(), locale.getpreferredencoding(False)))
tell("locale", [locale.setlocale(n) for n in (locale.LC_CTYPE, locale.LC_NUMERIC, locale.LC_TIME)])
tell("warnings", [(f[0], getattr(f[1], "pattern", f[1]), f[2].__name__, f[4]) for f in warnings.filters])
tell("asserts", __debug__)
tell("docstring", __doc__ is not None)
tell("zone", time.tzname)
tell("hash", hash("a") if os.environ.get("PYTHONHASHSEED") else "random")
tell("names", sorted(globals()))
tell("main", (__name__, __file__, __spec__ and (__spec__.name, __spec__.origin, __spec__.parent), __package__, getattr(__builtins__, "__name__", None), type(__loader__).__name__))
tell("same main", sys.modules["__main__"].__dict__ is globals())
tell("json of Python's", json.__file__.startswith(sys.base_prefix))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts.txt"), "w", encoding="utf-8", errors="backslashreplace") as file:
    file.write("\n".join(facts) + "\n")
for stream in (sys.stdout, sys.stderr):
    if stream is not None:
        print("said", file=stream, flush=True)
