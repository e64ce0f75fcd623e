"""Waits for signals: `caught NAME [COUNT]`, `default NAME`, `ignored NAME`, `blocked NAME`, `slow NAME`."""

import os
import signal
import sys
import threading
import time

import stage

how, name = sys.argv[1], sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
base, _, more = name.partition("+")
number = getattr(signal, base) + int(more or 0)
seen = []


def note(signum, frame):
    seen.append(signum)


def caught():
    signal.signal(number, note)
    for wanted in range(1, count + 1):
        stage.ready()
        stage.until(lambda: len(seen) >= wanted)
    time.sleep(0.3)  # one that comes twice has come by now
    print("seen", seen == [number] * count, len(seen))
    sys.exit(10)


def default():
    threading.Timer(0.3, stage.ready).start()  # at which line it is shown does not hang on the moment: it sleeps then
    time.sleep(2.5 if number in (signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH, signal.SIGCONT) else 20)
    print("lived")


def ignored():
    signal.signal(number, signal.SIG_IGN)
    stage.ready()
    stage.wait()
    print("lived")


def blocked():
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    stage.ready()
    print("pending", stage.until(lambda: number in signal.sigpending()))
    print("taken", signal.sigwait([number]) == number)


def slow():
    """Cleans up for longer than a tool may want to wait."""

    def clean(signum, frame):
        print("cleaning", flush=True)
        time.sleep(4)
        print("clean", flush=True)
        os._exit(12)

    signal.signal(number, clean)
    stage.ready()
    time.sleep(20)


def interrupted():
    try:
        stage.ready()
        time.sleep(20)
    except KeyboardInterrupt:
        print("stopped politely")
        sys.exit(9)


def timer():
    """Timers of its own, while code runs."""
    signal.signal(number, note)
    which = {"SIGALRM": signal.ITIMER_REAL, "SIGPROF": signal.ITIMER_PROF, "SIGVTALRM": signal.ITIMER_VIRTUAL}[name]
    signal.setitimer(which, 0.002, 0.002)
    while len(seen) < 50:
        sum(range(1000))
    signal.setitimer(which, 0)
    print("fifty came")


def pipe():
    """Wakes itself by a descriptor, as event loops do."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    signal.signal(number, note)
    stage.ready()
    print("woken by", os.read(reading, 1) == bytes([number]))


globals()[how]()
