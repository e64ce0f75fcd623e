"""pyarrow without pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

LISTS = """
import sys
from dlprof.store import run
import pyarrow as pa
pa.array([1, 2])
assert "pandas" not in sys.modules
"""
FRAMES = """
import pandas as pd
assert pa.Table.from_pandas(pd.DataFrame({"a": [1]})).num_rows == 1
assert pa.table({"a": [1]}).to_pandas()["a"].tolist() == [1]
"""


def test_a_list_becomes_an_array_without_pandas() -> None:
    """It would take a third of a second to load, for nothing."""
    subprocess.run([sys.executable, "-c", LISTS], check=True)


@pytest.mark.slow
def test_a_frame_is_still_one() -> None:
    """Whoever works with pandas notices nothing."""
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", LISTS + FRAMES], check=True)
