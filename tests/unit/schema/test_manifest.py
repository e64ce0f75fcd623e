"""The manifest, as it is read and written."""

from __future__ import annotations

import json

import pytest

from dlprof.schema import manifest as manifests
from dlprof.schema.manifest import Backend, Clock, Command, Engine, Gpu, Keras, Machine, Manifest, Process


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

    assert manifests.decode(manifests.encode(told)) == told


@pytest.mark.parametrize(
    ("source", "name", "keras", "ran_on"),
    [
        ("managed", "tensorflow1", "tensorflow", "tensorflow1"),
        ("python", None, "jax", "jax"),
        ("python", None, None, "torch"),
    ],
)
def test_a_run_is_on_what_was_asked_for_else_on_what_was_told(
    source: str, name: str | None, keras: str | None, ran_on: str
) -> None:
    """An environment of dlprof's has the name that was asked for; without Keras only the engine has one."""
    told = Manifest(
        backend=Backend(name=name, source=source),
        keras=Keras(backend=keras) if keras else None,
        engine=Engine(name="torch"),
    )

    assert told.ran_on == ran_on


def test_a_manifest_of_an_older_dlprof_has_what_it_lacks_as_not_known() -> None:
    """The first versions knew neither processes nor programs."""
    content = b'{"format": "dlprof.run/1", "state": "running", "command": {"script": "a.py", "argv": []}}'

    told = manifests.decode(content)

    assert (told.process.wall_ns, told.command.program, told.keras_backend, told.tables_version) == (
        None,
        None,
        None,
        0,
    )


def test_fields_that_this_dlprof_does_not_know_are_passed_over() -> None:
    """A later one may add some without another format."""
    told = manifests.decode(b'{"format": "dlprof.run/1", "state": "finished", "ranks": 8, "machine": {"rack": 3}}')

    assert told.state == "finished"


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'"text"', b"{}", b'{"format": "other.run/1"}', b'{"format": "dlprof.run/x"}', b"\xff\xfe",
     b'{"format": "dlprof.run/1", "process": 5}', b'{"format": 7}', b"[" * 100_000],
    ids=range(11),
)  # fmt: skip
def test_what_is_no_manifest_is_refused(content: bytes) -> None:
    """Damaged, foreign, or hostile."""
    with pytest.raises(manifests.ManifestError):
        manifests.decode(content)


def test_a_newer_format_is_told_from_damage() -> None:
    """The user needs a newer dlprof."""
    with pytest.raises(manifests.NewerFormatError, match="^2$"):
        manifests.decode(b'{"format": "dlprof.run/2", "state": 7}')


def test_a_file_says_the_format_and_is_plain_json() -> None:
    """For those who read it without dlprof."""
    content = json.loads(manifests.encode(Manifest(command=Command(script="a.py"))))

    assert (content["format"], content["command"]["script"], content["keras"]) == ("dlprof.run/1", "a.py", None)


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        ((Gpu(name="H100"), Gpu(name="H200")), ["H100", "H200"]),
        ((Gpu(gpu=1, name="A100"),), [None, "A100"]),
        (None, [None, None]),
    ],
)
def test_gpus_are_called_by_their_numbers(gpus: tuple[Gpu, ...] | None, expected: list[str | None]) -> None:
    """Those of a sampler stand in order; those of a foreign trace say theirs."""
    told = Manifest(gpus=gpus)

    assert [told.gpu_name(0), told.gpu_name(1)] == expected


def test_bytes_that_are_not_utf_8_are_spelled() -> None:
    """Names of files and arguments may hold any."""
    told = Manifest(command=Command(script="a\udcff.py", argv=("ü", "\udcfe")), environment={"X": "\udc80"})

    read = manifests.decode(manifests.encode(told))

    assert read.command == Command(script="a\\xff.py", argv=("ü", "\\xfe"))
    assert read.environment == {"X": "\\x80"}


@pytest.mark.parametrize(
    ("machine", "usable", "expected"),
    [
        (Machine(cores=64), None, 64),
        (Machine(cores=64, usable_cores=8), None, 8),
        (Machine(cores=64, usable_cores=64, quota_cores=1.5), None, 2),
        (Machine(cores=64, usable_cores=1, quota_cores=4.0), None, 1),
        (Machine(cores=64, usable_cores=64, quota_cores=4.0), 2, 2),
        (Machine(quota_cores=4.0), None, None),
        (Machine(), None, None),
    ],
)
def test_cores_at_once_are_those_of_the_affinity_within_the_quota(
    machine: Machine, usable: int | None, expected: int | None
) -> None:
    """Of a quota of one core and a half two are used at once; what is not known is not made up."""
    assert machine.at_once(usable) == expected
