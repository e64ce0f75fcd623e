"""What a caller gives, looked at before it is used: what makes no sense is an error of dlprof's, with a sentence."""

from __future__ import annotations

from os import PathLike, fspath

from dlprof.errors import UsageError


def path(value: object, name: str) -> str:
    """A path or a name, as text.

    Raises:
        UsageError: It is neither.
    """
    made = fspath(value) if isinstance(value, str | PathLike) else None
    if not isinstance(made, str):
        raise UsageError(f"{name} is a path or a name, not {value!r}.")
    return made


def text(value: object, name: str) -> str:
    """A text.

    Raises:
        UsageError: It is none.
    """
    if isinstance(value, str):
        return value
    raise UsageError(f"{name} is a text, not {value!r}.")


def labels(value: object) -> tuple[str, str]:
    """The names of two sides.

    Raises:
        UsageError: They are not two texts.
    """
    if isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(one, str) for one in value):
        return value[0], value[1]
    raise UsageError(f"labels are two texts, not {value!r}.", hint="labels=('before', 'after')")


def count(value: object, name: str) -> int:
    """How many: a whole number from 1 on.

    Raises:
        UsageError: It is none.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise UsageError(f"{name} is a whole number from 1 on, not {value!r}.")
