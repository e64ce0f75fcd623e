"""Closes and uses descriptors in the way that the argument names; what it writes is its own."""

import os
import resource
import socket
import subprocess
import sys
import time

how = sys.argv[1]


def import_much():
    """Whatever writes about imports has something to write."""
    import csv
    import decimal
    import json.tool
    import xml.dom.minidom


def write_and_let_others_write(names):
    files = [open(name, "wb", buffering=0) for name in names]
    for file in files:
        file.write(b"A" * 100)
    import_much()
    time.sleep(0.8)  # longer than a stream waits before it is written
    import statistics
    for file in files:
        file.write(b"B" * 100)


def close_range():
    os.closerange(3, 4096)
    write_and_let_others_write(["file%02d.bin" % n for n in range(40)])
    print("done")


def close_high():
    """Only what a script has not opened itself."""
    kept = open("kept.bin", "wb", buffering=0)
    os.closerange(kept.fileno() + 1, 65536)
    write_and_let_others_write(["other.bin"])
    print("done", flush=True)


def close_all_at_once():
    """As `close_range(2)` of C does."""
    import ctypes
    ctypes.CDLL(None).syscall(436, 3, 2**31 - 1, 0)
    write_and_let_others_write(["file.bin"])
    print("done", flush=True)


def take_over():
    """Puts a file of its own at every number that somebody has."""
    file = os.open("taken.bin", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != file:
            os.dup2(file, int(name))
    os.write(file, b"A")
    import_much()
    time.sleep(0.8)
    os.write(file, b"B")
    print("done", flush=True)


def streams():
    for number in (0, 1, 2):
        os.close(number)
    write_and_let_others_write(["first", "second", "third"])
    os._exit(3)


def exhaust():
    """All that the limit allows are its own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    found = []
    try:
        while True:
            found.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print(error.strerror, len(found), found[-1])
    for number in found[:8]:
        os.close(number)
    import_much()
    print("done")


def lower_limit():
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    import_much()
    time.sleep(0.8)
    with open("small.txt", "w") as file:
        file.write("x")
    print(open("small.txt").read())


def inherit():
    """Children get what they are given."""
    reading, writing = os.pipe()
    child = "import os; os.write(%d, b'from the child')" % writing
    subprocess.run([sys.executable, "-c", child], pass_fds=[writing])
    print(os.read(reading, 100))
    os.set_inheritable(writing, True)
    subprocess.run([sys.executable, "-c", child], close_fds=False)
    print(os.read(reading, 100))
    listed = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])"
    print(subprocess.run([sys.executable, "-c", listed], close_fds=False, stdout=subprocess.PIPE).stdout)


def redirect():
    """Standard output goes to a file for a while, and back."""
    sys.stdout.flush()
    kept = os.dup(1)
    file = os.open("captured.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    print("captured", flush=True)
    os.system("echo from a shell")
    os.dup2(kept, 1)
    os.close(kept)
    print("back")


def sockets():
    one, two = socket.socketpair()
    one.sendall(b"x" * 1000)
    print(one.fileno(), two.fileno(), len(two.recv(2000)))


def inherited():
    """Uses what it was given: 3 to be written, 4 to be read."""
    for number, text in ((3, b"metrics\n"), (9, b"more\n")):
        try:
            print(os.write(number, text))
        except OSError as error:
            print(number, error.strerror)
    try:
        print(os.read(4, 100))
    except OSError as error:
        print(4, error.strerror)


globals()[how]()
