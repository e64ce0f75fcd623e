"""The raw stream of the in-process probe: the single source of its format.

Standard library only and Python 3.6 syntax, because the writer runs inside the traced process.

A stream is `MAGIC`, one version byte, then records. A record is a head (`HEAD`: type, payload
length) and its payload, so that a reader can pass over types it does not know, and a stream that
was cut anywhere is readable up to the cut. All numbers are little-endian; all times are
`time.perf_counter_ns()` of the traced process (CLOCK_MONOTONIC), in nanoseconds. Strings are sent
once (`STRING`) and then named by their number; number 0 means "none".
"""

import json
import struct

MAGIC = b"DLPROFWIRE\n"
VERSION = 2
"""2: steps say for how long they waited for the device. Older ones are read, too."""

HEAD = struct.Struct("<BI")
"""Record head: type (u8), length of the payload in bytes (u32)."""


class Record(object):
    """Record types."""

    META = 1
    """JSON object: facts about the process; later ones add to earlier ones."""
    STRING = 2
    """u32 number, then UTF-8 text."""
    BEGIN = 3
    """A span begins (`BEGIN`)."""
    END = 4
    """A span ends (`END`)."""
    DETAIL = 5
    """u32 span, then a JSON object that is added to the span's detail.

    Its `as` is an object, too: what is added is told under that name in the span of that number, before this one."""
    STEP = 6
    """A step, complete (`STEP`)."""
    METRICS = 7
    """Values that Keras computed: `METRICS`, then `METRIC` for each."""
    GC = 8
    """A garbage collection (`GC`)."""
    THREAD = 9
    """u64 thread, then its name in UTF-8."""
    NOTE = 10
    """JSON object {slug, severity, message}: something dropped, cut or odd."""
    PROBE = 11
    """JSON object {name, state, reason, cost_ns, cost_source}: what a part of the probe could do."""
    TRAILER = 12
    """JSON object {time_ns, crc32}: the probe finished in order. crc32 is of all bytes before; it may be missing."""
    CHILD = 13
    """JSON object {pid, name}: `multiprocessing` has started a process. Older readers pass over it.

    Also of other processes that the program starts; `file`, `line`: where it did."""
    LOADER = 14
    """JSON object: a pass over a loader that is over. Older readers pass over it.

    loader (number), kind, dataset (its class), file, line (where it was made), thread, begin_ns, opened_ns, end_ns,
    first_wait_ns, waited_ns, last_wait_ns, items, workers, uses_processes, persistent, queue, queue_per_worker,
    batch_size, collate."""
    STRETCH = 15
    """A thread that an engine made ran Python (`STRETCH`). Older readers pass over it."""
    SYNC = 16
    """Where the program asks for values of the device, as summed so far (`SYNC`). Older readers pass over it.

    A later record of the same number takes the place of an earlier one."""
    MODEL = 17
    """JSON object: what a model and its optimiser hold, by shapes. Older readers pass over it; a later one of the same
    model replaces it.

    model (number), loop (span), name, time_ns, variables ([layer, name, kind, shape, type, trainable, device] each),
    left_out (further variables), outputs ([layer, shape, type] each; None for the batch)."""
    COLLECTIVE = 18
    """A collective of several ranks, as this one saw it (`COLLECTIVE`). Older readers pass over it."""
    DATASETS = 19
    """JSON object: the data sets of a pipeline of tf.data, when it is first iterated. Older readers pass over it.

    time_ns, datasets ([class, file, line (where it was made; "" and 0: not known), the user's function that it calls or
    None] each, before what it reads from)."""
    OBJECTS = 20
    """JSON object: how much Python holds, at a moment in which it trains. Older readers pass over it.

    time_ns, blocks (of Python's allocator); objects, tensors (arrays of engines among them), types ([name, count, how
    many more than when they were first counted] of those of which there are most more). Each but the time may be
    missing."""
    SYSTEM_THREAD = 21
    """`SYSTEM_THREAD`, then the thread's name in UTF-8. Older readers pass over it.

    From a span on a thread's number is that of another one: Python gives it anew once a thread has ended."""


class SpanKind(object):
    """Kinds of spans: what the traced program was doing."""

    SCRIPT = "script"
    IMPORT = "import"
    DATA = "data"
    CONSTRUCT = "construct"
    COMPILE = "compile"
    FIT = "fit"
    EVALUATE = "evaluate"
    PREDICT = "predict"
    SAVE = "save"
    BUILD = "build"
    GRAPH_COMPILE = "graph_compile"
    INPUT = "input"
    EPOCH = "epoch"
    CALLBACKS = "callbacks"
    WAIT = "wait"
    """Training stands still until the device has given a value. Waits in a step are in its record."""
    ON_BATCH = "on_batch"
    """A loop of the user's own around train_on_batch and its kin: it has steps, but covers no time."""
    FIRST_RUN = "first_run"
    """The first call of a graph that was just compiled, outside loops: the engine makes it ready then. No phase."""
    GRAPH_STAGE = "graph_stage"
    """A part of making a graph that its engine tells apart, beside `graph_compile` or in it: tracing, lowering."""
    GRAPH_BREAK = "graph_break"
    """A compiler ended a graph here, and goes on in Python. It takes no time; its name is the reason. No phase."""
    GRAPH_CONSTANT = "graph_constant"
    """A large array became a constant of a graph: an instant, at the line that uses it."""
    REPEATED_PRODUCT = "repeated_product"
    """What was computed is computed again out of the same: an instant, at the line that asks. Its name is that of a
    node in a loop of a graph, or of a part of a model."""
    OUT_OF_MEMORY = "out_of_memory"
    """An exception left the program because memory could not be had: its name. It takes no time. No phase."""
    EXCEPTION = "exception"
    """An exception left the program, whatever it was: its class. It takes no time. No phase."""
    GROWING_INPUT = "growing_input"
    """A model was called again and again, each time with the input before and a piece more. No phase."""
    DLPROF = "dlprof"


