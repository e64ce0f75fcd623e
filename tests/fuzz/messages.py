"""Damages protocol buffers, and what else is written in tags and lengths: the lengths around a change stay right."""

from __future__ import annotations

import random
from dataclasses import dataclass

from dlprof.ingest.parse.protowire import WireError, field
from tests.unit.ingest.protobuf import field as message
from tests.unit.ingest.protobuf import number, varint

_DEPTH_AT_MOST = 8
_NUMBERS = (0, 1, 2, 127, 128, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1)


@dataclass(frozen=True)
class _Part:
    key: int
    value: int | bytes
    text: bytes
    """The whole field."""


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The message with one change, somewhere in it; what is none has its bytes changed."""
    parts = _parts(content)
    if parts is None:
        return _raw(content, rng)
    return _changed(parts, rng, 0)


def _parts(content: bytes) -> list[_Part] | None:
    """The fields of a message; None: it is none."""
    at, found = 0, []
    try:
        while at < len(content):
            key, value, end = field(content, at, len(content))
            inner = value if isinstance(value, int) else content[slice(*value)]
            found.append(_Part(key, inner, content[at:end]))
            at = end
    except (WireError, IndexError):
        return None
    return found or None


def _changed(parts: list[_Part], rng: random.Random, depth: int) -> bytes:
    at = rng.randrange(len(parts))
    part = parts[at]
    inner = _parts(part.value) if isinstance(part.value, bytes) and depth < _DEPTH_AT_MOST else None
    if inner is not None and rng.random() < 0.8:
        changed = message(part.key, _changed(inner, rng, depth + 1))
    else:
        changed = _other(part, parts, rng)
    return b"".join((*(p.text for p in parts[:at]), changed, *(p.text for p in parts[at + 1 :])))


def _other(  # noqa: PLR0911  (one per way)
    part: _Part, parts: list[_Part], rng: random.Random
) -> bytes:
    """What stands in place of a field."""
    how = rng.randrange(9)
    if how == 0:
        return b""
    if how == 1:
        return part.text * rng.choice((2, 3, 40))
    if how == 2:
        return rng.choice(parts).text + part.text
    if how == 3:  # another field's number
        key = rng.choice((part.key + 1, max(1, part.key - 1), rng.choice(parts).key, 15, 2**28))
        return number(key, part.value) if isinstance(part.value, int) else message(key, part.value)
    if how == 4:  # of another kind
        return (
            message(part.key, varint(part.value)) if isinstance(part.value, int) else number(part.key, len(part.text))
        )
    if how == 5:
        return varint(part.key << 3 | rng.choice((1, 3, 5, 6, 7))) + bytes(rng.randrange(256) for _ in range(8))
    if isinstance(part.value, int):
        return number(part.key, rng.choice((*_NUMBERS, part.value + 1, part.value * 1000, -part.value)))
    return message(part.key, _raw(part.value, rng))


def _raw(content: bytes, rng: random.Random) -> bytes:
    """Bytes of a text, a packed row of numbers, or what is no message."""
    out = bytearray(content)
    how = rng.randrange(5)
    at = rng.randrange(len(out)) if out else 0
    if how == 0 and out:
        out[at] = rng.randrange(256)
    elif how == 1:
        del out[at:]
    elif how == 2:
        out[at:at] = rng.choice((b"\xff" * 10, b"\x00", b"\x80", varint(rng.choice(_NUMBERS)), b"::", b"/device:GPU:0"))
    elif how == 3 and out:
        out[at] ^= 1 << rng.randrange(8)
    else:
        out += out[at:]
    return bytes(out)
