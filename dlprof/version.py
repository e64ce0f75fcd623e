"""The version of dlprof; apart from the package itself, which loads what notebooks use."""

from __future__ import annotations

__version__ = "0.1.0.dev0"
