"""The locks of the managed environments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlprof.backends.base import LOCKS


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_package_of_a_lock_has_an_exact_version_and_hashes(lock: Path) -> None:
    """And no line names an index."""
    text = lock.read_text()
    blocks = [block for block in re.split(r"\n(?=\S)", text.strip()) if not block.startswith("#")]

    assert all(re.match(r"[\w.-]+(\[[\w, -]+\])?==[\w.+!-]+", block) and "--hash=sha256:" in block for block in blocks)
    assert "http" not in text
    assert "index" not in text


@pytest.mark.parametrize("lock", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_pin_of_an_input_is_in_its_lock(lock: Path) -> None:
    """The lock was made again when its input was changed."""
    pins = re.findall(r"^([\w.-]+==[\w.]+)", lock.with_suffix(".in").read_text(), re.MULTILINE)

    assert pins
    assert [pin for pin in pins if pin.replace("_", "-") not in lock.read_text().replace("_", "-")] == []
