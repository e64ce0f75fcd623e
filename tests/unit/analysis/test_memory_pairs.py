"""Memory of two sides beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlprof.analysis import memory_pairs
from dlprof.analysis.compare import Side
from dlprof.analysis.memory_pairs import LayerItem, MemoryItem
from dlprof.schema.vocabulary import MemoryBasis, MemoryKind
from dlprof.store.run import Run
from tests.unit.analysis.memory_runs import MB, S, sample, stood
from tests.unit.runs import fit_span, span, trained

EXACT, ESTIMATE = MemoryBasis.EXACT, MemoryBasis.ESTIMATE


def held(kind: str, size: int, layer: str | None = "dense", how: str = "exact") -> dict[str, Any]:
    """A row of `memory_owners`."""
    return {"model": 1, "layer": layer, "kind": kind, "bytes": size, "how": how, "count": 1}


def with_peak(path: Path, peak: int, **tables: Any) -> Run:
    """A run that has so much at 4 s, and half of it before."""
    return trained(path, process_samples=[sample(1, peak // 2), sample(4, peak)], **tables)


def joined(a: Run, b: Run) -> memory_pairs.MemoryPair:
    """Two runs."""
    return memory_pairs.join(Side("a", (a,)), Side("b", (b,)))


def test_peaks_have_their_moment_and_phases_stand_beside_each_other(tmp_path: Path) -> None:
    """800 MB in A's steps, 600 MB in B's; half of it in the imports."""
    a = with_peak(tmp_path / "a", 800 * MB, **stood(3.9, 4.1, 12))
    found = joined(a, with_peak(tmp_path / "b", 600 * MB))

    assert (found.a.peak_bytes, found.a.time_ns, found.a.phase) == (800 * MB, 4 * S, "fit.steps")
    assert (found.a.file, found.a.line, found.b.file) == ("train.py", 12, None)
    assert found.phases == (
        MemoryItem("import", 400 * MB, 300 * MB),
        MemoryItem("fit.steps", 800 * MB, 600 * MB),
    )
    assert [item.delta_bytes for item in found.phases] == [100 * MB, 200 * MB]


def test_what_tracing_kernels_took_is_told_beside_the_peak(tmp_path: Path) -> None:
    """900 MB while the tracer was on: A's steps are above the peak of A."""
    spans = [span("dlprof", 3, 3.1, name="start kernel tracing"), span("dlprof", 5, 5.5, name="stop kernel tracing")]
    traced = [sample(2.5, 400 * MB), sample(4, 900 * MB), sample(6, 800 * MB)]
    found = joined(trained(tmp_path / "a", process_samples=traced, spans=spans), with_peak(tmp_path / "b", 600 * MB))

    assert (found.a.peak_bytes, found.a.traced_peak_bytes, found.b.traced_peak_bytes) == (800 * MB, 900 * MB, None)
    assert [found.a.is_traced(size * MB) for size in (800, 900, 901)] == [False, True, False]


def test_of_several_runs_the_middle_peak_is_told(tmp_path: Path) -> None:
    """With the least and the most of them."""
    runs = tuple(with_peak(tmp_path / str(peak), peak * MB) for peak in (700, 500, 900))
    found = memory_pairs.join(Side("a", runs), Side("b", runs[:1])).a

    assert (found.least_peak_bytes, found.peak_bytes, found.most_peak_bytes) == (500 * MB, 700 * MB, 900 * MB)


def test_what_holds_it_is_joined_by_kind_and_says_how_it_is_known(tmp_path: Path) -> None:
    """A kind is exact where all of it is; what one side lacks is None there."""
    mine = [held("parameters", 300), held("activations", 90, how="estimate"), held("activations", 10)]
    a = trained(tmp_path / "a", memory_owners=mine)
    found = joined(a, trained(tmp_path / "b", memory_owners=[held("parameters", 200)]))

    assert found.kinds == (
        MemoryItem("parameters", 300, 200, EXACT, EXACT),
        MemoryItem("activations", 100, None, ESTIMATE, None),
    )


def test_layers_are_joined_by_their_place_in_like_models(tmp_path: Path) -> None:
    """Keras numbers the layers of each process anew."""
    sides = []
    for name, layer, size in (("a", "dense", 300), ("b", "dense_1", 100)):
        model = {"layers": [{"name": layer, "class": "Dense"}], "models": [], "optimizer": {}}
        rows = [held("parameters", size, layer), held("gradients", 40, layer, "estimate")]
        sides.append(trained(tmp_path / name, memory_owners=rows, spans=[fit_span(model=model)]))

    assert joined(sides[0], sides[1]).layers == (
        LayerItem("dense", MemoryKind.PARAMETERS, 300, 100, EXACT, EXACT),
        LayerItem("dense", MemoryKind.GRADIENTS, 40, 40, ESTIMATE, ESTIMATE),
    )


def test_what_is_not_measured_says_why(tmp_path: Path) -> None:
    """Neither samples nor owners."""
    probes = [{"name": "cores", "state": "off", "reason": "it was not asked for"}]
    found = joined(trained(tmp_path / "a", probes=probes), with_peak(tmp_path / "b", 600 * MB))

    assert found.a.peak_bytes is None
    assert found.a.not_measured["peak_bytes"] == "it was not asked for"
    assert "peak_bytes" not in found.b.not_measured
    assert found.phases[0] == MemoryItem("import", None, 300 * MB)
    assert found.is_known


def test_without_any_memory_nothing_is_known(tmp_path: Path) -> None:
    """Both sides were not sampled."""
    assert not joined(trained(tmp_path / "a"), trained(tmp_path / "b")).is_known
