"""What to do about each finding of ranks: by what the ranks do, where that makes a difference.

`{}` stands for what a training tells.
"""

from __future__ import annotations

from collections.abc import Mapping

EVALUATION, SAVING, GARBAGE, INPUT, OTHER = "evaluation", "saving", "collections of garbage", "input", "other"
"""What a rank that works alone does."""
MACHINE, CORES = "machine", "cores"
"""How it is told that a rank has less to compute with."""
MORE_BATCHES = "more batches"
"""A rank failed that all others had left."""
BUFFERS = "buffers"
"""Most of what collectives move are buffers."""
MANY = "many"
"""Many small ones are called one by one."""
REPEATED = "repeated"
"""Gradients are reduced several times between two changes of the weights."""
LONGER = "longer"
"""Batches of one rank are longer, in what was seen of them."""
_ALWAYS = ""

ADVICE: Mapping[str, Mapping[str, str]] = {
    "rank-hung": {_ALWAYS: "Look at what it waits for in that line, and end the wait after a time."},
    "rank-failed": {
        _ALWAYS: "Its own run tells what it did last: dlprof report {run}",
        MORE_BATCHES: (
            "Give all ranks as many batches (DistributedSampler, drop_last=True), or have those that end first "
            "wait for the others (model.join()). Its own run tells what it did last: dlprof report {run}"
        ),
    },
    "lone-work": {
        EVALUATION: (
            "Evaluate on all ranks, each its share of the data, and reduce the sums; or less often; or in a process "
            "that no rank waits for."
        ),
        SAVING: "Save from a thread or a process of its own, or less often.",
        GARBAGE: (
            "Collect in all ranks at the same steps (gc.disable(), then gc.collect() every N steps), or gc.freeze()."
        ),
        INPUT: (
            "Give that rank input as cheap as the others': now and then a batch of it takes long. Or make batches "
            "ahead (num_workers, prefetch_factor), so that a long one is ready when its turn comes."
        ),
        OTHER: "Do it on all ranks, each its share, or in a thread that no rank waits for, or less often.",
    },
    "unbalanced-input": {
        _ALWAYS: (
            "Give that rank as much, and as cheap, input as the others: the same storage, the same work per sample, "
            "as many workers."
        )
    },
    "uneven-batches": {
        _ALWAYS: "Give all ranks batches of the same size: the others wait for the largest in each step.",
        LONGER: (
            "Give all ranks batches of about the same size in each step: deal them out in turn (batches[rank::ranks]) "
            "instead of in blocks of data that are sorted by length, or draw each rank's rows from all of the data."
        ),
    },
    "slow-host": {
        CORES: (
            "Give all ranks as many cores: look at what binds this one (taskset, a cgroup, the launcher's binding)."
        ),
        MACHINE: (
            "Compare the machine with the others: clocks, cores, other programs on it "
            "(dlprof report of a rank of {host})."
        ),
    },
    "straggler": {
        "kernels": "Look at what it computes that the others do not: dlprof compare puts two ranks side by side.",
        "host": "Look at what its host does in the step that others do not: logging, saving, metrics of one rank "
        "alone.",
        "work": "Look at what it does in the step that others do not; dlprof compare puts two ranks side by side.",
    },
    "small-buckets": {
        _ALWAYS: "Let DistributedDataParallel put more of them together: bucket_cap_mb is 25 where nothing is said."
    },
    "rank-contention": {
        _ALWAYS: ("Give each rank its share of the cores: OMP_NUM_THREADS={threads}, fewer workers, or fewer ranks.")
    },
    "host-contention": {
        _ALWAYS: (
            "Stop the other programs, or give the ranks cores that nobody else has (taskset, a cgroup), and measure "
            "again: one rank that waits for a core makes all of them wait."
        )
    },
    "collective-bound": {
        _ALWAYS: (
            "Compute more between two collectives (larger batches, accumulated gradients), or move less (gradients of "
            "16 bits, fewer and larger buckets), or over a faster link."
        ),
        MANY: (
            "Join what is given away one by one: gradients into one flat array, reduced once a step and taken apart "
            "again (torch._utils._flatten_dense_tensors), or DistributedDataParallel, which does so in parts while the "
            "way back still runs."
        ),
        REPEATED: (
            "Gradients that are accumulated need to be reduced once, with the last of them: run the other forward and "
            "backward passes under `with model.no_sync():` of DistributedDataParallel."
        ),
        BUFFERS: (
            "Let buffers that nothing changes in training be no buffers (plain attributes of the module), or send "
            "none: DistributedDataParallel(..., broadcast_buffers=False), where no layer needs those of rank 0 (the "
            "running statistics of BatchNorm are each rank's own then)."
        ),
    },
}
"""Finding to its advice, by what makes the difference."""


def advice(slug: str, of: str = _ALWAYS, **told: object) -> str:
    """What to do about a finding.

    Args:
        slug: The finding.
        of: What makes the difference, if anything does.
        told: What this training tells.
    """
    return ADVICE[slug][of].format(**told)
