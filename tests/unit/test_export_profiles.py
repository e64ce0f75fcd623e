"""Stacks for speedscope and pprof, lines for line_profiler."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from line_profiler.line_profiler import show_text

from dlprof.errors import NoInputError
from dlprof.export import line_profiler_text, pprof, speedscope
from dlprof.ingest.formats import line_profiler as line_profiler_files
from dlprof.ingest.formats import pyspy as pyspy_files
from dlprof.store.run import Run
from tests.unit.exports import HOSTILE, whole
from tests.unit.runs import S, make, manifest

SCHEMA = Path(__file__).parent.parent / "data" / "speedscope" / "file-format-schema.json"


def content(writer: Any, run: Run) -> bytes:
    """What is written of a run."""
    out = io.BytesIO()
    writer.write(run, out)
    return out.getvalue()


def scope(run: Run) -> Any:
    """A run for speedscope, which its own schema allows."""
    found = json.loads(content(speedscope, run))
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    return found


def test_speedscope_has_a_profile_for_each_thread_and_one_of_the_phases(tmp_path: Path) -> None:
    """In nanoseconds, with empty stacks where nothing was sampled."""
    found = scope(whole(tmp_path / "run"))

    assert [profile["name"] for profile in found["profiles"]] == [
        "thread (42): MainThread",
        f"thread (43): {HOSTILE}",
        "phases",
    ]
    main, other, _ = found["profiles"]
    assert (main["samples"], main["weights"], main["unit"]) == ([[0], [0, 1]], [3 * S, S], "nanoseconds")
    assert (other["startValue"], other["endValue"]) == (5 * S, 6 * S)
    assert found["shared"]["frames"][:2] == [
        {"name": "<module>", "file": "train.py", "line": 3}, {"name": HOSTILE, "file": "a b.py", "line": 9}
    ]  # fmt: skip


def test_speedscope_has_phases_that_open_and_close_in_order(tmp_path: Path) -> None:
    """Parts of fit are inside fit."""
    found = scope(whole(tmp_path / "run"))
    names = [frame["name"] for frame in found["shared"]["frames"]]

    events = [(event["type"], names[event["frame"]], event["at"] // S) for event in found["profiles"][-1]["events"]]

    assert events == [
        ("O", "import", 0), ("C", "import", 2), ("O", "fit", 2), ("O", "fit.steps", 2), ("C", "fit.steps", 7),
        ("O", "fit.callbacks", 7), ("C", "fit.callbacks", 8), ("C", "fit", 8), ("O", "teardown", 8), ("C", "teardown", 10),
    ]  # fmt: skip


def test_speedscope_files_come_back_as_the_same_stacks(tmp_path: Path) -> None:
    """Dlprof's own reader of such files finds what was written."""
    run = whole(tmp_path / "run")
    path = tmp_path / "run.speedscope.json"
    path.write_bytes(
        content(speedscope, make(tmp_path / "stacks", stacks=run.rows("stacks"), frames=run.rows("frames")))
    )

    found = pyspy_files.read(path).tables["stacks"].to_pylist()

    assert [(row["thread_id"], row["thread"], row["dur_ns"]) for row in found] == [
        (42, "MainThread", 3 * S), (42, "MainThread", S), (43, HOSTILE, S)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "writer", [speedscope, pprof, line_profiler_text], ids=["speedscope", "pprof", "line_profiler"]
)
def test_a_run_without_samples_is_refused(writer: Any, tmp_path: Path) -> None:
    """With a sentence, and nothing written."""
    with pytest.raises(NoInputError, match="has n"):
        content(writer, make(tmp_path / "run"))


FIELDS = {
    "ValueType": "type:1 unit:2",
    "Label": "key:1 str:2 num:3 num_unit:4",
    "Sample": "*location_id:1 *value:2 *label:3=Label",
    "Mapping": "id:1 filename:5 has_functions:7 has_filenames:8 has_line_numbers:9",
    "Line": "function_id:1 line:2",
    "Location": "id:1 mapping_id:2 address:3 *line:4=Line",
    "Function": "id:1 name:2 system_name:3 filename:4 start_line:5",
    "Profile": "*sample_type:1=ValueType *sample:2=Sample *mapping:3=Mapping *location:4=Location *function:5=Function"
    " *string_table:6=str time_nanos:9 duration_nanos:10 period_type:11=ValueType period:12",
}
"""Messages of pprof's profile.proto; a star is a repeated field, and what has no type is an int64."""


def decoded(data: bytes) -> Any:
    """A profile as the library of protocol buffers reads it."""
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="pprof", syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for star, field, number, kind in re.findall(r"(\*?)(\w+):(\d+)(?:=(\w+))?", fields):
            added = message.field.add(name=field, number=int(number))
            added.label = kinds.LABEL_REPEATED if star else kinds.LABEL_OPTIONAL
            added.type = kinds.TYPE_STRING if kind == "str" else kinds.TYPE_MESSAGE if kind else kinds.TYPE_INT64
            if added.type == kinds.TYPE_MESSAGE:
                added.type_name = f".pprof.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    profile = message_factory.GetMessageClass(pool.FindMessageTypeByName("pprof.Profile"))()
    profile.ParseFromString(gzip.decompress(data))
    return profile


