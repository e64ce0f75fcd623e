"""A stored run, read."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dlprof.errors import BadDataError
from dlprof.schema.tables import TABLES
from tests.unit.runs import trained


def test_a_table_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """With the way out."""
    run = trained(tmp_path / "r")
    newer = TABLES["gpu"].empty_table().replace_schema_metadata({"dlprof_schema_version": "99"})
    pq.write_table(newer, run.folder.tables / "gpu.parquet")

    with pytest.raises(BadDataError, match="newer dlprof"):
        run.table("gpu")
