"""An exception that leaves the program because there was no memory left: said in the stream, with its line."""

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_TYPES = ("OutOfMemoryError", "ResourceExhaustedError")
"""Classes of PyTorch and of TensorFlow."""
_TEXTS = (
    "out of memory",
    "resource_exhausted",
    "resource exhausted",
    "bad_alloc",
    "allocate memory",
    "failed to allocate cpu memory",
    "cudaerrormemoryallocation",
    "cuda_error_out_of_memory",
)
"""What engines say that raise it as another class: in small letters."""
_LONGEST = 200
_DEEPEST = 1000


def is_one(error):
    """Whether an exception says that memory could not be had."""
    if isinstance(error, MemoryError) or type(error).__name__ in _TYPES:
        return True
    text = str(error)[:4000].lower() if isinstance(error, (RuntimeError, OSError)) or _is_engines(error) else ""
    return any(one in text for one in _TEXTS)


def _is_engines(error):
    """Whether its class is no one's of the standard library."""
    return type(error).__module__.split(".")[0] not in ("builtins", "__main__")


def teller(recorder, is_user_file):
    """A function of (error, traceback) that says it of an exception which is one."""

    def tell(error, trace):
        if not is_one(error):
            return
        time_ns, place = now(), place_of(trace, is_user_file)
        name, said = type(error).__name__, _said(error)
        text = (said if said.startswith(name + ":") else "%s: %s" % (name, said))[:_LONGEST]
        span = recorder.begin_at(wire.SpanKind.OUT_OF_MEMORY, text.strip(": "), time_ns, place)
        recorder.end(span, time_ns)
        recorder.flush()

    return tell


def _said(error):
    """The line of its text that speaks of memory; else the first one. Keras and MXNet put others before it."""
    lines = [line.strip() for line in str(error)[:4000].splitlines() if line.strip()]
    return next((line for line in lines if any(one in line.lower() for one in _TEXTS)), lines[0] if lines else "")


def place_of(trace, is_user_file):
    """The innermost line of the user's own: (file, line); ("", 0): there is none."""
    place = ("", 0)
    for _ in range(_DEEPEST):
        if trace is None:
            break
        file = trace.tb_frame.f_code.co_filename
        if is_user_file(file):
            place = (file, trace.tb_lineno)
        trace = trace.tb_next
    return place
