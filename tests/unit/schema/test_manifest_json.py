"""The manifest, as it is read and written."""

from __future__ import annotations

import json

import pytest

from dlprof.schema import manifest_json
from dlprof.schema.manifest import Clock, Command, Gpu, Manifest, Process


def test_a_manifest_is_read_as_it_was_written() -> None:
    """All of it."""
    told = Manifest(
        format="dlprof.run/1",
        state="interrupted",
        command=Command(script="a.py", argv=("--epochs", "3")),
        clock=Clock(origin_perf_ns=5),
        process=Process(pid=7, signal=9),
        gpus=(Gpu(gpu=1, name="H100"),),
    )

    assert manifest_json.decode(manifest_json.encode(told)) == told


def test_a_manifest_of_an_older_dlprof_has_what_it_lacks_as_not_known() -> None:
    """The first versions knew neither processes nor programs."""
    content = b'{"format": "dlprof.run/1", "state": "running", "command": {"script": "a.py", "argv": []}}'

    told = manifest_json.decode(content)

    assert (told.process.wall_ns, told.command.program, told.keras_backend, told.tables_version) == (
        None,
        None,
        None,
        0,
    )


def test_fields_that_this_dlprof_does_not_know_are_passed_over() -> None:
    """A later one may add some without another format."""
    told = manifest_json.decode(b'{"format": "dlprof.run/1", "state": "finished", "ranks": 8, "machine": {"rack": 3}}')

    assert told.state == "finished"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"text"', b"{}", b'{"format": "other.run/1"}', b'{"format": "dlprof.run/x"}', b"\xff\xfe",
     b'{"format": "dlprof.run/1", "process": 5}', b'{"format": 7}', b"[" * 100_000],
    ids=range(11),
)  # fmt: skip
def test_what_is_no_manifest_is_refused(content: bytes) -> None:
    """Damaged, foreign, or hostile."""
    with pytest.raises(manifest_json.ManifestError):
        manifest_json.decode(content)


def test_a_newer_format_is_told_from_damage() -> None:
    """The user needs a newer dlprof."""
    with pytest.raises(manifest_json.NewerFormatError, match="^2$"):
        manifest_json.decode(b'{"format": "dlprof.run/2", "state": 7}')


def test_a_file_says_the_format_and_is_plain_json() -> None:
    """For those who read it without dlprof."""
    content = json.loads(manifest_json.encode(Manifest(command=Command(script="a.py"))))

    assert (content["format"], content["command"]["script"], content["keras"]) == ("dlprof.run/1", "a.py", None)


def test_bytes_that_are_not_utf_8_are_spelled() -> None:
    """Names of files and arguments may hold any."""
    told = Manifest(command=Command(script="a\udcff.py", argv=("ü", "\udcfe")), environment={"X": "\udc80"})

    read = manifest_json.decode(manifest_json.encode(told))

    assert read.command == Command(script="a\\xff.py", argv=("ü", "\\xfe"))
    assert read.environment == {"X": "\\x80"}
