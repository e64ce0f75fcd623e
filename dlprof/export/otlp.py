"""A run for OpenTelemetry: phases, epochs and calls as spans, figures and losses as metrics, in the JSON of OTLP.

A file holds two lines, one of traces and one of metrics, as the Collector's `otlpjsonfile` receiver reads them; a
collector takes the same over HTTP. The trace's number is made of the run's: sent twice, it is the same trace.
Format: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

from __future__ import annotations

import hashlib
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from dlprof.errors import NoInputError, UnavailableError, UsageError
from dlprof.export import figures
from dlprof.report import strict_json
from dlprof.store.run import Run
from dlprof.units import safe
from dlprof.version import __version__

SPANS_AT_MOST = 10_000
_TIMEOUT_S = 30
_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"
_INTERNAL, _ERROR = 1, 2
"""SPAN_KIND_INTERNAL, STATUS_CODE_ERROR."""


def write(run: Run, out: BinaryIO) -> str:
    """Write traces and metrics, a line each.

    Args:
        run: The run.
        out: Where to.

    Returns:
        How much was written.

    Raises:
        NoInputError: It is not known when the run was.
    """
    message = _Message(run)
    out.writelines(_encoded(part) + b"\n" for part in (message.traces(), message.metrics()))
    return message.said


def send(run: Run, endpoint: str) -> str:
    """Send both to a collector, over HTTP.

    Args:
        run: The run.
        endpoint: Its base address, such as `http://localhost:4318`. Headers come from `OTEL_EXPORTER_OTLP_HEADERS`.

    Returns:
        How much was sent, and to what.

    Raises:
        NoInputError: It is not known when the run was.
        UnavailableError: The collector does not answer, or refuses.
        UsageError: The headers in the environment are none.
    """
    message, base = _Message(run), endpoint.rstrip("/")
    for path, part in (("traces", message.traces()), ("metrics", message.metrics())):
        _post(f"{base}/v1/{path}", _encoded(part), _headers())
    return f"{message.said} sent to {base}"


def _headers() -> dict[str, str]:
    found = {"Content-Type": "application/json"}
    for pair in filter(None, os.environ.get(_HEADERS, "").split(",")):
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{_HEADERS} is not of the form name=value,name=value.", hint="correct it, or unset it")
        found[name.strip()] = urllib.parse.unquote(value.strip())
    return found


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310  (http, https)
    hint = "is a collector with an OTLP receiver for HTTP there? Its port is 4318 as a rule"
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            told = answer.read(1 << 16)
    except urllib.error.HTTPError as error:
        raise UnavailableError(f"{url} refused the run: {error.code} {safe(str(error.reason))}.", hint=hint) from error
    except (OSError, ValueError) as error:
        why = safe(str(getattr(error, "reason", error)))
        raise UnavailableError(f"{url} cannot be reached: {why}.", hint=hint) from error
    _raise_if_dropped(url, told)


def _raise_if_dropped(url: str, told: bytes) -> None:
    """A collector may take a part only, and say so in its answer."""
    try:
        dropped = json.loads(told or b"{}").get("partialSuccess") or {}
    except (ValueError, AttributeError):
        return  # an answer in another encoding: the status said that all is well
    count = dropped.get("rejectedSpans") or dropped.get("rejectedDataPoints")
    if count and int(count):
        why = safe(str(dropped.get("errorMessage") or "no reason given"))
        raise UnavailableError(f"{url} took the run in part only: {count} were rejected ({why}).")


class _Message:
    """What is told of a run.

    Attributes:
        said: How much it is, in a few words.
    """

    def __init__(self, run: Run) -> None:
        zero = run.manifest.clock.origin_wall_ns
        if zero is None:
            raise NoInputError(
                f"{run.name} cannot go to OpenTelemetry: it is not known when it was.",
                hint="runs of dlprof trace know; for imported traces try --to perfetto",
            )
        self._run, self._zero = run, zero
        self._figures = figures.of_run(run)
        self._trace = hashlib.sha256(f"{run.manifest.created}\0{run.manifest.process.pid}\0{zero}".encode()).hexdigest()
        self._script = os.path.basename(self._figures.report.script or run.name)  # noqa: PTH119  (another machine's)
        self._end_ns = run.wall_ns or 0
        self._spans, self._left_out = _chosen(run)
        self._losses = figures.of_epochs(run)
        points = sum(len(figure.known) for figure in self._figures.figures) + len(self._losses)
        left_out = f" ({self._left_out:,} short ones left out)" if self._left_out else ""
        self.said = f"{len(self._spans) + 1:,} spans{left_out} and {points:,} points of metrics"

    def traces(self) -> dict[str, Any]:
        """The run as one trace: a span of the whole, and the program's below it."""
        return {"resourceSpans": [{**self._resource(), "scopeSpans": [{**_SCOPE, "spans": [*self._all_spans()]}]}]}

    def metrics(self) -> dict[str, Any]:
        """The figures, at the end of the run; and what Keras computed for each epoch, at its time."""
        found = [self._metric(figure) for figure in self._figures.figures]
        if self._losses:
            points = [self._loss(row) for row in self._losses]
            found.append({"name": "dlprof.epoch.value", "description": "What Keras computed for an epoch.",
                          "gauge": {"dataPoints": points}})  # fmt: skip
        return {"resourceMetrics": [{**self._resource(), "scopeMetrics": [{**_SCOPE, "metrics": found}]}]}

    def _resource(self) -> dict[str, Any]:
        report, manifest = self._figures.report, self._run.manifest
        facts = {
            "service.name": os.environ.get("OTEL_SERVICE_NAME") or self._script,
            "host.name": report.machine.host,
            "process.pid": manifest.process.pid,
            "process.runtime.name": "cpython" if report.python_version else None,
            "process.runtime.version": report.python_version,
            "dlprof.run": self._run.name,
            "dlprof.backend": report.backend,
        }
        return {"resource": {"attributes": _attributes(facts)}}

    def _all_spans(self) -> Iterator[dict[str, Any]]:
        report, end = self._figures.report, self._run.manifest.process
        facts = {
            "dlprof.verdict": report.verdict or None,
            "dlprof.exit_code": end.exit_code,
            "dlprof.signal": end.signal,
            "dlprof.spans_left_out": self._left_out or None,
        }
        whole = self._span(0, None, self._script, 0, self._end_ns, facts)
        if end.exit_code or end.signal:
            told = f"signal {end.signal}" if end.signal else f"exit code {end.exit_code}"
            whole["status"] = {"code": _ERROR, "message": told}
        yield whole
        for row in self._spans:
            facts = {
                "dlprof.kind": row["kind"],
                "thread.id": row["thread_id"],
                "thread.name": row["thread"],
                "code.file.path": row["file"],
                "code.line.number": row["line"],
                "dlprof.ended": None if row["ended"] else False,
            }
            start, parent = row["start_ns"], row["parent_id"] or 0
            yield self._span(row["span_id"], parent, row["name"] or row["kind"], start, start + row["dur_ns"], facts)

    def _span(
        self, number: int, parent: int | None, name: str, start_ns: int, end_ns: int, facts: Mapping[str, Any]
    ) -> dict[str, Any]:
        made = {
            "traceId": self._trace[:32],
            "spanId": self._number(number),
            "name": safe(name),
            "kind": _INTERNAL,
            "startTimeUnixNano": str(self._zero + start_ns),
            "endTimeUnixNano": str(self._zero + end_ns),
            "attributes": _attributes(facts),
        }
        return made if parent is None else {**made, "parentSpanId": self._number(parent)}

    def _number(self, span: int) -> str:
        """The number of a span among those of all runs."""
        return hashlib.sha256(f"{self._trace}\0{span}".encode()).hexdigest()[:16]

    def _metric(self, figure: figures.Figure) -> dict[str, Any]:
        time = str(self._zero + self._end_ns)
        points = [
            {"timeUnixNano": time, "asDouble": float(value), "attributes": _attributes(labels)}
            for labels, value in figure.known
        ]
        name = "dlprof." + figure.name
        return {"name": name, "description": figure.about, "unit": figure.unit, "gauge": {"dataPoints": points}}

    def _loss(self, row: Mapping[str, Any]) -> dict[str, Any]:
        labels = {"name": row["name"], "epoch": row["epoch"], "loop": row["loop_id"]}
        time = str(self._zero + row["time_ns"])
        return {"timeUnixNano": time, "asDouble": row["value"], "attributes": _attributes(labels)}


_SCOPE = {"scope": {"name": "dlprof", "version": __version__}}


def _chosen(run: Run) -> tuple[list[dict[str, Any]], int]:
    """The longest spans, in order of their beginning, and how many more there are. A parent is as long as its parts."""
    rows = sorted(run.rows("spans"), key=lambda row: (-row["dur_ns"], row["start_ns"], row["span_id"]))
    kept = rows[:SPANS_AT_MOST]
    known = {row["span_id"] for row in kept}
    kept = [row if row["parent_id"] in known else {**row, "parent_id": None} for row in kept]
    return sorted(kept, key=lambda row: (row["start_ns"], row["span_id"])), len(rows) - len(kept)


def _attributes(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in facts.items() if value is not None]


def _value(value: bool | float | str) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"stringValue": safe(value)}


def _encoded(message: Mapping[str, Any]) -> bytes:
    return strict_json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
