"""JSON that every reader takes: it has neither NaN nor infinity, which become the texts NaN, Infinity and -Infinity."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(value: Any, **how: Any) -> str:
    """`json.dumps`, with texts in place of numbers that JSON does not have."""
    try:
        return json.dumps(value, allow_nan=False, **how)
    except ValueError:
        return json.dumps(told(value), allow_nan=False, **how)


def told(value: Any) -> Any:
    """The same, as deep as it goes, with texts in place of these numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: told(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    return value
