"""Why a stream ends, by all that is known of it and of its process."""

from __future__ import annotations

import pytest
from msgspec import structs

from dlprof.ingest.own.wire_stream import Stream
from dlprof.pipeline import stream_end
from dlprof.schema.manifest import Backend, Probe, Process, Unrecorded
from dlprof.schema.vocabulary import RunState
from tests.unit.raw_runs import ORIGIN, S, manifest

FULL = Probe(name="phases", state="failed", reason="the stream cannot be written: [Errno 28] No space left on device")


@pytest.mark.parametrize(
    ("told", "cause", "reason"),
    [
        ("[Errno 28] No space left on device", "disk-full", "the disk was full"),
        ("[Errno 122] Disk quota exceeded", "disk-full", "the disk's quota was used up"),
        ("[Errno 27] File too large", "file-limit", "the limit on the size of files was reached (ulimit -f)"),
        ("the stream was lost: closed", "unwritten", "the stream was lost: closed"),
    ],
)
def test_what_the_probe_said_last_is_the_reason(told: str, cause: str, reason: str) -> None:
    """Known errors of the system in the words of their trade."""
    probe = Probe(name="phases", state="failed", reason=told)

    assert stream_end.why(Stream(read_bytes=9), manifest(), probe) == (cause, reason)


@pytest.mark.parametrize(
    ("stream", "process", "cause"),
    [
        (Stream(read_bytes=9, damage="x"), Process(signal=9), "damaged"),
        (Stream(read_bytes=9), Process(signal=9), "killed"),
        (Stream(read_bytes=9), Process(exit_code=0), "left"),
        (Stream(read_bytes=9, cut="x"), Process(exit_code=0), "damaged"),
        (Stream(read_bytes=9, cut="x"), Process(signal=9), "killed"),
        (Stream(), Process(exit_code=0), "no-stream"),
    ],
)
def test_without_last_words_the_end_of_the_process_tells(stream: Stream, process: Process, cause: str) -> None:
    """Damage of the file comes first."""
    assert stream_end.why(stream, manifest(process=process), Probe(name="phases"))[0] == cause


@pytest.mark.parametrize(
    ("stream", "process", "cause", "reason"),
    [
        (
            Stream(),
            Process(),
            "unseen",
            "the process was killed, or left past Python's own end: how it ended is not known",
        ),
        (Stream(meta={"exec": {"program": "sh"}}), Process(), "left", "the process became another program (exec)"),
        (
            Stream(cut="x"),
            Process(went_on=True),
            "went-on",
            "the process still ran when the program that had started it was over",
        ),
    ],
)
def test_of_a_followed_process_the_end_may_be_another_or_unseen(
    stream: Stream, process: Process, cause: str, reason: str
) -> None:
    """It is no child of dlprof's, and may outlive the program."""
    stream.read_bytes = 9
    followed = manifest(process=process, backend=Backend(source="followed"))

    assert stream_end.why(stream, followed, Probe(name="phases")) == (cause, reason)


def test_time_after_the_last_record_is_not_recorded() -> None:
    """Up to the end of the process."""
    found = stream_end.unrecorded(Stream(read_bytes=9, last_ns=ORIGIN + 4 * S), manifest(), FULL)

    assert found == Unrecorded(since_ns=4 * S, dur_ns=6 * S, cause="disk-full", reason="the disk was full")
    assert found.share == 0.6


def test_a_reason_is_kept_when_tables_are_made_again() -> None:
    """It is decided by what was known when the run was over."""
    stream = Stream(read_bytes=9, last_ns=ORIGIN + 4 * S)
    first = stream_end.unrecorded(stream, manifest(), FULL)
    assert first is not None
    settled = structs.replace(FULL, reason=first.reason)

    assert stream_end.unrecorded(stream, manifest(unrecorded=first), settled) == first


@pytest.mark.parametrize(
    ("stream", "changes"),
    [
        (Stream(complete=True), {}),
        (Stream(), {"process": Process()}),
        (Stream(), {"state": RunState.RUNNING}),
    ],
)
def test_a_whole_stream_or_an_unknown_end_has_none(stream: Stream, changes: dict[str, object]) -> None:
    """A killed dlprof does not know when the process ended."""
    assert stream_end.unrecorded(stream, manifest(**changes), None) is None
