"""What models and their optimisers hold, as the in-process probe told it: tables `memory_owners` and `layers`.

Variables are exact. What is made in a step is estimated from shapes: a gradient for each parameter that is trained
(but where the engine has it as an array), what each layer gives, and a batch of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from dlprof.ingest.artifact import ProcessId
from dlprof.schema.tables import TABLES
from dlprof.schema.vocabulary import Direction, MemoryBasis, MemoryKind

_Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
_Length = Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]
_MOST_BYTES = 1 << 60
_SIZES = {
    **dict.fromkeys(("bool", "int8", "uint8", "qint8", "quint8", "float8_e4m3fn", "float8_e5m2"), 1),
    **dict.fromkeys(("float16", "half", "bfloat16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "float", "int32", "uint32"), 4),
    **dict.fromkeys(("float64", "double", "int64", "uint64", "long", "complex64"), 8),
    "complex128": 16,
}
"""Bytes of one value, by the names that engines have for types."""
_DIRECTIONS = {MemoryKind.GRADIENTS: Direction.BACKWARD, MemoryKind.OPTIMIZER: Direction.UPDATE}


class Variable(msgspec.Struct, frozen=True, array_like=True):
    """A variable: an array that is there."""

    layer: str | None
    name: str
    kind: MemoryKind
    shape: tuple[_Length, ...]
    dtype: str
    trainable: bool
    device: str | None


class Output(msgspec.Struct, frozen=True, array_like=True):
    """What a layer gives; None stands for the batch, and for other lengths that vary."""

    layer: str
    shape: tuple[_Length | None, ...]
    dtype: str


class Layer(msgspec.Struct, frozen=True, array_like=True):
    """A layer as the graph has it; None in a shape stands for the batch, and for other lengths that vary."""

    layer: str
    kind: str
    inputs: tuple[tuple[_Length | None, ...], ...]
    output: tuple[_Length | None, ...]
    dtype: str
    calls: _Number
    trained: bool
    first: bool
    weights: tuple[tuple[str, tuple[_Length | None, ...]], ...]


class Model(msgspec.Struct, frozen=True):
    """A record (`dlprof_probes.wire.Record.MODEL`); the time is the process's clock (ns)."""

    model: _Number
    loop: _Number
    time_ns: Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
    variables: tuple[Variable, ...]
    outputs: tuple[Output, ...] = ()
    layers: tuple[Layer, ...] = ()
    left_out: _Number = 0
    name: str | None = None


def parse(payload: bytes) -> Model:
    """A model out of its record.

    Raises:
        ValueError: It makes no sense.
    """
    return msgspec.json.decode(payload, type=Model)


def size(shape: Sequence[int | None], dtype: str) -> int | None:
    """Bytes of an array; None: a length or the type is not known, or no machine has so much."""
    each = _SIZES.get(dtype)
    if each is None or None in shape:
        return None
    whole = math.prod(length for length in shape if length is not None) * each
    return whole if whole < _MOST_BYTES else None


def table(models: Mapping[int, Model], facts: Mapping[int, Mapping[str, Any]], process: ProcessId) -> pa.Table:
    """The table `memory_owners`.

    Args:
        models: By their numbers.
        facts: Details of spans, by their numbers: those of the loops have the batch and the data.
        process: That of the stream.
    """
    rows: list[dict[str, Any]] = []
    batches = _largest_batches(facts)
    for one in models.values():
        known = {"model": one.model, "model_name": one.name, "time_ns": one.time_ns - process.origin_ns}
        rows += [{**process.columns, **known, **row} for row in _rows(one, facts.get(one.loop, {}), batches)]
    return pa.Table.from_pylist(rows, schema=TABLES["memory_owners"])


def layers(models: Mapping[int, Model], facts: Mapping[int, Mapping[str, Any]], process: ProcessId) -> pa.Table:
    """The table `layers`; the arguments are those of `table`."""
    rows = [
        {**process.columns, "model": one.model, **row}
        for one in models.values()
        for row in _layers(one, _whole(facts.get(one.loop, {}).get("batch_size")))
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["layers"])


def _layers(model: Model, batch: int | None) -> Iterator[dict[str, Any]]:
    """Their rows. Keras on MXNet tells no type of layers without weights: they have that of the others."""
    usual = next((layer.dtype for layer in model.layers if layer.dtype), "")
    for layer in model.layers:
        yield _layer(layer, batch, layer.dtype or usual)


