"""Devices as tools of CUDA call them: `Tesla V100 (0)`, or a name alone."""

from __future__ import annotations

import re
from typing import Any

from dlprof.ingest.limits import budget

_NUMBERED = re.compile(r"(.*) \(([0-9]{1,4})\)$")
_AT_MOST = 9999


class DeviceNames:
    """Numbers devices by their texts; one that has no number in its text is counted as it comes."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def number(self, text: str) -> int:
        """The number of the device that is called so."""
        known = self._numbers.get(text)
        if known is None:
            match = _NUMBERED.match(text)
            known = int(match[2]) if match else min(len(self._numbers), _AT_MOST)
            budget().lane()
            self._numbers[text] = known
            self._names.setdefault(known, match[1] if match else text)
        return known

    def facts(self) -> list[dict[str, Any]]:
        """Number and name of each, as a trace's facts have them."""
        return [{"device": number, "name": name} for number, name in sorted(self._names.items())]
