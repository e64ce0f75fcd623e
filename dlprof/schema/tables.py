"""The tables of a run: names, columns, types and units, in one place.

Every table is one Parquet file, `tables/NAME.parquet`. All times are integer nanoseconds on the
run's timeline, whose zero is the moment at which dlprof started the traced process
(`manifest.clock`). Units stand in the column names. A value that was not measured is null.

History of SCHEMA_VERSION:
    1  first version
    2  kernels: kernel_ops, kernel_events, kernel_totals, kernel_windows, gpu_gaps; sources
    3  scheduling, calls and stalls in process_samples and machine
    4  stacks: threads of an engine that call Python are not called MainThread
    5  kernel_ops: gradients of biases are no convolutions; imported stacks: threads without a name are told apart
    6  lines: how, samples; lines that were not counted, from samples; first_line and hits may be null
    7  the folder is sealed (`dlprof.store.seal`); spans that never ended last as long as the stream does;
       lines: how is exact, scaled or sampled; hits of functions that were counted in windows are scaled
    8  processes: role is main, worker or child; name, CPU time, memory and I/O of each; stacks and lines have the
       process that they are of
    9  loaders: passes over them; processes: the line that started each
    10 machine: limits of memory; process_samples: kinds of memory; memory_owners; layers; syncs: where the program
       asked for values of the device; input_stages: stages of input pipelines in kernel windows; heap, heap_held: who
       allocated memory
    11 process_samples: open descriptors, machine: their limit; handles: what these and threads are; held_objects: how
       much Python holds
    12 kernel_ops: the line of the user's that made an operation of a compiled program
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

SCHEMA_VERSION = 12

_TEXT = pa.dictionary(pa.int32(), pa.string())
_NS = pa.int64()

# Every row of a table of measured things names its process, so that runs of several processes,
# ranks and hosts can be put together without a change of schema.
_PROCESS = (("host", _TEXT), ("rank", pa.int16()), ("pid", pa.int32()))


def _table(*columns: tuple[str, pa.DataType], of_process: bool = True) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in ((*_PROCESS, *columns) if of_process else columns)])


TIMELESS = frozenset({"lines"})
"""Tables whose `time_ns` is how long something took, not when it was."""
TABLES: Mapping[str, pa.Schema] = MappingProxyType(
    {
        # Processes of the run: the traced one and those it started, as the process sampler saw them.
        "processes": _table(
            ("parent_pid", pa.int32()),
            ("role", _TEXT),  # main | worker (of multiprocessing or its kin) | child; an older dlprof: script | child
            ("command", pa.string()),
            ("start_ns", _NS),  # by the kernel, to a clock tick; an older dlprof: when it was first seen
            ("end_ns", _NS),  # when it was first seen ended; null: still there at the end
            ("name", _TEXT),  # of a worker, as its maker calls it; null: none is known
            # What it used in the run, as last seen: its last moments, up to a sample, are not in these.
            ("cpu_ns", _NS),
            ("peak_rss_bytes", pa.int64()),
            ("read_bytes", pa.int64()),  # by system calls, from the page cache too; null: not seen for long enough
            ("write_bytes", pa.int64()),
            ("file", _TEXT),  # the user's line that started it; null: not known
            ("line", pa.int32()),
        ),
        # Passes over loaders (DataLoader, PyDataset ...), from `iter` to the end: an epoch, as a rule.
        "loaders": _table(
            ("thread_id", pa.int64()),
            ("loader", pa.int32()),  # the same in all passes over one loader
            ("kind", _TEXT),  # DataLoader | Gluon DataLoader | PyDataset | Sequence | generator
            ("dataset", _TEXT),  # class of what it reads from
            ("file", _TEXT),  # the user's line that made it, else the one that iterates it; null: none
            ("line", pa.int32()),
            ("start_ns", _NS),  # `iter` was called
            ("open_ns", _NS),  # what that took: workers are started in it
            ("dur_ns", _NS),  # from start_ns to the last that was seen of the pass
            ("first_wait_ns", _NS),  # time inside the first `next`; null: there was none
            ("waited_ns", _NS),  # in all that gave an item; on an engine's own thread that is no wait of the training
            ("last_wait_ns", _NS),  # in the call that ended the pass: workers are stopped in it; null: it was left
            ("item_count", pa.int64()),
            ("workers", pa.int32()),  # 0: the calling thread does the work
            ("uses_processes", pa.bool_()),  # else threads
            ("persistent", pa.bool_()),  # workers outlive the pass; null: there are none
            ("queue", pa.int32()),  # batches that are made ahead; null: none, or no bound
            ("queue_per_worker", pa.bool_()),
            ("batch_size", pa.int32()),
            ("collate", _TEXT),  # function that makes a batch of items
        ),
        # Where the program asked for a value of the device, or waited for it: calls of the user's own lines, summed.
        "syncs": _table(
            ("what", _TEXT),  # item() | float() | numpy() | block_until_ready() ...
            ("file", _TEXT),
            ("line", pa.int32()),
            ("calls", pa.int64()),
            ("dur_ns", _NS),  # time inside of them, all threads together
            ("start_ns", _NS),  # the first began
            ("end_ns", _NS),  # the last ended
        ),
        # Collectives of several ranks, as each saw them: `backward` is what DDP waits for when gradients are done.
        "collectives": _table(
            ("kind", _TEXT),  # backward | buffers | all_reduce | broadcast | all_gather | barrier ...
            ("process_group", _TEXT),  # name of the group of ranks, as the engine calls it
            ("ordinal", pa.int32()),  # place among those of its kind and group: the same in all ranks
            ("start_ns", _NS),  # this rank had all that it gives
            ("dur_ns", _NS),  # until it had what the others gave: the wait for the last of them, and the transfer
            ("blocked_ns", _NS),  # of dur_ns its end, in which the thread stood still for it
            ("bytes", pa.int64()),  # that this rank gave; null: not known
        ),
        # Spans of the in-process probe: a call of the user's program into Keras, an import, an epoch.
        "spans": _table(
            ("thread_id", pa.int64()),
            ("thread", _TEXT),
            ("span_id", pa.int32()),
            ("parent_id", pa.int32()),  # null: outermost
            ("kind", _TEXT),  # vocabulary: dlprof_probes.wire.SpanKind
            ("name", _TEXT),
            ("start_ns", _NS),
            ("dur_ns", _NS),  # up to the last record of the stream for a span that never ended
            ("ended", pa.bool_()),
            ("file", _TEXT),  # the caller's file and line, null where there is none
            ("line", pa.int32()),
            ("detail", pa.string()),  # JSON object, null where there is none
        ),
        # Phases of the main thread: without overlap, summing to the wall time.
        "phases": _table(
            ("phase", _TEXT),
            ("parent", _TEXT),  # null for a top-level phase
            ("dur_ns", _NS),
            ("count", pa.int32()),  # number of separate entries into the phase
        ),
        # The timeline behind `phases`: leaf phases in order (steps are not cut into their parts here).
        "phase_intervals": _table(("phase", _TEXT), ("start_ns", _NS), ("dur_ns", _NS)),
        # One row per step (or per `count` merged steps on very long runs).
        "steps": _table(
            ("thread_id", pa.int64()),
            ("loop", _TEXT),  # train | test | predict | data (a tf.data iterator in user code)
            ("loop_id", pa.int32()),  # span_id of the fit / evaluate / predict around it
            ("epoch", pa.int32()),  # from 0, as Keras tells its callbacks; reports count from 1
            ("step", pa.int32()),  # index of the batch in its epoch, from 0
            ("count", pa.int32()),
            ("start_ns", _NS),  # begin of the batch: right before the batch-begin callbacks
            ("dur_ns", _NS),  # to right after the batch-end callbacks
            ("input_ns", _NS),  # host time between the previous batch and this one, before start_ns
            ("callbacks_ns", _NS),  # batch-begin and batch-end callbacks, on the calling thread, without wait_ns
            ("call_offset_ns", _NS),  # start of the step function's call, from start_ns
            ("call_ns", _NS),  # the step function's call (dispatch only on asynchronous backends)
            ("compiled", pa.bool_()),  # a graph was compiled in it, or it is the first call of its step function
            ("first", pa.bool_()),  # first call of its step function: tracing, compilation and one execution
            ("samples", pa.int64()),  # null where Keras does not say
            ("wait_ns", _NS),  # in it, the host waited for values of the device; null: not looked at
        ),
        # One row per epoch of fit.
        "epochs": _table(
            ("loop_id", pa.int32()),
            ("epoch", pa.int32()),  # from 0; reports count from 1
            ("start_ns", _NS),
            ("dur_ns", _NS),
            ("steps", pa.int32()),
        ),
        # Metrics that Keras had computed anyway. `step` is null for an epoch's metrics.
        "metrics": _table(
            ("loop_id", pa.int32()),
            ("epoch", pa.int32()),  # from 0; reports count from 1
            ("step", pa.int32()),  # from 0
            ("name", _TEXT),
            ("value", pa.float64()),
            ("time_ns", _NS),
        ),
        # The user's lines, counted by line_profiler or else seen in samples. `time_ns` includes what the line calls.
        "lines": _table(
            ("file", _TEXT),
            ("function", _TEXT),
            ("first_line", pa.int32()),
            ("line", pa.int32()),
            ("hits", pa.int64()),  # null: not counted; scaled: estimated
            ("time_ns", _NS),  # of all threads; sampled: of the samples that it was seen in
            ("source", pa.string()),
            ("how", _TEXT),  # exact | scaled | sampled; null or counted: exact, by an older dlprof
            ("samples", pa.int64()),  # in which it was seen; null where it was counted
        ),
        # Sampled Python stacks (py-spy): a thread had stack `stack_id` from start_ns for dur_ns.
        "stacks": _table(
            ("thread_id", pa.int64()), ("thread", _TEXT), ("start_ns", _NS), ("dur_ns", _NS), ("stack_id", pa.int32())
        ),
        # The frames of each distinct stack; depth 0 is the outermost.
        "frames": _table(
            ("stack_id", pa.int32()),
            ("depth", pa.int16()),
            ("function", _TEXT),
            ("file", _TEXT),
            ("line", pa.int32()),
            of_process=False,
        ),
        # Per core, over the `interval_ns` that ends at time_ns. Percent of that core.
        "cores": _table(
            ("time_ns", _NS),
            ("interval_ns", _NS),
            ("core", pa.int16()),
            ("user_pct", pa.float32()),
            ("system_pct", pa.float32()),
            ("iowait_pct", pa.float32()),
            ("steal_pct", pa.float32()),
            ("busy_pct", pa.float32()),  # all but idle and iowait
            ("freq_mhz", pa.float32()),
            of_process=False,
        ),
        # The machine as a whole. CPU in percent of one core: 200 = two cores busy.
        "machine": _table(
            ("time_ns", _NS),
            ("interval_ns", _NS),
            ("cpu_pct", pa.float32()),
            ("others_cpu_pct", pa.float32()),  # not of the traced tree, nor of dlprof
            ("dlprof_cpu_pct", pa.float32()),  # dlprof and its sidecars
            ("memory_available_bytes", pa.int64()),
            ("swap_used_bytes", pa.int64()),
            ("temperature_c", pa.float32()),
            # Counters since the machine began: time in which something waited for a core, for memory, for a disk ...
            ("stall_cpu_ns", _NS),
            ("stall_memory_ns", _NS),
            ("stall_io_ns", _NS),
            ("throttled_ns", _NS),  # ... and in which the quota of the process's control group held it back
            # What holds the traced process's memory; null: no limit, or it is not told.
            ("limit_address_space_bytes", pa.int64()),
            ("limit_data_bytes", pa.int64()),
            ("limit_group_bytes", pa.int64()),  # of its control group, or of the tightest one around that
            ("group_used_bytes", pa.int64()),
            ("group_killed_count", pa.int64()),  # processes of the group that the kernel killed for want of memory
            ("limit_descriptors", pa.int32()),  # that the traced process may have open
            of_process=False,
        ),
        # The traced process tree, one row per process and sample.
        "process_samples": _table(
            ("time_ns", _NS),
            ("interval_ns", _NS),
            ("cpu_pct", pa.float32()),  # of one core; the script's own has that of children between two samples, too
            ("rss_bytes", pa.int64()),
            ("threads", pa.int32()),
            ("switches_voluntary", pa.int64()),  # counters since the process began, as are those below
            ("switches_involuntary", pa.int64()),
            ("faults_minor", pa.int64()),
            ("faults_major", pa.int64()),
            ("read_bytes", pa.int64()),  # by system calls, from the page cache too
            ("write_bytes", pa.int64()),
            ("run_ns", _NS),  # of all threads that are there: on a core ...
            ("wait_ns", _NS),  # ... and able to run, without one
            ("main_run_ns", _NS),  # of the main thread, and while phases are of another one of that
            ("main_wait_ns", _NS),
            ("io_calls", pa.int64()),  # reads and writes
            # Kinds of memory, once a second: the first three sum to rss_bytes of that moment.
            ("anonymous_bytes", pa.int64()),
            ("file_bytes", pa.int64()),
            ("shared_bytes", pa.int64()),  # shared memory and tmpfs
            ("swap_bytes", pa.int64()),
            ("peak_rss_bytes", pa.int64()),  # the most that was ever resident, as the kernel keeps it
            ("address_space_bytes", pa.int64()),
            ("pss_bytes", pa.int64()),  # every ten seconds or more: shared pages by share
            ("uss_bytes", pa.int64()),  # likewise: pages of this process alone
            ("descriptors", pa.int32()),  # that are open, once a second
        ),
        # What open descriptors and threads of a process are, each time when there are far more of them.
        "handles": _table(
            ("time_ns", _NS),
            ("kind", _TEXT),  # descriptors | threads
            ("count", pa.int32()),  # how many there were
            ("looked_at", pa.int32()),  # of these, the newest
            ("name", _TEXT),  # target of a descriptor, name of a thread; its numbers are `#`
            ("of_name", pa.int32()),  # of those that were looked at so many are called that
        ),
        # How much Python holds, now and then while it trains.
        "held_objects": _table(
            ("time_ns", _NS),
            ("kind", _TEXT),  # blocks (of Python's allocator) | objects | tensors | type
            ("name", _TEXT),  # of the type; null: of another kind
            ("count", pa.int64()),
            ("more_count", pa.int64()),  # of a type: than when they were first counted
        ),
        # What holds memory, as far as shapes tell: variables of models, what is made of them in a step.
        "memory_owners": _table(
            ("model", pa.int32()),  # number of the model in the run
            ("model_name", _TEXT),
            ("layer", _TEXT),  # null: of no layer
            ("name", _TEXT),  # of the variable or array; null: none
            ("kind", _TEXT),  # vocabulary: MemoryKind
            ("direction", _TEXT),  # forward | backward | update; null: it is there all the time
            ("device", _TEXT),  # as the engine calls it; null: not told
            ("shape", _TEXT),  # `3x4`; empty: one number
            ("dtype", _TEXT),
            ("bytes", pa.int64()),  # null: not known, because a length or the batch is not
            ("how", _TEXT),  # exact | estimate
            ("count", pa.int32()),  # variables that are in the row: more than one where many were left out
            ("time_ns", _NS),  # when it was looked at
        ),
        # Who allocated the memory that was held, where allocations were recorded (`--heap`): a row for each place.
        "heap": _table(
            ("place", pa.int32()),  # number of the place
            (
                "file",
                _TEXT,
            ),  # of the innermost line of the user's own under which it was allocated; null: none was there
            ("line", pa.int32()),
            ("function", _TEXT),
            ("at_file", _TEXT),  # of the innermost line of Python; null: no Python ran on the thread
            ("at_line", pa.int32()),
            ("at_function", _TEXT),
            ("peak_bytes", pa.int64()),  # held when the recorded memory was at its largest
            ("peak_count", pa.int64()),
            ("places", pa.int32()),  # that are in the row: more than one where small ones were left out
        ),
        # What each of these places held at some moments.
        "heap_held": _table(
            ("place", pa.int32()),
            ("time_ns", _NS),
            ("bytes", pa.int64()),
        ),
        # What the layers of models are given and give in a training step, by the graph that Keras keeps of them.
        "layers": _table(
            ("model", pa.int32()),  # number of the model in the run
            ("layer", _TEXT),
            ("class", _TEXT),
            ("inputs", pa.list_(_TEXT)),  # shapes: `128x784`; `?` for a length that is not known
            ("output", _TEXT),
            ("dtype", _TEXT),  # in which it computes
            ("calls", pa.int32()),  # in a step
            ("trained", pa.bool_()),
            ("first", pa.bool_()),  # what it is given is data: its gradient is not asked for
            ("weight_names", pa.list_(_TEXT)),  # `kernel`, `query/kernel`
            ("weights", pa.list_(_TEXT)),  # their shapes
            ("bytes_per_value", pa.int32()),  # null: of a type that is not known
        ),
        # NVML's series, one row per GPU and sample.
        "gpu": _table(
            ("time_ns", _NS),
            ("gpu", pa.int16()),
            ("utilisation_pct", pa.float32()),  # share of time in which any kernel ran: not how full the GPU was
            ("memory_utilisation_pct", pa.float32()),
            ("memory_used_bytes", pa.int64()),
            ("memory_total_bytes", pa.int64()),
            ("process_memory_bytes", pa.int64()),  # of the traced tree
            ("power_w", pa.float32()),
            ("temperature_c", pa.float32()),
            ("sm_clock_mhz", pa.float32()),
            ("memory_clock_mhz", pa.float32()),
            ("pcie_tx_kb_per_s", pa.float32()),
            ("pcie_rx_kb_per_s", pa.float32()),
            ("throttle_reasons", pa.int64()),  # NVML bit mask; 1 is "idle"
            of_process=False,
        ),
        # Garbage collections of 0.2 ms and more.
        "gc": _table(("start_ns", _NS), ("dur_ns", _NS), ("generation", pa.int8()), ("collected", pa.int64())),
        # What was executed: one row per distinct kind, name and attribution. SQL view `kernels` joins it to its events.
        "kernel_ops": _table(
            ("op_id", pa.int32()),
            (
                "kind",
                _TEXT,
            ),  # kernel (on a device) | operator (on the host) | transfer | runtime | wait | input | annotation
            # ... | python (a function that no other one of the trace is around)
            ("name", _TEXT),
            ("op", _TEXT),  # type of the operator, as its engine calls it; null where it is not known
            ("category", _TEXT),  # matmul, conv, ...: dlprof.ingest.attribution.categories
            ("layer", _TEXT),  # Keras layer, optimiser, `loss`, `metrics`, `(xla)`; null: not attributed
            ("direction", _TEXT),  # forward | backward | update; null where it is not known
            ("flops", pa.float64()),  # of one execution; null where shapes are not known
            ("bytes", pa.float64()),  # moved by one execution of a transfer
            ("file", _TEXT),  # of the innermost line of the user's that made it; null: its engine does not say
            ("line", pa.int32()),
            of_process=False,
        ),
        # One row per execution.
        "kernel_events": _table(
            ("op_id", pa.int32()),
            ("device", pa.int16()),  # -1: the host
            ("lane", _TEXT),  # thread or stream
            ("start_ns", _NS),
            ("dur_ns", _NS),
            ("nested_ns", _NS),  # of dur_ns, inside operators and calls within this one
            ("delay_ns", _NS),  # from the beginning of the launching call to start_ns; null on the host
            ("step", pa.int32()),  # running number of the step in the run, or the number that the trace gives it
            ("phase", _TEXT),
            ("window", pa.int16()),
        ),
        # Sums without times, from profilers that keep nothing else.
        "kernel_totals": _table(
            ("op_id", pa.int32()),
            ("device", pa.int16()),
            ("count", pa.int64()),
            ("total_ns", _NS),
            ("min_ns", _NS),
            ("max_ns", _NS),
            ("window", pa.int16()),
        ),
        # Hardware counters of kernels, over all executions of one, from profilers that count and keep no times.
        "kernel_counters": _table(
            ("device", pa.int16()),
            ("kernel", _TEXT),
            ("counter", _TEXT),  # as its profiler calls it: `achieved_occupancy`
            ("title", _TEXT),  # what it says of it; null: nothing
            ("unit", _TEXT),  # %, B, KB/s, level, ...; null: a number
            ("count", pa.int64()),  # executions
            ("min_value", pa.float64()),
            ("max_value", pa.float64()),
            ("mean_value", pa.float64()),
        ),
        # Stages of input pipelines, as summed over what the engine's own profiler told in a window (tf.data).
        "input_stages": _table(
            ("window", pa.int16()),
            ("pipeline", pa.int32()),  # number in the window
            ("stage", pa.int32()),  # number in the pipeline: each before those that it reads from
            ("parent", pa.int32()),  # that reads from it; null: it is the outermost
            ("name", _TEXT),  # as the engine calls it: ParallelMapV2
            ("dataset", _TEXT),  # name of its data set: MapDataset:1; null: not told
            ("element_count", pa.int64()),  # calls for an element
            ("total_ns", _NS),  # time in them
            ("own_ns", _NS),  # of that outside of the stages that it reads from in the same call, and of starting_ns
            ("starting_ns", _NS),  # of that, in which it made the iterators of what it reads from
            ("function_ns", _NS),  # of threads in the function that it calls on others; null: none was seen
            ("asynchronous", pa.bool_()),  # elements are made on other threads: own_ns is waiting for these
            ("parallelism", pa.int32()),  # elements that may be made at a time; null: not told, as are those below
            ("autotuned", pa.bool_()),  # the engine chooses parallelism or buffer
            ("buffer", pa.int32()),  # elements that it may hold
            ("buffered_count", pa.float64()),  # elements that it held, on average
            ("batch_size", pa.int32()),
            ("file", _TEXT),  # the user's line that made it; null: the engine put it in, or it is not known
            ("line", pa.int32()),
            ("function", _TEXT),  # the user's function that it calls
        ),
        # Stretches of time in which kernels were traced: windows of a run, or whole foreign traces.
        "kernel_windows": _table(
            ("window", pa.int16()),
            ("engine", _TEXT),
            ("source", _TEXT),  # file
            ("loop", _TEXT),  # train | test | predict; null for foreign traces
            ("start_ns", _NS),
            ("dur_ns", _NS),  # until all that was started in it had finished
            ("first_step", pa.int32()),  # running number of the step
            ("steps", pa.int32()),
            ("start_cost_ns", _NS),  # of switching the tracer on, outside the window
            ("stop_cost_ns", _NS),  # of switching it off and writing
            ("dropped", pa.int64()),  # events that are missing
        ),
        # Time in which no kernel and no copy ran on a GPU, split at the launch of the one that ended it. Where that
        # launch is not known, or is that of a whole graph, dur_ns less the three is time of no known cause.
        "gpu_gaps": _table(
            ("device", pa.int16()),
            ("start_ns", _NS),
            ("dur_ns", _NS),
            ("host_ns", _NS),  # before the launch, or in a launch that took long: the host had nothing launched
            ("launch_ns", _NS),  # latency of the launch
            ("wait_ns", _NS),  # launched, but held up on the device
            ("kernel", _TEXT),  # that ended it
            ("blamed", _TEXT),  # what ran longest on the launching thread during host_ns; null: nothing known
            ("blamed_within", _TEXT),  # the range around that which somebody named; null: none
            ("blamed_at", _TEXT),  # the function of Python around it, rather the user's; null: none recorded
            ("blamed_elsewhere", pa.bool_()),  # it ran on another thread: nothing is known of the launching one
            ("window", pa.int16()),
        ),
        # Files that an imported run was made of.
        "sources": _table(
            ("file", _TEXT),
            ("format", _TEXT),
            ("events", pa.int64()),
            ("shift_ns", _NS),
            ("facts", pa.string()),
            of_process=False,
        ),
        # What readers passed over, file by file.
        "skipped": _table(
            ("source", _TEXT),  # file
            ("what", _TEXT),
            ("events", pa.int64()),  # events, rows or samples
            ("why", pa.string()),
            of_process=False,
        ),
        # What each probe could do, and what it cost.
        "probes": _table(
            ("name", _TEXT),
            ("state", _TEXT),  # on | off | unavailable | failed
            ("reason", pa.string()),  # null where it is on and whole
            ("cost_ns", _NS),  # time in the process, or CPU time beside it; null: not known
            ("cost_source", pa.string()),  # how the cost was got
            ("tax_ns", _NS),  # what of it the run had to wait for; null: not known, or in another probe's
            ("thinned", pa.string()),  # what there was less of, to keep the budget; null: nothing
            ("thinned_from_value", pa.float64()),  # in the unit that `thinned` names
            ("thinned_to_value", pa.float64()),
            ("thinned_why", pa.string()),
            of_process=False,
        ),
        # Anything dropped, cut, killed or odd.
        "health": _table(
            ("slug", _TEXT), ("severity", _TEXT), ("message", pa.string()), ("count", pa.int64()), of_process=False
        ),
    }
)
