"""What the stream of the probe adds to the manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.own import stream_tables, wire
from dlprof.ingest.own.wire_stream import Stream
from dlprof.pipeline import probe_stream
from dlprof.pipeline.workspace import Workspace
from dlprof.rundir import RunDir
from dlprof.schema.manifest import Backend, Clock, Manifest, Probe, Process, Rank, Unrecorded

KERAS = {"keras": "keras", "keras_version": "3.15.0", "keras_backend": "jax", "engine": "jax", "engine_version": "0.10"}


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Stream:
    """What is read of the file of the probe."""
    told = Stream()
    monkeypatch.setattr(wire, "read", lambda *_: told)
    monkeypatch.setattr(stream_tables, "pieces", lambda *_: ())
    return told


def workspace(source: str, backend: str | None = None, wall_ns: int | None = 100) -> Workspace:
    """A run on an interpreter of that kind."""
    return Workspace(
        RunDir(Path("nowhere")),
        Manifest(
            backend=Backend(name=backend, source=source),
            clock=Clock(origin_perf_ns=1_000),
            process=Process(pid=7, wall_ns=wall_ns),
            probes=(Probe(name="phases"), Probe(name="lines", state="off", reason="not asked for")),
        ),
    )


def dispatch(run: Workspace) -> tuple[bool, bool]:
    """Asynchronous, and whether the input is fetched inside the step."""
    return run.manifest.backend.asynchronous_dispatch, run.manifest.backend.input_inside_step


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        (KERAS, (True, False)),
        ({**KERAS, "keras_backend": "tensorflow", "engine": "tensorflow"}, (False, True)),
        ({**KERAS, "keras_backend": "tensorflow", "engine": "tensorflow", "keras_version": "2.3.1"}, (False, False)),
        ({"engine": "jax", "engine_version": "0.10"}, (True, False)),
        ({"engine": "mxnet", "engine_version": "1.9"}, (True, False)),
        ({"engine": "tensorflow", "engine_version": "2.21"}, (False, False)),
        ({}, (False, False)),
    ],
)
def test_how_steps_return_on_an_interpreter_of_the_users_own(
    stream: Stream, meta: dict[str, Any], expected: tuple[bool, bool]
) -> None:
    """By the Keras that was seen, else by the engine that was used alone, as on a backend of dlprof's."""
    stream.meta.update(meta)
    run = workspace("python")

    probe_stream.add_stream(run, Path("inproc.wire"))

    assert dispatch(run) == expected


def test_a_backend_of_dlprofs_knows_it_before(stream: Stream) -> None:
    """What its spec said is not changed by what was loaded along the way."""
    stream.meta.update(KERAS)
    run = workspace("managed", "tensorflow")

    probe_stream.add_stream(run, Path("inproc.wire"))

    assert dispatch(run) == (False, False)
    assert run.manifest.keras_backend == "jax"


def test_on_a_backend_of_keras_an_engine_that_is_used_alone_returns_its_own_way(stream: Stream) -> None:
    """A script of Gluon under `--backend mxnet`: its steps are only dispatched."""
    stream.meta.update({"engine": "mxnet", "engine_version": "1.9"})
    run = workspace("managed", "mxnet")

    probe_stream.add_stream(run, Path("inproc.wire"))

    assert dispatch(run) == (True, False)


def test_a_framework_without_keras_has_none_though_it_loads_one(stream: Stream) -> None:
    """As TensorFlow does."""
    stream.meta.update({**KERAS, "keras_backend": "tensorflow", "engine": "tensorflow"})
    run = workspace("managed", "native-tensorflow")

    probe_stream.add_stream(run, Path("inproc.wire"))

    assert run.manifest.keras is None


def test_the_probe_tells_what_became_of_it_and_the_ledger_what_it_cost(stream: Stream) -> None:
    """What it does not tell stays as it was known."""
    stream.probes.append({"name": "lines", "state": "failed", "reason": "no line_profiler"})

    run = workspace("python")
    probe_stream.add_stream(run, Path("inproc.wire"))

    assert run.probes.get("lines") == Probe(name="lines", state="failed", reason="no line_profiler")
    assert run.probes.get("phases") == Probe(
        name="phases",
        cost_ns=0,
        cost_source="0 ms measured at start and end, 0 steps at 1.6 µs (as on another machine)",
    )


def test_a_run_whose_dlprof_was_killed_lasts_as_long_as_its_stream(stream: Stream) -> None:
    """And its process is the one that the stream names."""
    stream.meta["pid"] = 11
    stream.last_ns = 5_000
    run = workspace("python", wall_ns=None)

    probe_stream.add_stream(run, Path("inproc.wire"))

    assert run.manifest.process == Process(pid=11, wall_ns=4_000)
    assert (run.process.pid, run.end_ns) == (11, 5_000)


def test_of_a_stream_that_was_cut_the_end_is_not_recorded(stream: Stream) -> None:
    """From its last moment to the end of the process."""
    stream.last_ns, stream.read_bytes = 1_070, 500
    run = workspace("python")

    probe_stream.add_stream(run, Path("inproc.wire"))
    probe_stream.add_end(run)

    assert run.manifest.unrecorded == Unrecorded(
        since_ns=70,
        dur_ns=30,
        cause="left",
        reason="the process ended without Python's own end, or became another program (os._exit, exec)",
    )


def test_of_a_whole_stream_all_is_recorded(stream: Stream) -> None:
    """Also where it was thought to be cut before."""
    stream.complete = True
    run = workspace("python")
    run.note(unrecorded=Unrecorded(since_ns=1, dur_ns=1, cause="left", reason="x"))

    probe_stream.add_stream(run, Path("inproc.wire"))
    probe_stream.add_end(run)

    assert run.manifest.unrecorded is None


def test_the_rank_that_the_engine_tells_counts_before_that_of_the_environment(stream: Stream) -> None:
    """What only the environment knows is kept."""
    stream.meta = {"rank": {"rank": 3, "world": 4, "by": "torch.distributed"}}
    run = workspace("python")
    run.note(rank=Rank(rank=1, world=2, local=1, attempt=2, by="RANK"))
    probe_stream.add_stream(run, Path("inproc.wire"))

    assert run.manifest.rank == Rank(rank=3, world=4, local=1, attempt=2, by="torch.distributed")
    assert run.process.rank == 3


@pytest.mark.parametrize("told", [None, {"rank": 0, "world": 1, "by": "jax.distributed"}, {"rank": "x"}])
def test_a_process_alone_has_no_rank(stream: Stream, told: object) -> None:
    """Nor one that tells what makes no sense."""
    stream.meta = {"rank": told}
    run = workspace("python")
    probe_stream.add_stream(run, Path("inproc.wire"))
    assert (run.manifest.rank, run.process.rank) == (None, 0)
