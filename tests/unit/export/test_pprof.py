"""Stacks for pprof."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from dlprof.errors import NoInputError
from dlprof.export import pprof
from dlprof.schema.tables import TABLES
from tests.unit.export.run_of_everything import HOSTILE, whole
from tests.unit.export.writing import content
from tests.unit.runs import S, make, manifest

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


def test_pprof_has_times_only_where_the_rate_changed(tmp_path: Path) -> None:
    """To keep the budget: a sample is no longer the same time."""
    run = whole(tmp_path / "run", manifest(config={"stacks_hz": 20.0}))
    run._tables["probes"] = pa.Table.from_pylist(
        [{"name": "stacks", "state": "on", "thinned": "samples per second"}], schema=TABLES["probes"]
    )

    assert len(decoded(content(pprof, run)).sample_type) == 1


def test_pprof_has_times_only_where_the_rate_is_not_known(tmp_path: Path) -> None:
    """As in stacks of a foreign sampler."""
    profile = decoded(content(pprof, whole(tmp_path / "run")))

    assert [profile.string_table[one.type] for one in profile.sample_type] == ["time"]
    assert profile.duration_nanos == 10 * S


def test_a_run_without_anything_for_it_is_refused(tmp_path: Path) -> None:
    """With a sentence, and nothing written."""
    with pytest.raises(NoInputError, match="has n"):
        content(pprof, make(tmp_path / "run"))
