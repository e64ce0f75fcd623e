"""Tracebacks without dlprof's frames, as the user would see them without us."""

import os
import sys
import traceback
from sys import _getframe, exc_info

_OWN = "dlprof_probes."
_ENDS_OF_WORKERS = (
    ("_bootstrap", os.path.join("multiprocessing", "process.py")),
    ("_wrap", os.path.join("torch", "multiprocessing", "spawn.py")),
)
"""Functions, and their files, that have the text of an exception made when it has ended what a worker does."""
_ENTRY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry") + os.sep


def is_own(frame):
    """Whether `frame` runs dlprof's code; that of the entry has the names of the program's own `__main__`."""
    return str(frame.f_globals.get("__name__", "")).startswith(_OWN) or frame.f_code.co_filename.startswith(_ENTRY)


def install(patches):
    """Have the traceback module pass over our frames (print_exc, logging.exception and the like)."""
    for name in ("walk_tb", "_walk_tb_with_full_positions", "walk_stack"):
        patches.replace(traceback, name, _filtered)


def _filtered(walk):
    def walk_without_own(*args, **kwargs):
        for item in walk(*args, **kwargs):
            if not is_own(item[0]):
                yield item

    walk_without_own.__name__ = walk.__name__
    return walk_without_own


def hook_uncaught(tell=None):
    """Have an exception that leaves the script reported without our frames, by whatever hook is set.

    Args:
        tell: Called with it and its traceback before that; None: nobody wants to know.
    """
    original = sys.excepthook

    def excepthook(kind, value, trace):
        sys.excepthook = original
        _told(tell, value, trace)
        value.__traceback__ = _above_entry(value.__traceback__)
        strip(value, set())
        original(kind, value, value.__traceback__)

    sys.excepthook = excepthook


def _above_entry(trace):
    """A traceback from the program's first frame on: below our entry there may be those of `runpy`."""
    found = trace
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(_ENTRY):
            found = trace.tb_next
        trace = trace.tb_next
    return found


def _told(tell, value, trace):
    try:
        if tell is not None:
            tell(value, trace)
    except Exception:  # there is no memory for it, perhaps
        pass


def hook_printing(tell=None):
    """Have each uncaught exception reported without our frames, whatever of Python's two names for that is used.

    Args:
        tell: As that of `hook_uncaught`.
    """
    same = sys.excepthook is sys.__excepthook__
    sys.__excepthook__ = _stripped(sys.__excepthook__, tell)
    sys.excepthook = sys.__excepthook__ if same else _stripped(sys.excepthook, tell)


def hook_workers(patches, tell):
    """Have the exception told that ends what a worker of `multiprocessing` does: no hook of Python's is called for it.

    They are printed, or sent to the process that waits for the worker, as text that `traceback` makes.

    Args:
        patches: `Patches`.
        tell: As that of `hook_uncaught`.
    """
    for name in ("print_exc", "format_exc"):
        patches.replace(traceback, name, lambda original: _told_of_workers(original, tell))


def _told_of_workers(original, tell):
    def of_the_current(*args, **named):
        code = _getframe(1).f_code
        if any(code.co_name == name and code.co_filename.endswith(end) for name, end in _ENDS_OF_WORKERS):
            _kind, value, trace = exc_info()
            _told(tell, value, trace)
        return original(*args, **named)

    return of_the_current


def _stripped(original, tell):
    def excepthook(kind, value, trace):
        _told(tell, value, trace)
        try:
            strip(value, set())
            trace = _without_own(trace)
        except Exception:  # functions that we call are replaced, or `value` is no exception
            pass
        original(kind, value, trace)

    excepthook.__doc__ = original.__doc__
    return excepthook


def strip(error, seen):
    """Take our frames out of the traceback of `error` and of those it came from."""
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _without_own(error.__traceback__)
        strip(error.__cause__, seen)
        error = error.__context__


def _without_own(trace):
    while trace is not None and is_own(trace.tb_frame):
        trace = trace.tb_next
    inner = trace
    while inner is not None:
        following = inner.tb_next
        while following is not None and is_own(following.tb_frame):
            following = following.tb_next
        try:
            inner.tb_next = following
        except (AttributeError, TypeError):  # read-only before Python 3.7
            break
        inner = following
    return trace
