"""Which backends can be had on this machine."""

from __future__ import annotations

import shutil
from functools import cache

from dlprof.backends import registry
from dlprof.errors import UnavailableError
from dlprof.launch import environments


@cache
def impossible(backend: str) -> str | None:
    """Why a backend cannot be had on this machine, if so: it wants a compiler, or a Python of its time."""
    if backend in ("theano", "native-theano", "native-lasagne") and shutil.which("g++") is None:
        return "Theano wants g++, and there is none: without it, it interprets its graphs"
    if backend in ("cntk", "native-cntk") and not (shutil.which("cc") or shutil.which("gcc")):
        return "CNTK wants a C compiler, and there is none"
    try:
        environments.interpreter_for(registry.get(backend))
    except UnavailableError as error:
        return f"{error.message} {error.hint}"
    return None
