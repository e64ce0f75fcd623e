"""The manifest as a file holds it: JSON that is checked when it is read, and says which format it is of."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from dlprof.schema.manifest import FORMAT, Manifest

T = TypeVar("T")
_WRONG = re.compile(r"Expected `([^`]+)`,? ?(?:got `([^`]+)`|(.*))", re.DOTALL)


class ManifestError(ValueError):
    """This is no manifest, or a damaged one."""


class NewerFormatError(ManifestError):
    """The manifest is of a newer dlprof; the text is its format's version."""


def decode(content: bytes) -> Manifest:
    """The manifest in a file.

    Raises:
        NewerFormatError: It is of a newer dlprof.
        ManifestError: It is none, or damaged.
    """
    head = _decoded(content, _Head)
    name, _, version = head.format.partition("/")
    if name != FORMAT.partition("/")[0] or not (version.isdecimal() and version.isascii() and len(version) < 10):
        raise ManifestError("it is no manifest of dlprof")
    if int(version) > int(FORMAT.partition("/")[2]):
        raise NewerFormatError(version)
    manifest = _decoded(content, Manifest)
    _check(manifest)
    return manifest


def _decoded(content: bytes, type_: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=type_)
    except msgspec.ValidationError as error:
        raise ManifestError(_told(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ManifestError(f"{error}") from error


def _told(error: msgspec.ValidationError) -> str:
    """What is wrong with a field, by its name."""
    text, _, where = str(error).partition(" - at `$")
    name = where.strip("`").lstrip(".") or "all of it"
    found = _WRONG.fullmatch(text)
    if found is None:
        return f"{name}: {text}"
    return f"{name} {'is of type ' + found[2] if found[2] else 'is out of range'}, where {found[1]} belongs"


def _check(manifest: Manifest) -> None:
    """What types alone do not say.

    Raises:
        ManifestError: A time is none.
    """
    for name, text in (("created", manifest.created), ("recorded", manifest.recorded)):
        try:
            datetime.fromisoformat(text or "2000-01-01")
        except ValueError:
            raise ManifestError(f"{name} is no time as of ISO 8601") from None
    if manifest.conductor is not None and not math.isfinite(manifest.conductor.started):
        raise ManifestError("conductor.started is no number")


class _Head(msgspec.Struct):
    format: str = ""


def encode(manifest: Manifest) -> bytes:
    r"""The manifest as a file holds it; it says this dlprof's format. Bytes that are not UTF-8 are spelled `\xff`."""
    told = msgspec.structs.replace(manifest, format=FORMAT)
    try:
        content = msgspec.json.encode(told)
    except UnicodeEncodeError:  # of a path or an argument
        content = msgspec.json.encode(_spelled(msgspec.to_builtins(told)))
    return msgspec.json.format(content, indent=1) + b"\n"


def _spelled(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_spelled(key): _spelled(one) for key, one in value.items()}
    return [_spelled(one) for one in value] if isinstance(value, (list, tuple)) else value


def as_builtins(manifest: Manifest) -> dict[str, Any]:
    """The manifest as plain dictionaries, as its file has it."""
    return msgspec.json.decode(encode(manifest))  # type: ignore[no-any-return]
