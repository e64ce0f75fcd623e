"""The exit code of a process whose parent is not ours, and leave to look at it.

Python tells nobody with which code it ends; the C library does, to functions of C (`on_exit`). One that exists writes
a number to a stream (`putw`), and a stream may be a piece of memory (`fmemopen`), here one of a file. Nothing of it is
a descriptor that the program could close or use. A process that a signal ends writes nothing.
"""

import mmap
import os
from os import O_CLOEXEC, O_CREAT, O_EXCL, O_RDWR, close, getpid, write
from os import open as open_

from dlprof_probes.wire import NO_EXIT_CODE

_PR_SET_PTRACER = 0x59616D61
_NOT_BUFFERED = 2
_register_at_fork = getattr(os, "register_at_fork", None)
_FIXED = 0x10
_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE


def watch(path, conductor):
    """Have the exit code written to a file, as far as this system can; and let the conductor's helpers look.

    Args:
        path: The file; it is made.
        conductor: Process number of the dlprof that follows this process.
    """
    try:
        libc = _libc()
        libc.prctl(_PR_SET_PTRACER, conductor, 0, 0, 0)
        _watch(libc, _memory(libc, path))
    except Exception:  # another C library, a disk that is full: the code is not known, then
        pass


def _libc():
    import ctypes

    libc = ctypes.CDLL(None)
    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    libc.prctl.argtypes = [number] + [ctypes.c_ulong] * 4
    libc.on_exit.argtypes = [pointer, pointer]
    libc.fmemopen.restype, libc.fmemopen.argtypes = pointer, [pointer, size, ctypes.c_char_p]
    libc.setvbuf.argtypes = [pointer, pointer, number, size]
    libc.mmap.restype, libc.mmap.argtypes = pointer, [pointer, size, number, number, number, ctypes.c_long]
    return libc


def _memory(libc, path):
    """Address of a piece of memory that is a file; it is there until the process is gone, longer than any object."""
    fd = open_(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    try:
        write(fd, NO_EXIT_CODE)
        address = libc.mmap(None, mmap.PAGESIZE, _READ_WRITE, mmap.MAP_SHARED, fd, 0)
    finally:
        close(fd)
    if address in (None, (1 << 64) - 1):
        raise OSError("no memory")
    return address


def _watch(libc, address):
    import ctypes

    stream = libc.fmemopen(address, len(NO_EXIT_CODE), b"r+")
    if not stream:
        return
    libc.setvbuf(stream, None, _NOT_BUFFERED, 0)
    libc.on_exit(ctypes.cast(libc.putw, ctypes.c_void_p), stream)
    if _register_at_fork is not None:  # a child shares the memory until it has its own: its code is none of ours
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED
        _register_at_fork(after_in_child=lambda: libc.mmap(address, mmap.PAGESIZE, _READ_WRITE, private, -1, 0))
    _tell_of_os_exit(address)


def _tell_of_os_exit(address):
    """`os._exit` goes past all of it."""
    import ctypes

    original, pid = os._exit, getpid()

    def _exit(status):
        if getpid() == pid and isinstance(status, int):
            ctypes.memmove(address, (status & 0xFF).to_bytes(len(NO_EXIT_CODE), "little"), len(NO_EXIT_CODE))
        original(status)

    _exit.__wrapped__ = original
    os._exit = _exit
