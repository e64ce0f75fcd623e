"""JSON of dlprof's own objects: structs and dataclasses as they are, times and decimals of SQL answers as text.

A number that JSON does not know (NaN, infinity) is null.
"""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import uuid
from typing import Any, Protocol, runtime_checkable

import msgspec

_AS_THEY_ARE = (
    bytes,
    bytearray,
    dt.datetime,
    dt.date,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    uuid.UUID,
)
"""Types that `json` writes by `str`, not as msgspec would."""


@runtime_checkable
class _Scalar(Protocol):
    def item(self) -> Any: ...


def plain(value: Any) -> Any:
    """A struct, or what holds some, as dictionaries and lists."""
    return _with_lists(msgspec.to_builtins(value, builtin_types=_AS_THEY_ARE, enc_hook=_simple))


def _simple(value: Any) -> Any:
    """What stands for a value that msgspec does not know: numbers of numpy are numbers, all else is text."""
    return value.item() if isinstance(value, _Scalar) else str(value)


def _with_lists(value: Any) -> Any:
    """The same with lists for tuples, as it would come back from a file."""
    if isinstance(value, dict):
        return {name: _with_lists(inner) for name, inner in value.items()}
    return [_with_lists(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def print_json(value: Any) -> None:
    """Print an object as a command's `--json` does: a number that JSON does not know is null."""
    told = plain(value)
    try:
        text = json.dumps(told, indent=1, default=str, allow_nan=False)
    except ValueError:
        text = json.dumps(finite(told), indent=1, default=str, allow_nan=False)
    print(text)


def finite(value: Any) -> Any:
    """The same, as deep as it goes, with None for what is no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, list) else value