def _layer(layer: Layer, batch: int | None, dtype: str) -> dict[str, Any]:
    return {
        "layer": layer.layer,
        "class": layer.kind,
        "inputs": [_spelled(_with_batch(shape, batch)) for shape in layer.inputs],
        "output": _spelled(_with_batch(layer.output, batch)),
        "dtype": dtype,
        "calls": layer.calls,
        "trained": layer.trained,
        "first": layer.first,
        "weight_names": [name for name, _ in layer.weights],
        "weights": [_spelled(shape) for _, shape in layer.weights],
        "bytes_per_value": _SIZES.get(dtype),
    }


def _spelled(shape: Sequence[int | None]) -> str:
    return "x".join("?" if length is None else str(length) for length in shape)


def _largest_batches(facts: Mapping[int, Mapping[str, Any]]) -> Mapping[str, int]:
    """The largest batch with which each model was trained: a model is told once, and `fit` may be called again."""
    found: dict[str, int] = {}
    for one in facts.values():
        batch = _whole(one.get("batch_size"))
        if batch is not None and "training" in one:
            model = _spelled_model(one)
            found[model] = max(batch, found.get(model, 0))
    return found


def _spelled_model(facts: Mapping[str, Any]) -> str:
    return repr(facts.get("model"))


def _rows(model: Model, facts: Mapping[str, Any], batches: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    told = any(one.kind == MemoryKind.GRADIENTS for one in model.variables)
    for one in model.variables:
        yield _row(one.kind, one.layer, one.name, one.shape, one.dtype, one.device, MemoryBasis.EXACT)
        if one.trainable and not told:
            kind = MemoryKind.GRADIENTS
            yield _row(kind, one.layer, one.name, one.shape, one.dtype, one.device, MemoryBasis.ESTIMATE)
    if model.left_out:
        yield {"kind": MemoryKind.OTHER, "how": MemoryBasis.ESTIMATE, "count": model.left_out, "name": "left out"}
    batch = _whole(facts.get("batch_size"))
    if batch is not None and "training" in facts:
        batch = batches.get(_spelled_model(facts), batch)
    usual = _usual_type(model)
    for output in model.outputs:
        shape, dtype = _with_batch(output.shape, batch), output.dtype or usual
        row = _row(MemoryKind.ACTIVATIONS, output.layer, None, shape, dtype, None, MemoryBasis.ESTIMATE)
        yield {**row, "direction": Direction.FORWARD}
    yield from _inputs(facts.get("data"), batch)


def _usual_type(model: Model) -> str:
    """Type of what layers give that tell none, as all but the first of Keras 2: that of others, or of weights."""
    of_outputs = next((output.dtype for output in model.outputs if output.dtype), "")
    return of_outputs or next((one.dtype for one in model.variables if one.trainable), "")


def _inputs(data: Any, batch: int | None) -> Iterator[dict[str, Any]]:
    """A batch of each array that the loop is given; what it is not told of as an array has no row."""
    for number, one in enumerate(data if isinstance(data, list) else ()):
        shape = one.get("shape") if isinstance(one, dict) else None
        if not isinstance(shape, list) or not shape or any(_whole(length) is None for length in shape):
            continue
        yield _row(
            MemoryKind.INPUT, None, f"data {number}", (batch, *shape[1:]), str(one.get("dtype")), None,
            MemoryBasis.ESTIMATE,
        )  # fmt: skip


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 48 else None


def _with_batch(shape: Sequence[int | None], batch: int | None) -> tuple[int | None, ...]:
    """The batch is the first length, where that varies; others that vary stay unknown."""
    return (batch, *shape[1:]) if shape and shape[0] is None else tuple(shape)


def _row(  # noqa: PLR0913, PLR0917  (columns)
    kind: MemoryKind,
    layer: str | None,
    name: str | None,
    shape: Sequence[int | None],
    dtype: str,
    device: str | None,
    how: MemoryBasis,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "layer": layer,
        "name": name,
        "shape": _spelled(shape),
        "dtype": dtype,
        "bytes": size(shape, dtype),
        "direction": _DIRECTIONS.get(kind),
        "device": device,
        "how": how,
        "count": 1,
    }
