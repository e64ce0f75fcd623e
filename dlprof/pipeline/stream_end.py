"""Why the stream of the in-process probe ends before the process did, by all that is known of both."""

from __future__ import annotations

import re
from collections.abc import Mapping
from errno import EDQUOT, EFBIG, ENOSPC
from types import MappingProxyType

from dlprof.ingest.own.wire_stream import Stream
from dlprof.schema.manifest import Manifest, Probe, Unrecorded
from dlprof.schema.vocabulary import ProbeState, RunSource, RunState, StreamEnd

_ERRNO = re.compile(r"\[Errno (\d+)\]")
_BY_ERRNO: Mapping[int, tuple[StreamEnd, str]] = MappingProxyType(
    {
        ENOSPC: (StreamEnd.DISK_FULL, "the disk was full"),
        EDQUOT: (StreamEnd.DISK_FULL, "the disk's quota was used up"),
        EFBIG: (StreamEnd.FILE_LIMIT, "the limit on the size of files was reached (ulimit -f)"),
    }
)
_LEFT = "the process ended without Python's own end, or became another program (os._exit, exec)"
_BECAME = "the process became another program (exec)"
_UNSEEN = "the process was killed, or left past Python's own end: how it ended is not known"
_WENT_ON = "the process still ran when the program that had started it was over"
_NONE = "the in-process probe left nothing"


def why(stream: Stream, manifest: Manifest, phases: Probe | None) -> tuple[StreamEnd, str]:
    """Why a stream that is not whole ends, in a word and as a clause.

    Args:
        stream: What could be read of it.
        manifest: How the process ended.
        phases: What became of the probe, as far as it was known when the process had ended.
    """
    if stream.damage is not None:
        return StreamEnd.DAMAGED, stream.damage
    told = phases.reason if phases is not None and phases.state == ProbeState.FAILED else None
    before = manifest.unrecorded
    if before is not None and before.reason == told:  # the tables are made again
        return StreamEnd(before.cause), before.reason
    if told is not None:
        cause, reason = _unwritten(told)
        nothing = cause == StreamEnd.UNWRITTEN and not stream.read_bytes
        return (StreamEnd.NO_STREAM if nothing else cause), reason
    if manifest.process.signal:
        return StreamEnd.KILLED, f"the process was ended by signal {manifest.process.signal}"
    if stream.cut is not None and not manifest.process.went_on:  # a process that leaves by itself writes whole records
        return StreamEnd.DAMAGED, f"raw/{stream.path.name} is cut or damaged: {stream.cut}"
    return _of_process(stream, manifest) if stream.read_bytes else (StreamEnd.NO_STREAM, _NONE)


def _of_process(stream: Stream, manifest: Manifest) -> tuple[StreamEnd, str]:
    """Why a stream that is whole up to its last record ends there."""
    process = manifest.process
    if process.went_on:
        return StreamEnd.WENT_ON, _WENT_ON
    if process.exit_code is not None or manifest.backend.source != RunSource.FOLLOWED:  # of others it is always seen
        return StreamEnd.LEFT, _LEFT
    return (StreamEnd.LEFT, _BECAME) if stream.meta.get("exec") else (StreamEnd.UNSEEN, _UNSEEN)


def _unwritten(reason: str) -> tuple[StreamEnd, str]:
    """What the probe's last words say."""
    number = _ERRNO.search(reason)
    return _BY_ERRNO.get(int(number[1]) if number else 0, (StreamEnd.UNWRITTEN, reason))


def unrecorded(stream: Stream, manifest: Manifest, phases: Probe | None) -> Unrecorded | None:
    """What the stream does not tell of; None: it is whole, or nobody knows when the process ended.

    Args:
        stream: What could be read of it.
        manifest: When and how the process ended.
        phases: What became of the probe, as far as it was known when the process had ended.
    """
    wall = manifest.process.wall_ns
    if stream.complete or wall is None or manifest.state == RunState.RUNNING:
        return None
    since = min(max(0, stream.last_ns - manifest.clock.origin_perf_ns), wall)
    cause, reason = why(stream, manifest, phases)
    return Unrecorded(since_ns=since, dur_ns=wall - since, cause=cause, reason=reason)
