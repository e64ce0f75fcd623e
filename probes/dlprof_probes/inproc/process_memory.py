"""What the process itself holds at a moment, as the kernel counts it: the sampler beside it has moments of its own."""

from os import O_CLOEXEC, O_RDONLY, close, read
from os import open as open_file
from resource import getpagesize

from dlprof_probes.inproc import facts
from dlprof_probes.inproc.clock import now

FILE = "/proc/self/statm"
"""Counters of pages: reading it takes the kernel no walk over them, about 10 us with the opening."""
_ROOM = 256
_STATUS = "/proc/self/status"
_STATUS_ROOM = 8192
_PAGE_BYTES = getpagesize()


def at(begun_ns):
    """Memory of this process now; None where the kernel does not tell: no /proc, no descriptor left.

    Args:
        begun_ns: Begin of the span that it is told of, on the clock of the process.

    Returns:
        dict: `rss_bytes`, what is resident, and `anonymous_bytes`, what of that is neither of a file nor shared: both
        as the sampler reads them of this process (`process_samples`). `after_ns`: when that was, from `begun_ns` on.
        `source`: the file that it was read in.
    """
    pages = facts.quiet(_pages)
    if pages is None or not pages[0]:  # none is resident of a process whose main thread has ended
        return None
    resident, backed = pages
    return {
        "after_ns": now() - begun_ns,
        "rss_bytes": resident * _PAGE_BYTES,
        "anonymous_bytes": (resident - backed) * _PAGE_BYTES,
        "source": FILE,
    }


def peak_bytes():
    """The most that was ever resident of this process, as the kernel keeps it now; None where it does not tell."""
    return facts.quiet(_peak)


def _peak():
    file = open_file(_STATUS, O_RDONLY | O_CLOEXEC)
    try:
        words = read(file, _STATUS_ROOM).partition(b"VmHWM:")[2].split(None, 1)
    finally:
        close(file)
    return int(words[0]) * 1024 if words else None


def _pages():
    """Pages that are resident, and those of them that are of files or shared."""
    file = open_file(FILE, O_RDONLY | O_CLOEXEC)  # anew each time: a descriptor that stays is the program's to close
    try:
        words = read(file, _ROOM).split()
    finally:
        close(file)
    return int(words[1]), int(words[2])
