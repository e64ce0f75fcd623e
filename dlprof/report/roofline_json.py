"""Work of layers as JSON (`dlprof.roofline/1`). Times are ns; None: not known."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dlprof.analysis.roofline import LayerRate, Roofline
from dlprof.schema.manifest import Ceilings

SCHEMA = "dlprof.roofline/1"


class LayerReport(Struct, frozen=True, kw_only=True):
    """A layer in one direction, in one training step."""

    layer: str
    kind: str
    direction: str
    flops: float | None
    bytes: float
    how: str
    """`exact`: by formula; `estimate`: by the number of values."""
    why_not: str | None
    ns: float | None
    flops_per_s: float | None
    bytes_per_s: float | None
    bound: str | None
    reached: float | None
    """Share of the ceiling that binds it."""


class CeilingReport(Struct, frozen=True, kw_only=True):
    """What the machine can do at most."""

    cpu: str | None
    cores: int
    flops_per_s: Mapping[str, float]
    bytes_per_s: float


class RooflineReport(Struct, frozen=True, kw_only=True):
    """All layers."""

    schema: str = SCHEMA
    step_flops: float | None
    step_bytes: float | None
    """What its layers must move at least, without the optimiser."""
    step_ns: float | None
    """Of a traced step."""
    plain_step_ns: float | None
    """Of a step without a tracer."""
    step_flops_per_s: float | None
    """Of the plain step, or else of the traced one."""
    step_reached: float | None
    """Share of the ceiling of computing that the step as a whole reaches, often called MFU."""
    ceilings: CeilingReport | None
    why_not: str | None
    layers: tuple[LayerReport, ...]
    why_no_times: str | None
    """Why no layer has a time; null: some have, or there are no layers."""
    unnamed: float | None
    """Share of the kernels' time that is of no layer, 0 to 1; null: no kernels were traced."""


def as_json(found: Roofline) -> RooflineReport:
    """All layers. See `dlprof help json`."""
    step = found.step
    return RooflineReport(
        step_flops=step.flops,
        step_bytes=step.bytes,
        step_ns=step.traced_ns,
        plain_step_ns=step.plain_ns,
        step_flops_per_s=step.flops_per_s,
        step_reached=step.reached,
        ceilings=_ceilings(found.ceilings),
        why_not=found.why_not,
        layers=tuple(map(_layer, found.layers)),
        why_no_times=found.why_no_times,
        unnamed=found.unnamed,
    )


def _ceilings(known: Ceilings | None) -> CeilingReport | None:
    if known is None:
        return None
    rates = known.flops_per_s
    return CeilingReport(cpu=known.cpu, cores=known.cores or 0, flops_per_s=rates, bytes_per_s=known.bytes_per_s)


def _layer(rate: LayerRate) -> LayerReport:
    work = rate.work
    return LayerReport(
        layer=work.layer,
        kind=work.kind,
        direction=work.direction,
        flops=work.flops,
        bytes=work.bytes,
        how=work.how,
        why_not=work.why_not,
        ns=rate.ns,
        flops_per_s=rate.flops_per_s,
        bytes_per_s=rate.bytes_per_s,
        bound=rate.bound,
        reached=rate.reached,
    )