def told(profile: Any) -> list[tuple[dict[str, str], list[tuple[str, str, int]], list[int]]]:
    """Labels, frames (innermost first) and values of each sample."""
    texts = profile.string_table
    functions = {one.id: (texts[one.name], texts[one.filename]) for one in profile.function}
    places = {one.id: (*functions[one.line[0].function_id], one.line[0].line) for one in profile.location}
    return [
        (
            {texts[label.key]: texts[label.str] for label in one.label},
            [places[at] for at in one.location_id],
            list(one.value),
        )
        for one in profile.sample
    ]


def test_pprof_has_stacks_by_thread_and_phase(tmp_path: Path) -> None:
    """A stack that stood through two phases is one sample in each."""
    profile = decoded(content(pprof, whole(tmp_path / "run")))
    outer, inner = ("<module>", "train.py", 3), (HOSTILE, "a b.py", 9)

    assert told(profile) == [
        ({"thread": "MainThread", "phase": "import"}, [outer], [2 * S]),
        ({"thread": "MainThread", "phase": "fit.steps"}, [outer], [S]),
        ({"thread": "MainThread", "phase": "fit.steps"}, [inner, outer], [S]),
        ({"thread": HOSTILE, "phase": "fit.steps"}, [outer], [S]),
    ]


def test_pprof_has_numbers_of_samples_where_the_rate_is_known(tmp_path: Path) -> None:
    """At 20 a second."""
    profile = decoded(content(pprof, whole(tmp_path / "run", manifest(config={"stacks_hz": 20.0}))))
    types = [(profile.string_table[one.type], profile.string_table[one.unit]) for one in profile.sample_type]

    assert types == [("samples", "count"), ("time", "nanoseconds")]
    assert [values for _, _, values in told(profile)] == [[40, 2 * S], [20, S], [20, S], [20, S]]
    assert profile.period == 50_000_000


def test_pprof_has_times_only_where_the_rate_is_not_known(tmp_path: Path) -> None:
    """As in stacks of a foreign sampler."""
    profile = decoded(content(pprof, whole(tmp_path / "run")))

    assert [profile.string_table[one.type] for one in profile.sample_type] == ["time"]
    assert profile.duration_nanos == 10 * S


def lines_of(path: Path, *counts: tuple[int, int, int], file: str = "train.py") -> Run:
    """A run with one function of the lines of `path`: (line, hits, ns)."""
    source = Path(file).read_text().splitlines() if Path(file).is_file() else []
    given = {line: (hits, time_ns) for line, hits, time_ns in counts}
    rows = [
        {"file": file, "function": "slow", "first_line": 1, "line": line, "hits": given.get(line, (0, 0))[0],
         "time_ns": given.get(line, (0, 0))[1], "source": source[line - 1] if source else None}
        for line in range(1, max(given) + 1)
    ]  # fmt: skip
    return make(path, lines=rows)


def test_lines_are_printed_as_line_profiler_prints_them(tmp_path: Path) -> None:
    """The same counts, shown by line_profiler itself, are the same text."""
    path = tmp_path / "slow.py"
    path.write_text("def slow(n):\n    for i in range(n):\n        12 + 3\n\treturn 'é'\n")
    counts = [(2, 11, 250_000), (3, 10_000_000, 1_234_567_890), (4, 1, 999)]
    theirs = io.StringIO()
    show_text({(str(path), 1, "slow"): counts}, 1e-9, stream=theirs, config=False)

    assert (
        content(line_profiler_text, lines_of(tmp_path / "run", *counts, file=str(path))).decode() == theirs.getvalue()
    )


def test_lines_come_back_with_the_same_counts(tmp_path: Path) -> None:
    """Also those that line_profiler would shorten; dlprof's own reader finds them to the nanosecond."""
    counts = [(2, 12_345_678_901, 123_456_789_012_345), (3, 1, 0)]
    path = tmp_path / "lines.txt"
    path.write_bytes(content(line_profiler_text, lines_of(tmp_path / "run", *counts)))

    rows = line_profiler_files.read(path).tables["lines"].to_pylist()

    assert [(row["line"], row["hits"], row["time_ns"]) for row in rows] == [(1, 0, 0), *counts]
    assert {(row["file"], row["function"], row["first_line"]) for row in rows} == {("train.py", "slow", 1)}


def test_hostile_names_stay_on_their_line(tmp_path: Path) -> None:
    """A line break in a name does not begin a line of the table."""
    row = {"file": HOSTILE, "function": HOSTILE, "first_line": 1, "line": 1, "hits": 1, "time_ns": 1, "source": HOSTILE}

    text = content(line_profiler_text, make(tmp_path / "run", lines=[row])).decode()

    assert len(text.splitlines()) == 10
    assert "\x1b" not in text
