"""An exception that leaves the program: said in the stream, with its class and the user's line.

Its text is not: it may hold anything of the user's, and standard error has it.
"""

from dlprof_probes import wire
from dlprof_probes.inproc import want_of_memory
from dlprof_probes.inproc.clock import now


def teller(recorder, is_user_file):
    """A function of (error, traceback) that says it."""
    memory = want_of_memory.teller(recorder, is_user_file)

    def tell(error, trace):
        memory(error, trace)
        if isinstance(error, Exception):  # Ctrl-C is no failure of the script
            time_ns = now()
            place = _of_syntax(error) or want_of_memory.place_of(trace, is_user_file)
            span = recorder.begin_at(wire.SpanKind.EXCEPTION, type(error).__name__, time_ns, place)
            recorder.end(span, time_ns)
            recorder.flush()

    return tell


def _of_syntax(error):
    """The line that could not be compiled: no frame is there; None: the error is another one."""
    if not isinstance(error, SyntaxError):
        return None
    file, line = error.filename, error.lineno
    return (file, line) if isinstance(file, str) and isinstance(line, int) else None
