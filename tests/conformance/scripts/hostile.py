"""Is hostile to whoever looks at it, as the argument names, then works on."""

import builtins
import ctypes
import os
import resource
import struct
import sys
import threading
import time

write, clock, getpid = os.write, time.perf_counter, os.getpid


def work():
    """Imports, threads, objects to be collected, lines that are counted: what a probe looks at."""
    import csv
    import decimal

    thread = threading.Thread(target=spin, args=(0.1,))
    thread.start()
    thread.join()
    spin(0.6)


def spin(seconds):
    total, stop = 0, clock() + seconds
    while clock() < stop:
        total += 1
    return total


def plain():
    pass


def builtins_none():
    """Names that nearly all code uses stand for nothing."""
    spin(0.3)
    for name in ("len", "isinstance", "getattr", "setattr", "sorted", "min", "max", "int", "str", "dict", "list", "range",
                 "tuple", "set", "type", "print", "open", "iter", "next", "repr", "id", "vars", "hasattr", "callable"):
        builtins.__dict__[name] = None
    spin(0.6)
    write(1, b"worked on\n")


def exceptions_none():
    for name in ("Exception", "BaseException", "OSError", "KeyError", "AttributeError", "ValueError", "TypeError", "ImportError"):
        builtins.__dict__[name] = None
    spin(0.7)


def no_import():
    builtins.__import__ = None
    spin(0.7)


def paths_cleared():
    work()
    sys.path.clear()
    sys.meta_path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()
    try:
        import wave
    except ImportError as error:
        print(error)


def modules_cleared():
    """All but what Python itself cannot be without."""
    for name in list(sys.modules):
        if name not in ("sys", "builtins", "__main__"):
            del sys.modules[name]


def own_environ():
    import subprocess

    os.environ = {"MINE": "1", "PATH": os.environ["PATH"]}
    print(subprocess.run(["sh", "-c", "echo $MINE $PYTHONPATH"], env=os.environ, stdout=subprocess.PIPE).stdout)
    print(sorted(os.environ))


def no_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def few_processes():
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


def umask():
    os.umask(0o777)
    os.close(os.open("mine", os.O_CREAT | os.O_WRONLY))


def audited():
    """Refuses whoever opens, starts or looks at anything."""
    me = threading.get_ident()

    def hook(event, arguments):
        if armed and event.split(".")[0] in ("open", "os", "subprocess", "shutil", "ctypes", "gc", "sys", "fcntl", "mmap"):
            raise RuntimeError("refused")

    import csv
    armed = []
    sys.addaudithook(hook)
    armed.append(me)
    spin(0.7)
    write(1, b"audited\n")


def dumps_later():
    """The report of a watchdog, and its end of the program."""
    import faulthandler

    faulthandler.dump_traceback_later(0.3, exit=True)
    spin(5)


def filtered():
    """A filter of system calls: no file is opened, renamed or removed any more, nothing traced."""
    work()
    refused = (2, 85, 257, 437, 82, 264, 316, 87, 263, 83, 258, 101, 310, 311)
    filters = [struct.pack("HBBI", 0x20, 0, 0, 0)]  # the number of the call
    for number in refused:
        filters += [struct.pack("HBBI", 0x15, 0, 1, number), struct.pack("HBBI", 0x06, 0, 0, 0x00050001)]
    filters.append(struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000))
    code = ctypes.create_string_buffer(b"".join(filters))
    program = struct.pack("HxxxxxxQ", len(filters), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    libc.prctl(38, 1, 0, 0, 0)
    print(libc.prctl(22, 2, program, 0, 0), flush=True)
    try:
        open("/etc/passwd")
    except OSError as error:
        print(error.strerror)
    spin(0.6)


def own_namespace():
    """Makes mounts of its own, and has no /proc any more."""
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.unshare(0x20000), libc.mount(None, b"/", None, 0x44000, None), libc.mount(b"x", b"/proc", b"tmpfs", 0, None))
    print(os.listdir("/proc"))


def line_profiled():
    """Another user of what dlprof counts lines with."""
    import io

    from line_profiler import LineProfiler

    def counted(n):
        total = 0
        for i in range(n):
            total += i
        return total

    profiler = LineProfiler()
    profiler(counted)(30)
    out = io.StringIO()
    profiler.print_stats(out)
    print([line.split()[:2] for line in out.getvalue().splitlines() if "total +=" in line])
    first = counted.__code__.co_firstlineno
    (stats,) = profiler.get_stats().timings.values()
    print([(line - first, hits) for line, hits, _ in stats])


def covered():
    """Measured by coverage, which sets a trace function of C."""
    import coverage

    measured = coverage.Coverage(data_file=None, include=[__file__])
    measured.start()
    spin(0.1)
    threading.Thread(target=spin, args=(0.1,)).start()
    measured.stop()
    _, lines, missing, _ = measured.analysis(__file__)
    first = spin.__code__.co_firstlineno
    print([number - first for number in lines if first <= number < first + 5 and number not in missing])


def c_profiled():
    """All of it, threads too."""
    import cProfile
    import pstats

    profile = cProfile.Profile()
    profile.enable()
    work()
    profile.disable()
    names = {key[2] for key in pstats.Stats(profile).stats}
    print("work" in names, "spin" in names, [name for name in names if "dlprof" in name])


def broken_in():
    """Stops at a breakpoint, and goes on from there."""
    value = 1
    breakpoint()
    print("value", value)


def monkey_threading():
    threading._shutdown = None
    threading.settrace(lambda *_: None)
    threading.setprofile(lambda *_: None)


def all_signals_blocked():
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    for number in (1, 2, 3, 10, 12, 13, 14, 15, 17):
        signal.signal(number, signal.SIG_IGN)


def interrupted_while_joining():
    """Ctrl-C, while Python waits for a thread at its end."""
    import signal

    def later():
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)

    threading.Thread(target=later).start()


def many_frames():
    """Ends deep in a recursion, without leaving it."""
    sys.setrecursionlimit(50)

    def deeper(n):
        if n == 0:
            sys.exit(6)
        deeper(n - 1)

    deeper(20)


def frozen():
    import gc

    work()
    gc.freeze()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    print(len(gc.garbage) < 1000)


how = sys.argv[1]
globals()[how]()
if how in ("plain", "umask", "no_descriptors", "few_processes", "own_environ", "own_namespace", "all_signals_blocked", "frozen"):
    spin(0.7) if how == "no_descriptors" else work()
write(1, b"end\n")
