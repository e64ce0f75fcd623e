"""What Python runs by the name of a file: a source, a compiled module, the `__main__` of a folder or an archive."""

import functools
import importlib.machinery
import importlib.util
import marshal
import os
import sys
from types import CodeType

_HEADER = 16
"""Bytes of a compiled module before its code, from Python 3.7 on; before that there are four fewer."""
MAIN = "__main__"


def holder(name):
    """The folder or archive that has the `__main__` to be run, as Python puts it on its path; None: it is a file.

    Args:
        name: What was given to Python.
    """
    path = os.path.join(os.getcwd(), name)
    for hook in sys.path_hooks:
        try:
            hook(path)
        except ImportError:
            continue
        return path
    return None


def is_compiled(file, data):
    """Whether a file with these bytes is taken for a compiled module: by its name, or by how it begins."""
    return file.endswith(".pyc") or data[:2] == importlib.util.MAGIC_NUMBER[:2]


def loader(file, data):
    """What `__loader__` is while the file runs."""
    kind = "SourcelessFileLoader" if is_compiled(file, data) else "SourceFileLoader"
    return getattr(importlib.machinery, kind)(MAIN, file)


def code_of(file, data):
    """The code of a file, and what fails as Python would: one of them is None.

    Args:
        file: Its path.
        data: Its bytes.
    """
    make = functools.partial(compile, data, file, "exec", 0, True)
    if is_compiled(file, data):
        make = functools.partial(_unmarshalled, data)
    try:
        return make(), None
    except Exception:
        return None, make


def _unmarshalled(data):
    length = _HEADER if sys.version_info >= (3, 7) else 12
    if data[:4] != importlib.util.MAGIC_NUMBER:
        raise RuntimeError("Bad magic number in .pyc file")
    if len(data) < length:
        raise EOFError("EOF read where not expected")
    try:
        code = marshal.loads(data[length:])  # noqa: S302  (the program itself)
    except (EOFError, ValueError, TypeError):
        code = None
    if not isinstance(code, CodeType):
        raise RuntimeError("Bad code object in .pyc file")  # noqa: TRY004  (as Python does)
    return code
