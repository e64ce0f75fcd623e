"""What is recorded inside the traced process, as records of its raw stream (`stream.py`).

They are written every `FLUSH_NS` (`LIVE_FLUSH_NS`), where an outermost span begins that is no routine (`ROUTINE_NS`),
and at exit, so that a killed process loses at most the last half second.
"""

import itertools
import threading
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.stream import STRINGS_AT_MOST, Stream
from dlprof_probes.inproc.thread_ends import ThreadEnds

_PACK_BEGIN, _BEGIN, _BEGIN_SIZE = wire.BEGIN_RECORD.pack, wire.Record.BEGIN, wire.BEGIN.size
_PACK_NUMBER = wire.STRING_HEAD.pack
_PACK_END, _END, _END_SIZE = wire.END_RECORD.pack, wire.Record.END, wire.END.size
_known_threads = vars(threading)["_active"]
"""Not `current_thread`, which makes an entry for a thread that has none: the program would see it."""
_system_number = vars(threading).get("get_native_id") or (lambda: 0)  # before Python 3.8 nothing tells it

FLUSH_NS = 500 * 1000 * 1000
LIVE_FLUSH_NS = 250 * 1000 * 1000
"""While someone looks on."""
RANK_FLUSH_NS = 50 * 1000 * 1000
"""In one of several ranks: one that stands still has said how far it came."""
ROUTINE_NS = 5 * 1000 * 1000
"""What is outermost and took less than this the last time is not written each time it begins ..."""
ROUTINE_FLUSH_NS = 20 * 1000 * 1000
"""... but this long after the last writing: so much is lost of a process that is killed in it."""
PAYLOADS_AT_MOST = 4096

_NOWHERE = "", 0
"""No line of the user's."""
_IN_STEPS = (wire.SpanKind.GRAPH_COMPILE, wire.SpanKind.GRAPH_STAGE, wire.SpanKind.IMPORT, wire.SpanKind.DLPROF)
"""Outermost spans that may be part of the first step of a loop that nobody tells of."""


