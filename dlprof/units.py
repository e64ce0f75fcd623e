"""Figures as text: times, shares, sizes, bars and strips."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

ASCII = str.maketrans("µ…−←→“”", 'u.-<>""')
"""What stands for signs of our own where only ASCII may be printed: `us` for `µs`."""
SPELLED = "dlprof.spelled"
"""How streams of other encodings take what they lack (`errors=`): signs of our own spelled in ASCII, others `?`."""
_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = "_.:-=+*#"
_BAR = " ▏▎▍▌▋▊▉█"


def duration(ns: float | None) -> str:
    """A time with three significant digits and a fitting unit; `-` where there is none."""
    if ns is None:
        return "-"
    if ns < 0:
        return f"-{duration(-ns)}"
    for limit, scale, unit in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms"), (600e9, 1e9, "s")):
        if abs(ns) < limit * 0.9995:
            value = ns / scale
            digits = 0 if abs(value) >= 100 or unit == "ns" else 1 if abs(value) >= 10 else 2
            return f"{value:.{digits}f} {unit}"
    minutes, seconds = divmod(round(ns / 1e9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds:02d} s"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 pass`, `2,000 passes`; `many`: where it is not `one` with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def times(count: int) -> str:
    """How often: `once`, `2,000 times`."""
    return "once" if count == 1 else f"{count:,} times"


def percent(part: float | None, whole: float | None) -> str:
    """A share in percent; `-` where it is not known."""
    if part is None or not whole:
        return "-"
    return f"{100 * part / whole:.1f}"


def size(value: float | None) -> str:
    """A number of bytes."""
    if value is None:
        return "-"
    for unit in ("B", "kB", "MB"):
        if abs(value) < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"


ALL = 1.005
"""A larger share is told as a multiple: of a gap, what takes longer may be more than all of it."""


def bar(share: float, width: int, *, ascii_only: bool = False) -> str:
    """A bar of `share` (0 to 1) of `width` characters."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if ascii_only:
        return "#" * round(eighths / 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_BAR[rest] if rest else "")


def strip(values: Sequence[float | None], *, ascii_only: bool = False) -> str:
    """Percentages over time as one character each; blank where nothing was measured."""
    blocks = _ASCII_BLOCKS if ascii_only else _BLOCKS
    return "".join(" " if v is None else blocks[min(7, max(0, int(v / 100 * 8)))] for v in values)


def resample(values: Sequence[float | None], width: int) -> list[float | None]:
    """`values` as `width` means of neighbours, where there are more than that."""
    if len(values) <= width:
        return list(values)
    parts = [values[i * len(values) // width : (i + 1) * len(values) // width] for i in range(width)]
    known = [[v for v in part if v is not None] for part in parts]
    return [sum(part) / len(part) if part else None for part in known]


def cut(text: str, length: int) -> str:
    """A text of no more characters than that; one that was longer ends with a sign of it."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def safe(text: str) -> str:
    """`text` without control characters: names from a run must not steer the reader's terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end].translate(ASCII)
    return "".join(sign if sign.isascii() else "?" for sign in signs), error.end


codecs.register_error(SPELLED, _spelled)
