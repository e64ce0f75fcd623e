"""Times of frames in another unit: nanoseconds are what is stored; the name of a column always says its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from dlprof.errors import UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

Unit = Literal["ns", "us", "ms", "s"]
"""Units of time."""
UNITS: tuple[str, ...] = get_args(Unit)
_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}
"""Nanoseconds of each unit but the one that is stored."""
_STORED = "_ns"


def checked(unit: str) -> str:
    """A unit that there is.

    Raises:
        UsageError: There is no such unit.
    """
    if unit not in UNITS:
        raise UsageError(f"There is no unit {unit} of time.", hint=", ".join(UNITS), near=nearest(unit, UNITS))
    return unit


def in_unit(frame: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """A copy of a frame with its times in another unit: `dur_ns` becomes `dur_ms`, and `<NA>` stays `<NA>`.

    Args:
        frame: Any frame; columns and an index that end with `_ns` are times (ns), all else stays as it is.
        unit: `ns`, `us`, `ms` or `s`.

    Returns:
        A frame of the same shape; times are whole numbers in `ns`, else of 64 bits with a point.

    Raises:
        UsageError: There is no such unit.
    """
    copy = frame.copy()
    if checked(unit) == "ns":
        return copy
    for name in [name for name in copy.columns if _is_time(name)]:
        copy[name] = copy[name] / _NS[unit]
    if _is_time(copy.index.name):
        copy.index = copy.index / _NS[unit]
        copy.index.name = _renamed(frame.index.name, unit)
    return copy.rename(columns=lambda name: _renamed(name, unit) if _is_time(name) else name)


def in_ms(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of a frame with its times in milliseconds: `in_unit(frame, "ms")`."""
    return in_unit(frame, "ms")


def _is_time(name: object) -> bool:
    return isinstance(name, str) and name.endswith(_STORED)


def _renamed(name: object, unit: str) -> str:
    return f"{str(name).removesuffix(_STORED)}_{unit}"
