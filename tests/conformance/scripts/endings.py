"""Ends in the way that the argument names."""

import atexit
import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
import warnings


def exit_with(value):
    return lambda: sys.exit(value)


def chained():
    try:
        {}["key"]
    except KeyError as error:
        raise ValueError("second") from error


def unprintable():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    raise Odd


def killed_by(number):
    def end():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        time.sleep(5)

    return end


def in_thread():
    thread = threading.Thread(target=lambda: 1 / 0, name="worker")
    thread.start()
    thread.join()
    print("lived")


def exit_in_thread():
    thread = threading.Thread(target=sys.exit, args=(3,))
    thread.start()
    thread.join()
    print("lived")


def late_thread():
    threading.Thread(target=lambda: (time.sleep(0.2), print("late", flush=True))).start()
    raise SystemExit(4)


def daemon_thread():
    threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
    print("main is over")


def at_exit():
    atexit.register(print, "registered first, called last")
    atexit.register(lambda: 1 / 0)
    atexit.register(lambda: os.write(1, b"in the middle\n"))
    sys.exit(6)


def exit_at_exit():
    atexit.register(os._exit, 9)
    print("main", flush=True)


def finaliser():
    class Noisy:
        def __del__(self):
            print("gone")
            raise ValueError("in a finaliser")

    globals()["kept"] = Noisy()


def own_hook():
    def hook(kind, value, trace):
        depth = 0
        while trace:
            depth, trace = depth + 1, trace.tb_next
        print("hook", kind.__name__, value, depth)

    sys.excepthook = hook
    raise LookupError("for the hook")


def failing_hook():
    sys.excepthook = lambda *_: 1 / 0
    raise LookupError("for the hook")


def thread_hook():
    threading.excepthook = lambda told: print("hook", told.exc_type.__name__)
    in_thread()


def group():
    raise ExceptionGroup("several", [ValueError(1), ExceptionGroup("inner", [TypeError("x")])])  # noqa: F821


def noted():
    error = ValueError("with notes")
    error.add_note("first note")
    raise error


def deep():
    def down(n):
        return down(n + 1)

    down(0)


def memory():
    raise MemoryError


def hard_fault():
    faulthandler.enable()
    ctypes.string_at(0)


def unflushed():
    sys.stdout.write("not flushed")
    os._exit(5)


def in_class():
    class Broken:
        value = undefined_name  # noqa: F821


def in_comprehension():
    return [1 // (n - 2) for n in range(4)]


def in_exec():
    exec(compile("x = 1\nraise OSError(2, 'of text', 'file')", "<text>", "exec"))


def in_generator():
    def numbers():
        yield 1
        raise StopIteration("badly")

    list(numbers())


def warned():
    warnings.warn("here")
    warnings.warn("old", DeprecationWarning)
    warnings.warn("above", stacklevel=2)
    warnings.warn("resource", ResourceWarning)


def system_exit_subclass():
    class Mine(SystemExit):
        pass

    raise Mine(11)


def closed_out():
    sys.stdout.close()
    sys.stderr.write("still here\n")


def interrupt_in_finally():
    try:
        raise KeyboardInterrupt
    finally:
        print("cleaned")


def generator_exit():
    raise GeneratorExit


def replaced_exit():
    sys.exit = lambda code=0: print("not", code)
    sys.exit(3)
    print("went on")


def main_thread_exits():
    def later():
        threading.main_thread().join()
        print("after main", flush=True)

    threading.Thread(target=later).start()


def gone_main():
    del sys.modules["__main__"]
    print("without a main module")


def unraisable():
    sys.unraisablehook = lambda told: print("unraisable", told.exc_type.__name__)
    finaliser()


WAYS = {
    "exit-0": exit_with(0), "exit-none": exit_with(None), "exit-3": exit_with(3), "exit-300": exit_with(300),
    "exit--1": exit_with(-1), "exit-true": exit_with(True), "exit-text": exit_with("a message"), "exit-list": exit_with([1, 2]),
    "exit-float": exit_with(1.5), "exit-unicode": exit_with("mess\u00e4ge"), "os-exit": lambda: os._exit(7), "unflushed": unflushed,
    "abort": os.abort, "segfault": lambda: ctypes.string_at(0), "faulthandler": hard_fault, "chained": chained,
    "unprintable": unprintable, "thread": in_thread, "exit-in-thread": exit_in_thread, "late-thread": late_thread,
    "daemon-thread": daemon_thread, "atexit": at_exit, "exit-at-exit": exit_at_exit, "finaliser": finaliser, "hook": own_hook,
    "failing-hook": failing_hook, "thread-hook": thread_hook, "group": group, "notes": noted, "recursion": deep,
    "memory": memory, "class": in_class, "comprehension": in_comprehension, "exec": in_exec, "generator": in_generator,
    "warnings": warned, "exit-subclass": system_exit_subclass, "closed-out": closed_out, "interrupt": interrupt_in_finally,
    "generator-exit": generator_exit, "replaced-exit": replaced_exit, "main-thread-exits": main_thread_exits,
    "gone-main": gone_main, "unraisable": unraisable,
}
for name in ("SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGALRM", "SIGPIPE", "SIGSTKFLT"):
    WAYS[name] = killed_by(getattr(signal, name))

if __name__ == "__main__":
    print("about to end:", sys.argv[1], flush=True)
    WAYS[sys.argv[1]]()
