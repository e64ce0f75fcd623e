"""JSON schemas (draft 2020-12) of what `--json` prints, made from its types: structs, dataclasses, typed dictionaries.

All fields that a type always has are required; more may come within a version, so that others are allowed. A number
that JSON does not know is printed as null, so that null is allowed wherever there is a fraction. Words of the
vocabulary stand as examples: new ones may come. What attributes mean is read from the texts below them, or in the
docstring of the class.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin

from msgspec import UNSET, Meta, Struct, UnsetType, structs

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_SIMPLE: Mapping[Any, Schema] = {
    Any: {},
    object: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    type(None): {"type": "null"},
}
_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


def of(kind: Any, name: str, about: str, *, numbers: Sequence[str] = ("number", "null")) -> Schema:
    """The schema of a type.

    Args:
        kind: A struct, a dataclass, a typed dictionary, or a collection of these.
        name: What the object names as its schema, such as `dlprof.report/1`.
        about: What it is.
        numbers: What stands for a number that may be a fraction.

    Raises:
        TypeError: The type, or one in it, is none that JSON has.
    """
    made = _Maker(numbers)
    root = made.of(kind)
    family, _, version = name.removeprefix("dlprof.").partition("/")
    head = {"$schema": DRAFT, "$id": f"urn:dlprof:{family}:{version}", "title": name, "description": about}
    return {**head, **root, "$defs": dict(sorted(made.definitions.items()))}


class _Maker:
    """Makes the schema of a type, and keeps those of the objects in it."""

    def __init__(self, numbers: Sequence[str]) -> None:
        self._numbers = numbers
        self.definitions: dict[str, Schema] = {}
        self._names: dict[Any, str] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of any type."""
        if kind is float:
            return {"type": list(self._numbers)}
        if kind in _SIMPLE:
            return dict(_SIMPLE[kind])
        return self._of_class(kind) if isinstance(kind, type) and get_origin(kind) is None else self._of_generic(kind)

    def _of_generic(self, kind: Any) -> Schema:
        origin, inner = get_origin(kind), get_args(kind)
        if origin is typing.Annotated:
            return {**self.of(inner[0]), **_limits(inner[1:])}
        if origin in (Union, types.UnionType):
            return self._of_union([one for one in inner if one is not UnsetType])
        if origin is Literal:
            return {"enum": list(inner)}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return self._of_sequence(origin, inner)
        raise TypeError(f"JSON has no {kind}")

    def _of_sequence(self, origin: type, inner: Sequence[Any]) -> Schema:
        if origin is not tuple or Ellipsis in inner:
            return {"type": "array", "items": self.of(inner[0])}
        items = [self.of(one) for one in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _of_class(self, kind: type) -> Schema:
        if issubclass(kind, Enum):
            return {"type": "string", "examples": [one.value for one in kind]}
        if issubclass(kind, str):
            return {"type": "string"}
        if issubclass(kind, Struct) or dataclasses.is_dataclass(kind) or typing.is_typeddict(kind):
            return {"$ref": f"#/$defs/{self._defined(kind)}"}
        raise TypeError(f"JSON has no {kind}")

    def _of_union(self, kinds: Sequence[Any]) -> Schema:
        made = [self.of(kind) for kind in kinds]
        if len(made) == 1:
            return made[0]
        if all(set(one) == {"type"} for one in made):
            words = [word for one in made for word in ([one["type"]] if isinstance(one["type"], str) else one["type"])]
            return {"type": list(dict.fromkeys(words))}
        return {"anyOf": made}

    def _defined(self, kind: type) -> str:
        """The name under which the schema of an object stands; two classes of one name are told apart by module."""
        if kind not in self._names:
            taken = kind.__name__ in self._names.values()
            self._names[kind] = f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}" if taken else kind.__name__
            self.definitions[self._names[kind]] = {}  # it may hold others of its own kind
            self.definitions[self._names[kind]] = self._object(kind)
        return self._names[kind]

    def _object(self, kind: type) -> Schema:
        meanings = _meanings(kind)
        defaults = _defaults(kind)
        printed = _names_in_json(kind)
        properties: dict[str, Schema] = {}
        required = []
        for name, hint in typing.get_type_hints(kind, include_extras=True).items():
            if get_origin(hint) is typing.ClassVar:
                continue
            bare = get_args(hint)[0] if get_origin(hint) in (NotRequired, Required) else hint
            if get_origin(hint) is not NotRequired and defaults.get(name) is not UNSET:
                required.append(printed.get(name, name))
            made = self.of(bare)
            if name == "schema" and isinstance(defaults.get(name), str):
                made = {"const": defaults[name]}
            properties[printed.get(name, name)] = {**made, "description": meanings[name]} if name in meanings else made
        about = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
        return {
            "type": "object",
            "description": _in_one_line(about),
            "properties": properties,
            "required": required,
        }


def _limits(annotations: Sequence[Any]) -> Schema:
    """Bounds of a number, where its type names some."""
    metas = [one for one in annotations if isinstance(one, Meta)]
    bounds = [("minimum", meta.ge) for meta in metas] + [("maximum", meta.le) for meta in metas]
    return {word: bound for word, bound in bounds if bound is not None}


def _defaults(kind: type) -> Mapping[str, Any]:
    if issubclass(kind, Struct):
        return {one.name: one.default for one in structs.fields(kind)}
    return {one.name: one.default for one in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else {}


def _names_in_json(kind: type) -> Mapping[str, str]:
    """What JSON calls fields of a struct: `from` cannot be the name of an attribute."""
    return {one.name: one.encode_name for one in structs.fields(kind)} if issubclass(kind, Struct) else {}


def _meanings(kind: type) -> Mapping[str, str]:
    """What attributes mean: the `Attributes:` of the docstring, and the texts below them."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__ if not typing.is_typeddict(kind) else (kind,)):
        if one.__module__.partition(".")[0] not in ("builtins", "msgspec", "typing"):
            found |= _in_docstring(one) | _below_attributes(one)
    return found


def _in_docstring(kind: type) -> dict[str, str]:
    _, _, section = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    return {name: _in_one_line(text) for name, text in _ATTRIBUTE.findall(section.partition("\n\n")[0])}


def _below_attributes(kind: type) -> dict[str, str]:
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101
    found = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str):
            found[field.target.id] = _in_one_line(text.value.value)
    return found


def _in_one_line(text: str) -> str:
    """A text of the code as one line that speaks JSON's own words."""
    return re.sub(r"\bNone\b", "null", " ".join(text.split()))
