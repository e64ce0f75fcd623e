"""Writes the raw stream (`wire.py`) from inside the traced process.

Records wait in memory and are written every `FLUSH_NS` (`LIVE_FLUSH_NS`), at the ends of long spans and at
exit, so that a killed process loses at most the last half second. The recorder never raises into the program: when
writing fails (a full disk), it goes silent and leaves the reason in a status file whose space was
reserved beforehand.
"""

import collections
import os
import threading

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

FLUSH_NS = 500 * 1000 * 1000
LIVE_FLUSH_NS = 250 * 1000 * 1000
"""While someone looks on."""
STRINGS_AT_MOST = 65536
STREAM_BYTES_AT_MOST = 64 << 20
"""Above this size the steps of one record are doubled; at eight times this size all but spans stops."""


class Recorder(object):
    """The stream of one process.

    Args:
        path: File of the stream; it must not exist.
        status_path: File of fixed size, made beforehand, that takes the reason of a failure.
        is_user_file: Function from a file name to whether it is the user's own code.
        live: Someone looks on: what begins, and the end of what is outermost, is written at once.
    """

    def __init__(self, path, status_path, is_user_file, live=False):
        self.pid = os.getpid()
        self.failed = None
        self.bytes_written = 0
        self.write_ns = 0
        self.merge = 1
        self.dropped = 0
        self._status_path = status_path
        self._is_user_file = is_user_file
        self._live = live
        self._flush_ns = LIVE_FLUSH_NS if live else FLUSH_NS
        self._queue = collections.deque()
        self._strings = {}
        self._threads = set()
        self._stacks = {}
        self._next_span = 0
        self._lock = threading.Lock()
        self._last_flush = now()
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o644)
        self._write(wire.MAGIC + bytes(bytearray([wire.VERSION])))

    # -- spans ---------------------------------------------------------------------------------

    def stack(self):
        """The open spans of the calling thread, outermost first: a list of (number, kind)."""
        ident = threading.get_ident()
        try:
            return self._stacks[ident]
        except KeyError:
            return self._stacks.setdefault(ident, [])

    def begin(self, kind, name, frame=None, time_ns=None, nests=True):
        """Begin a span on the calling thread.

        Args:
            kind: One of `wire.SpanKind`.
            name: What it is, for a reader: `Sequential.add`, `keras`.
            frame: The frame from which the user's line is looked for, outwards.
            time_ns: When it began, if not now.
            nests: Whether it counts as a span that others are inside of (`stack`).

        Returns:
            int: The number of the span.
        """
        with self._lock:
            self._next_span += 1
            span = self._next_span
        stack = self.stack()
        outermost = nests and not stack
        if nests:
            stack.append((span, kind))
        file, line = self._user_line(frame)
        time_ns = now() if time_ns is None else time_ns
        self._begin_record(span, kind, name, time_ns, file, line)
        # What begins now may last for minutes, or be what kills the process: it must be known by then.
        if outermost or self._live or time_ns - self._last_flush > self._flush_ns:
            self.flush(time_ns)
        return span

    def end(self, span, time_ns=None):
        """End `span` and every span inside it that was left open (an exception passed through)."""
        time_ns = now() if time_ns is None else time_ns
        stack = self.stack()
        if any(number == span for number, _ in stack):
            while True:
                number, _ = stack.pop()
                self._add(wire.Record.END, wire.END.pack(number, time_ns))
                if number == span:
                    break
        else:
            self._add(wire.Record.END, wire.END.pack(span, time_ns))
        if (self._live and not stack) or time_ns - self._last_flush > self._flush_ns:
            self.flush(time_ns)

    def complete(self, kind, name, start_ns, end_ns, frame=None):
        """Record a span that is already over, without a user's line unless there is a `frame`; returns its number."""
        with self._lock:
            self._next_span += 1
            span = self._next_span
        file, line = self._user_line(frame)
        self._begin_record(span, kind, name, start_ns, file, line)
        self._add(wire.Record.END, wire.END.pack(span, end_ns))
        return span

    def detail(self, span, facts):
        """Add facts (a dict of JSON values) to a span."""
        self._add(wire.Record.DETAIL, wire.STRING_HEAD.pack(span) + wire.json_payload(facts))

    def _begin_record(self, span, kind, name, time_ns, file, line):
        thread = self._thread()
        numbers = self.string(kind), self.string(name)
        payload = wire.BEGIN.pack(span, numbers[0], numbers[1], thread, time_ns, self.string(file), line)
        self._add(wire.Record.BEGIN, payload)

    def _user_line(self, frame):
        for _ in range(64):
            if frame is None:
                break
            if self._is_user_file(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno or 0
            frame = frame.f_back
        return "", 0

    # -- other records ---------------------------------------------------------------------------

    def step(self, record, time_ns):
        """Record one packed `wire.STEP_RECORD`; the hot path of a training loop."""
        self._queue.append(record)
        if time_ns - self._last_flush > self._flush_ns:
            self.flush(time_ns)

    def metrics(self, loop, epoch, step, values):
        """Record the values that Keras computed for a step, or for an epoch (`step` is `wire.NONE`).

        Args:
            loop: Number of the loop's span.
            epoch: Index of the epoch, or `wire.NONE`.
            step: Index of the batch, or `wire.NONE`.
            values: List of (name, float).
        """
        if not values or (self.merge > 1 and step != wire.NONE):
            return  # a very long run: the metrics of single steps are the first to go
        parts = [wire.METRICS.pack(loop, epoch, step, now())]
        parts.extend(wire.METRIC.pack(self.string(name), value) for name, value in values)
        self._add(wire.Record.METRICS, b"".join(parts))

    def collection(self, start_ns, dur_ns, generation, collected):
        """Record one garbage collection."""
        self._add(wire.Record.GC, wire.GC.pack(start_ns, dur_ns, generation, collected))

    def meta(self, facts):
        """Record facts about the process."""
        self._add(wire.Record.META, wire.json_payload(facts))

    def note(self, slug, message, severity="warning"):
        """Record that something was dropped, cut or odd."""
        self._add(wire.Record.NOTE, wire.json_payload({"slug": slug, "severity": severity, "message": message}))

    def probe(self, name, state, reason=None, cost_ns=None, cost_source=None, thinned=None):
        """Record what a part of the probe could do, and what it cost.

        `thinned` is what it measured less of, to keep the budget: `what`, `from` and `to` (numbers), and `why`.
        """
        facts = {"name": name, "state": state, "reason": reason, "cost_ns": cost_ns, "cost_source": cost_source}
        if thinned:
            facts["thinned"] = thinned
        self._add(wire.Record.PROBE, wire.json_payload(facts))

    def string(self, text):
        """The number of `text` in the stream; 0 for empty text."""
        if not text:
            return 0
        number = self._strings.get(text)
        if number is None:
            number = self._new_string(text)
        return number

    def _new_string(self, text):
        with self._lock:
            number = self._strings.get(text)
            if number is not None:
                return number
            if len(self._strings) >= STRINGS_AT_MOST:
                self.dropped += 1
                return 0
            number = len(self._strings) + 1
            self._add(wire.Record.STRING, wire.STRING_HEAD.pack(number) + wire.text_payload(text))
            self._strings[text] = number
            return number

    def _thread(self):
        ident = threading.get_ident()
        if ident not in self._threads:
            self._threads.add(ident)
            name = threading.current_thread().name
            self._add(wire.Record.THREAD, wire.THREAD_HEAD.pack(ident) + wire.text_payload(name))
        return ident

    # -- writing ---------------------------------------------------------------------------------

    def _add(self, kind, payload):
        self._queue.append(wire.record(kind, payload))

    def flush(self, time_ns=None):
        """Write what waits."""
        started = now()
        self._last_flush = started if time_ns is None else time_ns
        if self.failed or os.getpid() != self.pid:
            self._queue.clear()  # a forked child must not write into its parent's stream
            return
        waiting = []
        try:
            while True:
                waiting.append(self._queue.popleft())
        except IndexError:
            pass
        if waiting:
            self._write(b"".join(waiting))
        self.write_ns += now() - started

    def _write(self, data):
        try:
            while data:
                data = data[os.write(self._fd, data) :]
                self.bytes_written = os.lseek(self._fd, 0, os.SEEK_CUR)
        except OSError as error:
            self.fail("the stream cannot be written: %s" % error)
            return
        while self.bytes_written > STREAM_BYTES_AT_MOST * self.merge:
            self.merge *= 2

    def fail(self, reason):
        """Go silent and leave the reason in the status file."""
        if self.failed:
            return
        self.failed = reason
        try:
            with open(self._status_path, "r+b") as status:
                status.write(wire.json_payload({"failed": reason})[:1000])
        except (OSError, IOError):
            pass

    def finish(self):
        """End every open span of the calling thread's stack, write all, and close the stream."""
        for number, _ in reversed(self.stack()):
            self._add(wire.Record.END, wire.END.pack(number, now()))
        if self.dropped:
            self.note("strings-dropped", "%d names were dropped: too many different ones" % self.dropped)
        self._add(wire.Record.TRAILER, wire.json_payload({"time_ns": now()}))
        self.flush()

    def close(self):
        """Close the file after `finish`, in a process that goes on; what comes later is dropped."""
        self.failed = self.failed or "closed"
        os.close(self._fd)
