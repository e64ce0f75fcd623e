"""The packages of the extra `notebook`: imported when they are needed, with one clear sentence when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from dlprof.errors import UnavailableError


def need(module: str) -> Any:
    """Import a module of the extra.

    Raises:
        UnavailableError: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and error.name != module.partition(".")[0]:
            raise  # it is installed, and broken: its own words say how
        raise UnavailableError(
            f"{module.partition('.')[0]} is not installed.", hint="pip install 'dlprof[notebook]'"
        ) from None