class Recorder(Stream):
    """What is recorded of one process: spans, steps and facts.

    Attributes:
        stacks: The open spans of each thread (`stack`), for those that ask in every step.
        idle_since: When the last outermost span ended that is none of `_IN_STEPS` (ns), by thread.
        has_loops: Whether a loop with steps was seen.
        on_own: Function that is told what dlprof itself has taken on the calling thread, just now (ns), or None.
        thread_ends: `ThreadEnds`: threads that have spans are watched.

    Args:
        path: File of the stream; it must not exist.
        status_path: File of fixed size, made beforehand, that takes the reason of a failure.
        is_user_file: Function from a file name to whether it is the user's own code.
        live: Someone looks on: what begins, and the end of what is outermost, is written at once.
    """

    def __init__(self, path, status_path, is_user_file, live=False):
        super(Recorder, self).__init__(path, status_path, LIVE_FLUSH_NS if live else FLUSH_NS)
        self.has_loops = False
        self.on_own = None
        self.thread_ends = ThreadEnds()
        self.collectives_left_out = 0
        self._is_user_file = is_user_file
        self._live = live
        self._threads = {}
        self.stacks = {}
        self.idle_since = {}
        self._payloads = {}
        self._noted = {}
        self._spans = 0
        self._outermost = {}
        self._lasted = {}
        self._said = set()
        self._span_numbers = itertools.count(1)  # as in `Stream`: no lock

    # -- spans ---------------------------------------------------------------------------------

    def stack(self):
        """The open spans of the calling thread, outermost first: a list of (number, kind)."""
        ident = get_ident()
        try:
            return self.stacks[ident]
        except KeyError:
            return self.stacks.setdefault(ident, [])

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
        span = next(self._span_numbers)
        stack = self.stacks.get(get_ident())
        if stack is None:
            stack = self.stack()
        outermost = nests and not stack
        if nests:
            stack.append((span, kind))
        file, line = self.user_line(frame) if frame is not None else _NOWHERE
        time_ns = now() if time_ns is None else time_ns
        self._begin_record(span, kind, name, time_ns, file, line)
        self._begun(name, time_ns, outermost)
        return span

    def alike(self, kind, name, place, facts):
        """What outermost spans have in common that `begin_like` begins.

        Args:
            kind: One of `wire.SpanKind`.
            name: What they are, for a reader.
            place: Their file and line.
            facts: What `noted_facts` gave of one like them.
        """
        around = [b""]
        for head, payload in facts:
            around[-1] += head
            around.append(payload)
        return kind, self.string(kind), self.string(name), self.string(place[0]), place[1], around

    def begin_like(self, alike, time_ns):
        """Begin an outermost span that is like others, on a thread that had those. Hot: no more calls than needed.

        Args:
            alike: What `alike` gave.
            time_ns: When it began.

        Returns:
            int: The number of the span.
        """
        kind, kind_number, name, file, line, facts = alike
        span, thread = next(self._span_numbers), get_ident()
        if self._threads[thread] != _system_number():
            self._new_thread(thread, span)
        self.stacks[thread].append((span, kind))
        self._spans += 1
        self._queue.append(
            _PACK_BEGIN(_BEGIN, _BEGIN_SIZE, span, kind_number, name, thread, time_ns, file, line)
            + _PACK_NUMBER(span).join(facts)
        )
        if self._live or time_ns - self._last_flush >= ROUTINE_FLUSH_NS:
            self.flush(time_ns)
        return span

    def end_like(self, span, time_ns):
        """End a span that `begin_like` began on this thread. Hot, too."""
        thread = get_ident()
        stack = self.stacks[thread]
        if len(stack) != 1 or stack[0][0] != span:  # what began in it was left open
            self.end(span, time_ns)
            return
        stack.pop()
        self._queue.append(_PACK_END(_END, _END_SIZE, span, time_ns))
        self.idle_since[thread] = time_ns
        if self._live or time_ns - self._last_flush > self._flush_ns:
            self.flush(time_ns)

    def _begun(self, name, time_ns, outermost):
        """What begins now may last for minutes, or be what kills the process: it must be known by then."""
        if (
            (outermost and not self._is_routine(name, time_ns))
            or self._live
            or time_ns - self._last_flush > self._flush_ns
        ):
            self.flush(time_ns)

    def _is_routine(self, name, time_ns):
        """Whether what begins on the outside was over at once the last time, and the stream was written just now."""
        lasted = self._lasted.get(name, ROUTINE_NS)
        self._outermost[get_ident()] = name, time_ns
        return lasted < ROUTINE_NS and time_ns - self._last_flush < ROUTINE_FLUSH_NS

    def outermost_began(self):
        """When the outermost open span of the calling thread began (ns); 0: none is open."""
        ident = get_ident()
        return self._outermost.get(ident, ("", 0))[1] if self.stacks.get(ident) else 0

    def begin_at(self, kind, name, time_ns, place):
        """Begin a span that nothing counts as being inside of, at a time that is past.

        Args:
            kind: One of `wire.SpanKind`.
            name: What it is, for a reader.
            time_ns: When it began.
            place: File and line; ("", 0): not known.

        Returns:
            int: The number of the span.
        """
        span = next(self._span_numbers)
        self._begin_record(span, kind, name, time_ns, place[0], place[1])
        return span

    def end(self, span, time_ns=None):
        """End `span` and every span inside it that was left open (an exception passed through)."""
        time_ns = now() if time_ns is None else time_ns
        stack = self.stacks.get(get_ident()) or ()
        if (stack and stack[-1][0] == span) or any(number == span for number, _ in stack):
            while True:
                number, kind = stack.pop()
                self._end_record(number, time_ns)
                if number == span:
                    break
            if not stack:
                self._outermost_ended(kind, time_ns)
        else:
            self._end_record(span, time_ns)
        if (self._live and not stack) or time_ns - self._last_flush > self._flush_ns:
            self.flush(time_ns)

    def _outermost_ended(self, kind, time_ns):
        ident = get_ident()
        name, began = self._outermost.get(ident, ("", 0))
        if len(self._lasted) < STRINGS_AT_MOST:
            self._lasted[name] = time_ns - began
        if kind not in _IN_STEPS:
            self.idle_since[ident] = time_ns

    def unwind(self, depth):
        """End the spans of the calling thread that are deeper than `depth`: an exception came out of a hook."""
        stack = self.stack()
        if len(stack) > depth:
            self.end(stack[depth][0])

    def own_took(self, ns):
        """Work of dlprof's own took so long (ns) on the calling thread, just now: it is no time of the lines there."""
        if self.on_own is not None:
            self.on_own(ns)

    def complete(self, kind, name, start_ns, end_ns, frame=None):
        """Record a span that is already over, without a user's line unless there is a `frame`; returns its number."""
        if kind == wire.SpanKind.DLPROF:
            self.own_took(end_ns - start_ns)
        span = next(self._span_numbers)
        file, line = self.user_line(frame)
        self._begin_record(span, kind, name, start_ns, file, line)
        self._end_record(span, end_ns)
        return span

    def detail(self, span, facts):
        """Add facts (a dict of JSON values) to a span."""
        self._noted.pop(span, None)
        self._add_facts(wire.Record.DETAIL, facts, wire.STRING_HEAD.pack(span))

    def known_detail(self, span, key, facts):
        """The same for facts that many spans share: they are said in JSON once.

        Args:
            span: Its number.
            key: What tells these facts from others, hashable.
            facts: Function without arguments that gives them.
        """
        around = self._payloads.get(key)
        if around is None:
            payload = self._in_json(facts())
            if payload is None:
                return
            around = wire.HEAD.pack(wire.Record.DETAIL, wire.STRING_HEAD.size + len(payload)), payload
            if len(self._payloads) < PAYLOADS_AT_MOST:
                self._payloads[key] = around
        self._queue.append(around[0] + wire.STRING_HEAD.pack(span) + around[1])
        if span in self._noted:
            self._noted[span][0].append(around)

    def note_facts(self, span):
        """Keep what is told of a span from here on, for others like it."""
        self._noted[span] = [], self._spans

    def noted_facts(self, span, most_spans=2):
        """What was told of a span that is over, and is not its own alone.

        Args:
            span: Its number; it is forgotten then.
            most_spans: Spans that may have begun meanwhile.

        Returns:
            list: (head, payload) of each record; None: something was, or more spans began in it.
        """
        facts, before = self._noted.pop(span, (None, 0))
        return facts if self._spans - before <= most_spans else None

    def _begin_record(self, span, kind, name, time_ns, file, line):
        thread, known = get_ident(), self._strings.get
        self._spans += 1
        if self._threads.get(thread) != _system_number():
            self._new_thread(thread, span)
        kind, name = known(kind) or self.string(kind), known(name) or self.string(name)  # hot
        file = known(file) or self.string(file) if file else 0
        self._queue.append(_PACK_BEGIN(_BEGIN, _BEGIN_SIZE, span, kind, name, thread, time_ns, file, line))

    def _end_record(self, span, time_ns):
        self._queue.append(_PACK_END(_END, _END_SIZE, span, time_ns))

    def user_line(self, frame):
        """The innermost line of the user's own at or outside of a frame: (file, line); ("", 0): there is none."""
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

    def flush_often(self):
        """Write every `RANK_FLUSH_NS` from now on."""
        self._flush_ns = RANK_FLUSH_NS

    def meta(self, facts):
        """Record facts about the process."""
        self._add_facts(wire.Record.META, facts)

    def child(self, pid, name, place=("", 0)):
        """Record that the program has started a process; `place`: in which line (file, line)."""
        self._add_facts(wire.Record.CHILD, {"pid": pid, "name": name, "file": place[0], "line": place[1]})

    def loader(self, facts):
        """Record a pass over a loader: fields of `wire.Record.LOADER`."""
        self._add_facts(wire.Record.LOADER, facts)

    def datasets(self, facts):
        """Record what an input pipeline is made of: fields of `wire.Record.DATASETS`."""
        self._add_facts(wire.Record.DATASETS, facts)

    def model(self, facts):
        """Record what a model holds: fields of `wire.Record.MODEL`."""
        self._add_facts(wire.Record.MODEL, facts)

    def objects(self, facts):
        """Record how much Python holds: fields of `wire.Record.OBJECTS`."""
        self._add_facts(wire.Record.OBJECTS, facts)

    def sync(self, number, place, sums):
        """Record what was summed of a place: (what, file, line) and [calls, ns, first begin, last end]."""
        what, file, line = place
        payload = wire.SYNC.pack(number, self.string(what), self.string(file), line, *sums)
        self._add(wire.Record.SYNC, payload)

    def collective(self, which, times, size):
        """Record a collective: kind, group, number; begin, begin of the standstill, end; see `wire.COLLECTIVE`."""
        if self.merge > 1:  # a very long run: those of its beginning tell the same
            self.collectives_left_out += 1
            return
        names = self.string(which[0]), self.string(which[1])
        payload = wire.COLLECTIVE.pack(names[0], names[1], which[2], times[0], times[1], times[2], size)
        self._add(wire.Record.COLLECTIVE, payload)
        if times[2] - self._last_flush > self._flush_ns:
            self.flush(times[2])

    def stretch(self, thread, begin_ns, end_ns, inside_ns):
        """Record that a thread of an engine ran Python for `inside_ns` between two times."""
        self._add(wire.Record.STRETCH, wire.STRETCH.pack(thread, begin_ns, end_ns, inside_ns))
        if end_ns - self._last_flush > self._flush_ns:
            self.flush()

    def note(self, slug, message, severity="warning"):
        """Record that something was dropped, cut or odd."""
        self._add_facts(wire.Record.NOTE, {"slug": slug, "severity": severity, "message": message})

    def note_once(self, slug, message, severity="warning"):
        """The same, but only the first of that slug: what follows is of one kind with it."""
        if slug not in self._said:
            self._said.add(slug)
            self.note(slug, message, severity)

    def probe(self, name, state, reason=None, cost_ns=None, cost_source=None, thinned=None):
        """Record what a part of the probe could do, and what it cost.

        `thinned` is what it measured less of, to keep the budget: `what`, `from` and `to` (numbers), and `why`.
        """
        facts = {"name": name, "state": state, "reason": reason, "cost_ns": cost_ns, "cost_source": cost_source}
        if thinned:
            facts["thinned"] = thinned
        self._add_facts(wire.Record.PROBE, facts)

    def _new_thread(self, ident, span):
        """Tell of a thread before its first span; Python gives the number of one that has ended to another."""
        self.thread_ends.watch()
        name, number = wire.text_payload(_thread_name(ident)), _system_number()
        if ident not in self._threads:
            self._add(wire.Record.THREAD, wire.THREAD_HEAD.pack(ident) + name)
        self._threads[ident] = number
        if number:
            self._add(wire.Record.SYSTEM_THREAD, wire.SYSTEM_THREAD.pack(ident, number, span) + name)

    def thread_ended(self, ident):
        """The calling thread ends: what begins on one that gets its number is none of what it did."""
        for number, _ in reversed(self.stacks.pop(ident, ())):
            self._end_record(number, now())
        self.idle_since.pop(ident, None)
        self._outermost.pop(ident, None)
        if ident in self._threads:
            self._threads[ident] = None

    def finish(self):
        """End every open span of the calling thread's stack, write all, and close the stream."""
        for number, _ in reversed(self.stack()):
            self._end_record(number, now())
        if self.dropped:
            self.note("strings-dropped", "%d names were dropped: too many different ones" % self.dropped)
        if self.collectives_left_out:
            text = "%d collectives at the end of a long run were not recorded: figures of waits are of those before"
            self.note("collectives-left-out", text % self.collectives_left_out, "info")
        if self.unspoken:
            self.note("facts-dropped", "%d facts were dropped: JSON cannot say them" % self.unspoken)
        self._flush_last()


def _thread_name(ident):
    """The name of a thread; one that Python did not start has its number only."""
    try:
        return str(_known_threads[ident].name)
    except Exception:
        return "thread %d" % ident
