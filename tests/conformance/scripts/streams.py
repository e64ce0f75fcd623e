"""Reads and writes streams, as the argument names."""

import os
import sys


def read():
    print(repr(sys.stdin.read()))


def ask():
    print(input("name? "), input())
    print(sys.stdin.readline())
    input()


def much():
    line = "x" * 1023 + "\n"
    for _ in range(5 * 1024):
        sys.stdout.write(line)
    sys.stderr.write("done\n")


def binary():
    sys.stdout.buffer.write(bytes(range(256)))
    sys.stdout.flush()
    os.write(1, b"\xff\r\n")


def odd_text():
    print("ä ü \u20ac")
    sys.stderr.write("\udcff\n")
    print("\udcff")


def both():
    for n in range(50):
        print("out", n)
        print("err", n, file=sys.stderr)
        os.write(2, b"raw\n")


def no_line_end():
    sys.stdout.write("no line end")
    sys.stderr.write("here neither")
    sys.exit(1)


def to_nobody():
    try:
        for n in range(20000):
            print("line", n)
        sys.stdout.flush()
    except OSError as error:
        os.write(2, ("%s %s\n" % (type(error).__name__, error.strerror)).encode())
        os._exit(7)


def to_nobody_unhandled():
    for n in range(20000):
        print("line", n)


def errors_to_nobody():
    for n in range(2000):
        sys.stderr.write("line %d\n" % n)
    print("wrote")


def reopened():
    sys.stdout.reconfigure(encoding="ascii", errors="xmlcharrefreplace", line_buffering=True)
    print("\u20ac")
    with open(1, "w", closefd=False) as other:
        other.write("another\n")


def colours():
    sys.stdout.write("\x1b[31mred\x1b[0m\r50 %\r100 %\n\a")


def keys():
    import termios
    import tty

    before = termios.tcgetattr(0)
    tty.setcbreak(0)
    import stage

    stage.ready()
    print("key", os.read(0, 1))
    termios.tcsetattr(0, termios.TCSANOW, before)
    print(os.get_terminal_size())


globals()[sys.argv[1]]()
