"""Names and types of columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dlprof.notebook import columns
from dlprof.report import kernel_json

ALL = {name: value for name, value in vars(columns).items() if isinstance(value, dict) and name.isupper()}


@pytest.mark.parametrize("name", ALL)
def test_times_are_whole_nanoseconds_and_shares_are_real(name: str) -> None:
    """Their names say so."""
    for column, kind in ALL[name].items():
        if column.endswith("_ns"):
            assert kind == pa.int64()
        if column.startswith("share"):
            assert kind == pa.float64()


def test_kernels_have_the_keys_of_the_command() -> None:
    """All of them have a type."""
    assert set(kernel_json.KEYS) <= set(columns.KERNELS)
