"""Times of frames in another unit: nanoseconds are what is stored; the name of a column always says its unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from dlprof.errors import UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

Unit = Literal["ns", "us", "ms", "s"]
"""Units of time."""
UNITS: tuple[str, ...] = get_args(Unit)
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
"""Nanoseconds of each unit."""
_TIME = re.compile(r"(?P<what>.+)_(?P<unit>ns|us|ms|s)")
_RATE = "_per_s"
"""Ends names of what is counted each second, which is no time."""


def checked(unit: object) -> Unit:
    """A unit that there is.

    Raises:
        UsageError: There is no such unit.
    """
    if not isinstance(unit, str) or unit not in UNITS:
        near = nearest(unit, UNITS) if isinstance(unit, str) else ()
        raise UsageError(f"There is no unit {unit} of time.", hint=", ".join(UNITS), near=near)
    return cast("Unit", unit)


def in_unit(frame: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """A copy of a frame with its times in another unit: `dur_ns` becomes `dur_ms`, and `<NA>` stays `<NA>`.

    Args:
        frame: Any frame; columns of numbers and an index whose names end with `_ns`, `_us`, `_ms` or `_s` are times in
            that unit, but for rates (`_per_s`); all else stays as it is.
        unit: `ns`, `us`, `ms` or `s`.

    Returns:
        A frame of the same shape; times are whole numbers in `ns`, else of 64 bits with a point.

    Raises:
        UsageError: There is no such unit, or it is no frame.
    """
    import pandas as pd  # noqa: PLC0415

    checked(unit)
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"Times are in a frame of pandas, not in {frame!r}.", hint="in_unit(run.steps(), 'ms')")
    copy, names = frame.copy(), {}
    for name in frame.columns:
        stored = _unit_of(name, frame[name])
        if stored is not None and stored != unit:
            copy[name] = _converted(frame[name], stored, unit)
            names[name] = _renamed(name, unit)
    stored = _unit_of(frame.index.name, frame.index)
    if stored is not None and stored != unit:
        copy.index = _converted(frame.index, stored, unit)
        copy.index.name = _renamed(frame.index.name, unit)
    return copy.rename(columns=names)


def in_ms(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of a frame with its times in milliseconds: `in_unit(frame, "ms")`."""
    return in_unit(frame, "ms")


def _unit_of(name: object, values: Any) -> str | None:
    """The unit of a column or an index of times; None: it is none."""
    from pandas.api.types import is_numeric_dtype  # noqa: PLC0415

    told = _TIME.fullmatch(name) if isinstance(name, str) and not name.endswith(_RATE) else None
    return told["unit"] if told and is_numeric_dtype(getattr(values, "dtype", object)) else None


def _converted(values: Any, stored: str, unit: str) -> Any:
    """Times in another unit; in ns whole numbers, as they are stored."""
    if unit != "ns":
        return values * _NS[stored] / _NS[unit]
    whole = (values * _NS[stored]).round()
    return whole.astype("int64[pyarrow]" if "pyarrow" in str(values.dtype) else "Int64")


def _renamed(name: object, unit: str) -> str:
    return _TIME.sub(rf"\g<what>_{unit}", str(name))
