"""What a command printed, held against the schema that is published for it."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import jsonschema

from dlprof.cli import json_types


def problems(name: str, content: Any) -> list[str]:
    """Where JSON is not as its schema says, as `PLACE: what`.

    Users may meet fields and words that a schema does not name. Here there are none: what is printed is of this very version.
    """
    found = _validator(name).iter_errors(content)
    return [f"{one.json_path}: {one.message[:200]}" for one in found]


@cache
def _validator(name: str) -> Any:
    schema = copy.deepcopy(json.loads(json_types.file(name).read_text(encoding="utf-8")))
    jsonschema.Draft202012Validator.check_schema(schema)
    for one in schema["$defs"].values():
        one["additionalProperties"] = False
        for value in one["properties"].values():
            if "examples" in value:
                value["enum"] = value["examples"]
    return jsonschema.Draft202012Validator(schema)
