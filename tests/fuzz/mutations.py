"""Damages a file where its structure is: values of JSON, fields of messages, cells of tables, columns of databases."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

from tests.fuzz import databases, messages

NUMBERS: tuple[Any, ...] = (
    0, -1, 1, 2, 7, 255, 2**15, 2**16, -(2**31), 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30,
    0.5, -0.0, 1e-300, 1e300, 4e15, 9.3e18, -1e300,
)  # fmt: skip
TEXTS = (
    "", "0", "-1", "\x00", "\x1b[31m", "\u202e", "\ud83d\ude00", "a" * 5000, "</script>", "{{7*7}}", "%s%n", "NaN", "1e999",
    "stream 7", "gpu/0", "/device:GPU:0 Compute", "ProfilerStep#1", "cudaLaunchKernel", "ncclAllReduce", "../../x", "é",
)  # fmt: skip
_OTHERS: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": None})
_PLACES_AT_MOST = 4
_TOKEN = re.compile(r"[0-9.]+|[A-Za-z_]+|[^\s\w]|\n")
_BYTES = (
    b"",
    b"\x00",
    b"\xff",
    b"\x80" * 11,
    b"\xff\xff\xff\xff\x7f",
    b"\n",
    b'"',
    b"[" * 3000,
    b"{",
    b"}",
    b"1e308",
    b"9" * 25,
)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with some damage: mostly in its structure, at times in its bytes."""
    ways = _ways(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        way = _bytes if rng.random() < 0.12 else rng.choice(ways)
        content = way(content, rng)
    return content


def _ways(content: bytes) -> tuple[Callable[[bytes, random.Random], bytes], ...]:
    """How such a file is damaged."""
    head = content.lstrip()[:1]
    if head in (b"{", b"["):
        return (_json, _json, _json, _text)
    if content.startswith(b"SQLite format 3"):
        return (databases.mutated, databases.mutated, databases.mutated, _bytes)
    if content[:1] in (b"\x0a", b"\x80") or b"\x00" in content[:200]:
        return (messages.mutated, messages.mutated, messages.mutated, _bytes)
    return (_text, _text, _lines)


def value(rng: random.Random) -> Any:
    """Something that may stand where it is not expected."""
    # A copy: a later change would be one of what all inputs are made of.
    return copy.deepcopy(rng.choice(rng.choice((NUMBERS, NUMBERS, TEXTS, _OTHERS))))


def _json(content: bytes, rng: random.Random) -> bytes:
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        return _text(content, rng)
    for _ in range(rng.randint(1, _PLACES_AT_MOST)):
        told = _changed(told, rng)
    return json.dumps(told, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _changed(told: Any, rng: random.Random) -> Any:
    """A value of JSON with one change, somewhere in it."""
    holder, key = _somewhere(told, rng)
    if holder is None:
        return value(rng) if rng.random() < 0.02 else told
    how = rng.randrange(8)
    here = holder[key]
    if how < 4:
        holder[key] = value(rng)
    elif how == 4 and isinstance(here, (int, float)) and not isinstance(here, bool):
        holder[key] = here * rng.choice((-1, 0, 1000, 1e9, 1e-9)) + rng.choice((0, 1, -1))
    elif how == 5:
        del holder[key]
    elif isinstance(holder, list):
        _rearranged(holder, key, rng)
    else:
        _swapped(holder, key, told, rng)
    return told


def _somewhere(told: Any, rng: random.Random) -> tuple[Any, Any]:
    """A place in a value: its holder and its key; deep places are as likely as high ones."""
    found: tuple[Any, Any] = (None, None)
    here = told
    while isinstance(here, (dict, list)) and here:
        key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        found = here, key
        here = here[key]
        if rng.random() < 0.15:
            break
    return found


def _rearranged(holder: list[Any], key: int, rng: random.Random) -> None:
    how = rng.randrange(4)
    if how == 0:
        holder.insert(key, holder[key])
    elif how == 1:
        rng.shuffle(holder)
    elif how == 2:
        holder[key:key] = [holder[key]] * rng.choice((2, 50))
    else:
        del holder[key:]


def _swapped(holder: dict[str, Any], key: str, told: Any, rng: random.Random) -> None:
    """A value under another key, or that of another place of the same key."""
    other, place = _somewhere(told, rng)
    if rng.random() < 0.5 and isinstance(other, dict) and place is not None:
        holder[key] = copy.deepcopy(other[place])
    else:
        holder[rng.choice(TEXTS)] = holder.pop(key)


def _text(content: bytes, rng: random.Random) -> bytes:
    """Tokens of a text: numbers, words and punctuation."""
    text = content.decode("utf-8", "surrogateescape")
    tokens = [match.span() for match in _TOKEN.finditer(text, 0, 1 << 16)]
    if not tokens:
        return _bytes(content, rng)
    low, high = rng.choice(tokens)
    with_ = rng.choice((str(value(rng)), str(value(rng)), "", text[low:high] * 2, text[slice(*rng.choice(tokens))]))
    return (text[:low] + with_ + text[high:]).encode("utf-8", "surrogateescape" if "\ud83d" not in with_ else "replace")


def _lines(content: bytes, rng: random.Random) -> bytes:
    """Whole lines of a text."""
    lines = content.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(4)
    if how == 0:
        del lines[at]
    elif how == 1:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 2:
        lines[at:at] = [lines[other]] * rng.choice((1, 20))
    else:
        del lines[at:]
    return b"\n".join(lines)


def _bytes(content: bytes, rng: random.Random) -> bytes:
    """Bytes, wherever they are."""
    out = bytearray(content)
    at = rng.randrange(len(out)) if out else 0
    to = min(len(out), at + rng.choice((1, 4, 60, 3000)))
    how = rng.randrange(6)
    if how == 0:
        del out[at:]
    elif how == 1 and out:
        out[at] = rng.randrange(256)
    elif how == 2:
        out[at:at] = rng.choice(_BYTES)
    elif how == 3:
        del out[at:to]
    elif how == 4 and out:
        out[at] ^= 1 << rng.randrange(8)
    else:
        out[at:at] = out[at:to]
    return bytes(out)
