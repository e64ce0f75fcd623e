"""Rows and tables as pandas frames.

Types are those of Arrow (`pandas.ArrowDtype`): whole numbers stay whole, and what was not measured is `<NA>`, which is
not the same as a loss that is NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dlprof.notebook.extra import need
from dlprof.store import query

if TYPE_CHECKING:
    import pandas as pd


def of_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, pa.DataType]) -> pd.DataFrame:
    """Rows with these columns; other keys of the rows are left out.

    Raises:
        UnavailableError: pandas is not installed.
    """
    schema = pa.schema(list(columns.items()))
    return of_table(pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows], schema=schema))


def of_table(table: pa.Table) -> pd.DataFrame:
    """A table as a frame.

    Raises:
        UnavailableError: pandas is not installed.
    """
    return query.plain(table).to_pandas(types_mapper=need("pandas").ArrowDtype)
