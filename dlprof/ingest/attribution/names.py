"""Plain names out of the names that tools give to ranges."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(r", seq(?:uence)?(?:_id)? = \d+.*$", re.DOTALL)
_PYPROF = re.compile(r"^\{'mod': '([^']*)', 'op': '([^']*)'")
_ADDRESS = re.compile(r" (?:object )?at 0x[0-9a-fA-F]+")


def plain(name: str) -> str:
    """The operator or function that a range is named after.

    PyProf writes a call with all its arguments, autograd's ranges a sequence number, Python's an address.
    """
    call = _PYPROF.match(name)
    if call:
        return f"{call[1]}.{call[2]}" if call[1] else call[2]
    return _ADDRESS.sub("", _SEQUENCE.sub("", name))
