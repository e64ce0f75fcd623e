"""Whether output is coloured: `--color`, the environment (NO_COLOR, FORCE_COLOR), and whether a terminal reads it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

_chosen = "auto"


def choose(when: str) -> None:
    """Set what `--color` says, for all that this process prints.

    Args:
        when: `auto`, `always` or `never`.
    """
    global _chosen  # noqa: PLW0603  (one process has one command line)
    _chosen = when


def wanted(file: TextIO, environment: Mapping[str, str] | None = None, *, when: str | None = None) -> bool:
    """Whether what is printed to `file` is to have colours and other styles.

    Args:
        file: The stream.
        environment: Variables; None: those of the process. NO_COLOR (not empty) says no, above all others; FORCE_COLOR
            or CLICOLOR_FORCE (neither empty nor 0) say yes also where there is no terminal; TERM=dumb and CLICOLOR=0
            say no.
        when: What `--color` says, which stands above the environment; None: what was chosen.
    """
    told = os.environ if environment is None else environment
    when = when or _chosen
    if when != "auto":
        return when == "always"
    if told.get("NO_COLOR"):
        return False
    if any(told.get(name, "") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return file.isatty() and told.get("TERM") != "dumb" and told.get("CLICOLOR") != "0"
