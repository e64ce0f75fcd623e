"""Windows that tf.data cuts one by one: each is a data set of its own, which a function makes batches of."""

from __future__ import annotations

from dlprof.analysis.findings.case import Case
from dlprof.analysis.input_graphs import GraphStage

SAID = (
    "and makes a data set of a window each time, which is read row by row: batch the numbers of the first rows, and "
    "gather all windows of a batch at once. "
)
FIX = (
    "Dataset.range(len(rows) - length + 1), shuffled, .batch(N), and .map(lambda first: tf.gather(rows, "
    "first[:, None] + tf.range(length, dtype=tf.int64))), in place of .window(...) and .flat_map(...)"
)
_OF_DATA_SETS = frozenset({"FlatMap", "Interleave"})
_WRITTEN = r"\.window\("


def makes_data_sets(stage: GraphStage) -> bool:
    """Whether a stage reads data sets that a function makes, so that its elements are no calls of that function."""
    return stage.name in _OF_DATA_SETS


def are_cut(case: Case, stage: GraphStage) -> bool:
    """Whether it reads windows, for all that the source tells."""
    return makes_data_sets(stage) and stage.function is not None and case.code.written(_WRITTEN) is not None
