"""What a step of a foreign trace takes where a device computes: ranges of the host end before the device is done."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dlprof.analysis.columns import integers, total
from dlprof.analysis.pace import Pace
from dlprof.store.run import Run

_COLUMNS = ("host", "rank", "device", "start_ns", "dur_ns", "delay_ns")


def of_steps(run: Run, steps: pa.Table) -> Pace | None:
    """The pace of the steps of a loop: their ranges, and what the device still had to do when the last one ended.

    Args:
        run: The run.
        steps: The steps, not empty.

    Returns:
        None where no device did anything: then each step is done when it ends.
    """
    work = _device_work(run, steps)
    if not work.num_rows:
        return None
    begin = integers(steps["start_ns"]) - integers(steps["input_ns"])
    end = integers(steps["start_ns"]) + integers(steps["dur_ns"])
    start, last = integers(work["start_ns"]), int(end.max())
    launched = start - integers(work["delay_ns"])
    own = (launched >= int(begin.min())) & (launched < last)
    done = int((start + integers(work["dur_ns"]))[own].max(initial=last))
    return Pace(int((end - begin).sum()) + max(0, done - last), total(steps["count"]), None)


def _device_work(run: Run, steps: pa.Table) -> pa.Table:
    """Kernels and copies of the process that the steps are of."""
    table = run.table("kernel_events", _COLUMNS)
    table = table.filter(pc.greater_equal(table["device"], 0))
    for name in ("host", "rank"):
        value = steps[name][0].as_py()
        if value is not None:
            table = table.filter(pc.equal(table[name].cast(pa.string()), str(value)))
    return table