MARK_PHASES = ("data", "construct", "compile", "fit", "evaluate", "predict", "save")
"""Phases that a program without Keras can mark at the top level."""
MARK_IN_FIT = ("build", "graph_compile", "input", "callbacks", "evaluate")
"""Those that it can mark inside fit."""

STRING_HEAD = struct.Struct("<I")
_BEGIN_FIELDS, _END_FIELDS = "IIIQqII", "Iq"
BEGIN = struct.Struct("<" + _BEGIN_FIELDS)
"""span, kind, name (strings), thread, time, file (string), line."""
END = struct.Struct("<" + _END_FIELDS)
"""span, time."""
BEGIN_RECORD = struct.Struct("<BI" + _BEGIN_FIELDS)
END_RECORD = struct.Struct("<BI" + _END_FIELDS)
"""Whole records, head and payload: packed in one go, because programs call `predict` for each row."""
_STEP_FIELDS = "QIiiIqqqqqqqB"
STEP = struct.Struct("<" + _STEP_FIELDS)
"""thread, loop (span), epoch, step, count, begin, end, input, callbacks, call offset, call, wait, flags."""
_STEP_1 = struct.Struct("<QIiiIqqqqqqB")
STEP_RECORD = struct.Struct("<BI" + _STEP_FIELDS)
"""A whole record of a step, head and payload: packed in one go, because it is made in every step."""
METRICS = struct.Struct("<Iiiq")
"""loop (span), epoch, step, time."""
METRIC = struct.Struct("<Id")
"""name (string), value."""
GC = struct.Struct("<qqBI")
"""begin, duration, generation, objects collected."""
THREAD_HEAD = struct.Struct("<Q")
SYSTEM_THREAD = struct.Struct("<QQI")
"""thread, its number for the system, the first span of it."""
SYNC = struct.Struct("<IIIIqqqq")
"""number, what (string), file (string), line, calls, time in them, begin of the first, end of the last."""
STRETCH = struct.Struct("<Qqqq")
"""thread (its number for the system; before Python 3.8 for Python), begin, end, for how long of that it ran Python.

In a stream that is complete, these are all of the threads that have any."""

COLLECTIVE = struct.Struct("<IIIqqqq")
"""kind, process group (strings), its place among those of that kind and group, begin, blocked, end, bytes.

It begins when this rank had all that it gives, and ends when it had what the others gave; from `blocked` on the thread
stood still for it. Bytes that it gave; `NONE`: not known."""

NONE = -1
"""In the epoch and step fields of STEP and METRICS: there is none."""

STEP_COMPILED = 1
"""STEP flag: a graph was compiled in it, or it is the first call of its step function."""
STEP_FIRST = 8
"""STEP flag: the first call of its step function."""
STEP_HAS_WAIT = 16
"""STEP flag: the wait field was measured."""
STEP_HAS_INPUT = 2
"""STEP flag: the input field was measured."""
STEP_HAS_CALL = 4
"""STEP flag: the call fields were measured."""


def step_fields(payload):
    """The fields of a step (`STEP`), as a tuple; those of a stream of version 1 have no wait."""
    if len(payload) == _STEP_1.size:
        fields = list(_STEP_1.unpack(payload))
        fields.insert(-1, 0)
        return tuple(fields)
    return STEP.unpack(payload)


def record(kind, payload):
    """Bytes of one record of type `kind` around `payload` (bytes)."""
    return HEAD.pack(kind, len(payload)) + payload


class _Encoder(json.JSONEncoder):
    """Bound here: programs replace `json.dumps`, and methods of JSONEncoder."""

    encode = json.JSONEncoder.encode
    iterencode = json.JSONEncoder.iterencode


def _bound_encoder():
    """What makes JSON: of C alone, where Python has that; the rest of `json` uses builtins that programs replace."""
    make, strings = (getattr(json.encoder, name, None) for name in ("c_make_encoder", "c_encode_basestring_ascii"))
    plain = _Encoder(separators=(",", ":"), default=str).encode
    if make is None or strings is None:
        return plain

    def encode(value):
        return "".join(make({}, str, strings, None, ":", ",", False, False, True)(value, 0))

    try:
        return encode if encode({"a": ["\u00e4", 1.5, None]}) == plain({"a": ["\u00e4", 1.5, None]}) else plain
    except TypeError:  # a Python whose own is called in another way
        return plain


_encode = _bound_encoder()


def json_payload(value):
    """`value` as compact UTF-8 JSON; what JSON does not know is turned into text.

    Raises:
        Exception: Whatever the `__str__` of such a value raises; ValueError for one that holds itself.
    """
    return _encode(value).encode("utf-8", "replace")


def text_payload(text):
    """`text` as UTF-8; lone surrogates (odd file names) become question marks."""
    return text.encode("utf-8", "replace")


# -- beside the stream ---------------------------------------------------------------------------------

CHILD_FACTS = "child.json"
"""File in the folder of a followed Python that says what it is; it is there once its stream is."""
NO_EXIT_CODE = b"none"
"""What its file of the exit code holds until it ends by itself: bytes that are no likely code."""
