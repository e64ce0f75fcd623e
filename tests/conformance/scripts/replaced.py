"""Replaces what others may lean on, as the argument names, then works on."""

import builtins
import gc
import importlib
import io
import json
import os
import sys
import threading
import time

real_open, real_write, real_print = builtins.open, os.write, builtins.print


def fail(*args, **kwargs):
    raise OSError("not for you")


def work():
    """Imports, threads, objects to be collected: what a probe looks at."""
    import csv
    import decimal
    import xml.dom.minidom

    gc.collect()
    thread = threading.Thread(target=sum, args=([1, 2],)) if isinstance(threading.Thread, type) else None
    if thread is not None:
        thread.start()
        thread.join()
    stop = real_clock() + 0.7
    while real_clock() < stop:
        pass


real_clock = time.perf_counter


def json_dumps():
    json.dumps = lambda o: b"bytes, as orjson gives"


def json_loads():
    json.loads = fail


def json_gone():
    for name in [n for n in sys.modules if n.split(".")[0] == "json"]:
        del sys.modules[name]
    json.__dict__.clear()


def clocks():
    for name in ("time", "monotonic", "perf_counter", "perf_counter_ns", "monotonic_ns", "time_ns", "process_time"):
        setattr(time, name, lambda: 3)
    time.clock_gettime = fail


def clocks_none():
    time.perf_counter_ns = time.perf_counter = time.monotonic = time.time = None


def opening():
    builtins.open = io.open = os.open = fail


def writing():
    os.write = os.pwrite = os.fsync = fail


def asking():
    os.getpid = lambda: 1
    threading.current_thread = None
    threading.Thread = None  # they need those themselves
    os.getcwd = fail
    os.fstat = os.stat = os.path.exists = fail


def threads():
    class Mine(threading.Thread):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    threading.Thread = Mine
    threading.Lock = threading.RLock = threading.Event = fail


def printing():
    builtins.print = lambda *args: real_write(1, b"mine: " + repr(args).encode() + b"\n")
    print("x", 1)


def built_in():
    """Names that nearly all code uses, for functions of its own that do the same."""
    for name in ("len", "isinstance", "sorted", "getattr", "min", "repr", "iter", "id"):
        original = getattr(builtins, name)
        setattr(builtins, name, lambda *args, original=original, **kwargs: original(*args, **kwargs))
    import colorsys

    print(colorsys.__name__)


def importing():
    original = builtins.__import__
    seen = []

    def mine(name, *args, **kwargs):
        seen.append(name)
        return original(name, *args, **kwargs)

    builtins.__import__ = mine
    import wave

    print("wave" in seen)


def finders():
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "made_up":
                print("asked for", name)
            return None

    sys.meta_path.insert(0, Finder)
    try:
        import made_up
    except ModuleNotFoundError as error:
        print(error)
    importlib.reload(json)


def modules():
    for name in list(sys.modules):
        if name not in ("sys", "builtins", "__main__", "time", "os") and not name.startswith(("_", "encodings", "importlib")):
            del sys.modules[name]


def collector():
    gc.callbacks.clear()
    gc.freeze()
    gc.disable()
    gc.set_threshold(0)
    print(gc.isenabled(), gc.get_freeze_count() > 0)


def exits():
    import atexit

    atexit._clear()
    print(atexit._ncallbacks())


def exiting():
    original = os._exit
    os._exit = lambda code: original(code + 1)
    os._exit(4)


def environment():
    os.environ.clear()
    print(os.environ)


def frames():
    sys._getframe = fail
    sys.exc_info = fail
    print("no frames")


def hooks():
    sys.excepthook = sys.unraisablehook = threading.excepthook = sys.displayhook = None
    raise ValueError("without a hook")


def paths():
    os.sep = "\\"
    os.path.join = os.path.dirname = os.path.abspath = fail
    sys.path[:] = [one for one in sys.path if "dlprof" not in one]


def output():
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    print("for nobody")
    sys.stdout = sys.__stdout__


def recursion():
    sys.setrecursionlimit(60)
    print(sys.getrecursionlimit())


globals()[sys.argv[1]]()
work()
sys.stdout.write("end\n") if sys.stdout else None
