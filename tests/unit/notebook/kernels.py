"""Kernels of a window, for tests of frames and plots."""

from __future__ import annotations

from typing import Any

KERNELS: list[dict[str, Any]] = [
    {"op": "mm", "category": "matmul", "layer": "dense", "direction": "forward", "ms": 3},
    {"op": "add", "category": "elementwise", "layer": None, "direction": None, "ms": 1},
]
"""Two kernels that run once a step."""
