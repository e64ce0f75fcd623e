"""The raw stream (`wire.py`) of a process: records wait in memory, and are written by whoever asks for it.

It never raises into the program: when writing fails (a full disk), it goes silent and leaves the reason in a status
file whose space was reserved beforehand.
"""

import collections
import itertools
import threading
from os import getpid
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import interrupts, own_files
from dlprof_probes.inproc.clock import now

STRINGS_AT_MOST = 65536
STREAM_BYTES_AT_MOST = 64 << 20
"""Above this size the steps of one record are doubled; at eight times this size all but spans stops."""
LAST_WAIT_S = 1.0
"""For how long the end waits for another thread that writes."""


class Stream(object):
    """A file of records, and those that wait for it.

    Attributes:
        pid: The process that writes; a forked child must not.
        failed: Why nothing is written any more; None: it is.
        write_ns: Time that writing took (ns).
        merge: Steps of one record: more in a very long run.
        dropped: Names that were too many.
        unspoken: Facts that JSON cannot say.
        on_flush: What is called behind each writing, on the thread that wrote.

    Args:
        path: File of the stream; it must not exist.
        status_path: File of fixed size, made beforehand, that takes the reason of a failure.
        flush_ns: How long records wait (ns).
    """

    def __init__(self, path, status_path, flush_ns):
        self.pid = getpid()
        self.failed = None
        self.write_ns = 0
        self.merge = 1
        self.dropped = 0
        self.unspoken = 0
        self.on_flush = []
        self._status_path = status_path
        self._flush_ns = flush_ns
        self._queue = collections.deque()
        self._strings = {}
        # Counters of C, and no lock around them: a signal's handler may come in here again, on the same thread.
        self._string_numbers = itertools.count(1)
        self._writer = None
        self._last = False
        self._writing = threading.Lock()
        self._last_flush = now()
        self._file = own_files.OwnFile(path)
        self._queue.append(wire.MAGIC + bytes(bytearray([wire.VERSION])))
        self.flush()

    def string(self, text):
        """The number of `text` in the stream; 0 for empty text."""
        if not text:
            return 0
        number = self._strings.get(text)
        if number is None:
            number = self._new_string(text)
        return number

    def _new_string(self, text):
        if len(self._strings) >= STRINGS_AT_MOST:
            self.dropped += 1
            return 0
        # Two threads may each give it a number: both are right.
        number = next(self._string_numbers)
        self._add(wire.Record.STRING, wire.STRING_HEAD.pack(number) + wire.text_payload(text))
        self._strings[text] = number
        return number

    def _add(self, kind, payload):
        self._queue.append(wire.record(kind, payload))

    def _add_facts(self, kind, facts, head=b""):
        """Add a record of JSON."""
        payload = self._in_json(facts)
        if payload is not None:
            self._add(kind, head + payload)

    def _in_json(self, facts):
        """Facts as JSON; those that it cannot say are counted, and None."""
        try:
            return wire.json_payload(facts)
        except Exception as error:  # a `__str__` of the program's own, a circle
            if interrupts.is_from_handler(error):
                raise
            self.unspoken += 1
            return None

    def flush(self, time_ns=None):
        """Write what waits; another thread that writes already takes it along."""
        started = now()
        self._last_flush = started if time_ns is None else time_ns
        if self.failed or getpid() != self.pid:
            self._queue.clear()  # a forked child must not write into its parent's stream
            return
        ident = get_ident()
        if self._writer == ident or not self._writing.acquire(False):
            return
        try:
            self._writer = ident
            self._write()
        finally:
            self._writer = None
            self._writing.release()
        self.write_ns += now() - started
        for called in tuple(self.on_flush):  # another thread may take one away meanwhile
            called()

    def _write(self):
        last = self._last  # asked first: what was added before the end goes before it
        try:
            self._file.write_all(self._queue)
            if last:
                self._last = False
                facts = {"time_ns": now(), "crc32": self._file.crc & 0xFFFFFFFF}
                self._file.write(wire.record(wire.Record.TRAILER, wire.json_payload(facts)))
        except own_files.LostFileError as error:
            self.fail("the stream was lost: %s" % error)
        except OSError as error:
            if interrupts.is_from_handler(error):
                raise
            self.fail("the stream cannot be written: %s" % error)
        while self._file.size > STREAM_BYTES_AT_MOST * self.merge:
            self.merge *= 2

    def fail(self, reason):
        """Go silent and leave the reason in the status file."""
        if self.failed:
            return
        self.failed = reason
        try:
            own_files.overwrite(self._status_path, wire.json_payload({"failed": reason})[:1000])
        except OSError:
            pass

    def _flush_last(self):
        """Write what waits, after whoever writes just now, and the trailer."""
        waits = self._writer not in (None, get_ident())
        if waits and self._writing.acquire(True, LAST_WAIT_S):
            self._writing.release()
        self._last = True
        self.flush()

    def close(self):
        """Close the file after `finish`, in a process that goes on; what comes later is dropped."""
        self.failed = self.failed or "closed"
        self._file.close()
