"""The packages of the extra `notebook`: imported when they are needed, with one sentence when they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from dlprof.errors import UnavailableError


def need(module: str) -> Any:
    """Import a module of the extra.

    Raises:
        UnavailableError: It is not installed.
    """
    package = module.partition(".")[0]
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise  # it is installed, and lacks something itself
        raise UnavailableError(f"{package} is not installed.", hint="pip install 'dlprof[notebook]'") from None
    return importlib.import_module(module)
