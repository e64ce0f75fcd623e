"""JSON schemas out of types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from msgspec import UNSET, Meta, Struct, UnsetType, field

from dlprof.report import json_schema


class Word(StrEnum):
    """Words."""

    ONE = "one"
    TWO = "two"


@dataclass(frozen=True)
class Inner:
    """What stands inside. And more.

    Attributes:
        size: How large it is;
            in two lines.
    """

    size: int
    place: tuple[int, float] | None = None


class Outer(Struct, frozen=True, kw_only=True):
    """The object itself; None: no object."""

    schema: str = "dlprof.x/1"
    word: Word
    inner: Inner
    several: tuple[Inner, ...] = ()
    """All of them; None never."""
    maybe: str | UnsetType = UNSET
    more: Outer | None = None


class Renamed(Struct, frozen=True):
    """Its field cannot have its name in Python."""

    begin: int = field(name="from")
    """Where it begins."""


class Typed(TypedDict):
    """A dictionary."""

    schema: Literal["dlprof.y/1"]
    removed: NotRequired[int]


def schema(kind: Any) -> Any:
    """The schema of a type, without its head."""
    return json_schema.of(kind, "dlprof.x/1", "It.")


def test_the_head_names_the_schema() -> None:
    """Its draft, too."""
    made = schema(Outer)

    assert {name: made[name] for name in ("$schema", "$id", "title", "description", "$ref")} == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:dlprof:x:1",
        "title": "dlprof.x/1",
        "description": "It.",
        "$ref": "#/$defs/Outer",
    }


def test_what_may_be_missing_is_not_required() -> None:
    """All else is, whether it has a default or not: it is printed always."""
    made = schema(Outer)["$defs"]

    assert made["Outer"]["required"] == ["schema", "word", "inner", "several", "more"]
    assert schema(Typed)["$defs"]["Typed"]["required"] == ["schema"]


def test_fields_have_their_types_and_what_they_mean() -> None:
    """None is null in JSON."""
    made = schema(Outer)["$defs"]

    assert made["Outer"]["description"] == "The object itself; null: no object."
    assert made["Outer"]["properties"] == {
        "schema": {"const": "dlprof.x/1"},
        "word": {"type": "string", "examples": ["one", "two"]},
        "inner": {"$ref": "#/$defs/Inner"},
        "several": {
            "type": "array",
            "items": {"$ref": "#/$defs/Inner"},
            "description": "All of them; null never.",
        },
        "maybe": {"type": "string"},
        "more": {"anyOf": [{"$ref": "#/$defs/Outer"}, {"type": "null"}]},
    }
    assert made["Inner"]["properties"]["size"] == {
        "type": "integer",
        "description": "How large it is; in two lines.",
    }


def test_pairs_have_their_length_and_fractions_may_be_null() -> None:
    """JSON has no NaN."""
    made = schema(Inner)["$defs"]["Inner"]["properties"]["place"]["anyOf"][0]

    assert made == {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": ["number", "null"]}],
        "minItems": 2,
        "maxItems": 2,
    }


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (Mapping[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (int | str | None, {"type": ["integer", "string", "null"]}),
        (Literal["a", True], {"enum": ["a", True]}),
        (Annotated[int, Meta(ge=0, le=9)], {"type": "integer", "minimum": 0, "maximum": 9}),
        (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
    ],
)
def test_types_of_every_kind(kind: Any, expected: Any) -> None:
    """As JSON has them."""
    made = schema(kind)

    assert {name: made[name] for name in expected} == expected


def test_fields_have_the_name_that_json_has() -> None:
    """Which may be none of Python's."""
    made = schema(Renamed)["$defs"]["Renamed"]

    assert (list(made["properties"]), made["required"]) == (["from"], ["from"])
    assert made["properties"]["from"]["description"] == "Where it begins."


def test_a_type_that_json_lacks_is_an_error() -> None:
    """It is not left out."""
    with pytest.raises(TypeError, match="JSON has no <class 'complex'>"):
        schema(Sequence[complex])


def test_two_classes_of_one_name_are_told_apart() -> None:
    """By their module."""
    other: Any = dataclass(
        type("Inner", (), {"__annotations__": {"x": int}, "__module__": "dlprof.other", "__doc__": "O."})
    )

    made = json_schema._Maker(("number",))
    made._names[other] = "Inner"
    assert made.of(Inner) == {"$ref": "#/$defs/test_json_schema.Inner"}
