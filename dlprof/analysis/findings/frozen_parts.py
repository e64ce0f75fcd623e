"""Parts of a torch model that a loop of the script's own goes through again in each epoch, and does not train.

Each training is looked at by itself: often the head is trained first, and all of the model behind that. A part counts
whose kernels are all of the way forward; some of these must have weights that get no gradients. Where chance or the
other rows of a batch have a say in what such a part gives, or its data come from something else than one data set that
is gone through again, nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dlprof.analysis import kernels
from dlprof.analysis.columns import steps_of
from dlprof.analysis.findings import queries
from dlprof.analysis.findings.calls import Call
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Claim, Sentence, Support
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Category, Direction, Ground, Loop, SpanKind, StepPart

_LEAST = 0.3
"""Share of the traced kernels' time of a training that is in such parts."""
_SHARE_OF_WORK = 0.05
_TENSORS = "TensorDataset"
"""A data set that gives the same rows each time; of another one nobody knows."""
_UNKNOWN_DATA = 0.4
"""How likely it is then: a question."""
_FIX = (
    "with torch.no_grad(): features = torch.cat([backbone(x) for x, _ in loader]), once, in eval mode and without "
    "shuffling; then train the head on TensorDataset(features, labels)"
)


@dataclass(frozen=True)
class _Frozen:
    """What a training computes again in each epoch.

    Attributes:
        training: The training.
        parts: Names of the parts with weights that stay as they are.
        share: Of the traced kernels' time of it, in these and in those beside them: 0 to 1.
        epochs: How many it has.
        steps_ns: For how long its steps ran (ns).
        is_same: Whether its data are known to be the same in each epoch.
    """

    training: Call
    parts: tuple[str, ...]
    share: float
    epochs: int
    steps_ns: int
    is_same: bool


def are_told(case: Case) -> bool:
    """Whether a loop of the script's own told which of its layers are trained."""
    return any("trained" in layer for call in case.calls.of(SpanKind.FIT) for layer in _layers(call))


def claims(case: Case) -> Iterator[Claim]:
    """One for each training that computes much of it again."""
    if case.pair or case.tree.unsplit is not None:
        return
    trainings = [call for call in case.calls.of(SpanKind.FIT) if _names(call, trained=False)]
    lasted = _lasted(case) if trainings else {}
    for training in trainings:
        found = _frozen(case, training, lasted.get(training.number, 0))
        if found is None:
            continue
        saved = found.share * (1 - 1 / found.epochs) * found.steps_ns / max(1, sum(lasted.values()))
        takes = case.takes(Tree.FIT_STEPS / StepPart.KERNELS, share=saved)
        if sum(takes.values()) >= _SHARE_OF_WORK * case.work_ns:
            yield _claim(found, takes)


def _claim(found: _Frozen, takes: Mapping[TreePath, int]) -> Claim:
    count = len(found.parts)
    return Claim(
        Sentence(
            f"{count} layer{'s' * (count != 1)} whose weights stay as they are compute{'s' * (count == 1)} the same "
            f"for each row in each of {found.epochs} epochs, {100 * found.share:.0f} % of the kernels' time:"
        ),
        takes,
        [queries.operators()],
        "Compute once what the frozen layers give, and train the others on that.",
        found.training.line,
        basis=Basis.ESTIMATED,
        support=Support(
            Ground.REPEATED if found.is_same else Ground.MODEL,
            seen=found.epochs * count,
            agree=1.0 if found.is_same else _UNKNOWN_DATA,
        ),
        fix=_FIX,
    )


def _layers(training: Call) -> Sequence[Mapping[str, Any]]:
    """What a training told of its layers; of loops of the script's own whether each is trained."""
    return (training.detail.get("model") or {}).get("layers") or ()


def _names(training: Call, **told: bool) -> set[str]:
    """Names of the layers of which that was told."""
    return {str(one["name"]) for one in _layers(training) if all(one.get(key) is told[key] for key in told)}


def _lasted(case: Case) -> dict[int, int]:
    """For how long the steps of each training ran (ns)."""
    steps = steps_of(case.run.table("steps", ("loop", "loop_id", "dur_ns")), Loop.TRAIN)
    sums = steps.group_by("loop_id").aggregate([("dur_ns", "sum")])
    return dict(zip(sums["loop_id"].to_pylist(), sums["dur_ns_sum"].to_pylist(), strict=True))


def _frozen(case: Case, training: Call, steps_ns: int) -> _Frozen | None:
    frozen = _names(training, trained=False)
    epochs = sum(1 for row in case.run.rows("epochs") if row["loop_id"] == training.number)
    if not frozen or epochs < 2 or not steps_ns:
        return None
    forward, share = _only_forward(case, training)
    others = _names(training, trained=True) | _names(training, varies=True)
    if not frozen & forward or forward & others or _draws(case, forward) or share < _LEAST:
        return None
    is_same = _data_sets(case, training) == {_TENSORS} and not _draws(case, {None})
    return _Frozen(training, tuple(sorted(frozen & forward)), share, epochs, steps_ns, is_same)


def _only_forward(case: Case, training: Call) -> tuple[set[str], float]:
    """Parts whose kernels in the windows of a training are all of the way forward, and their share of all kernels."""
    forward: Counter[str] = Counter()
    back: set[str] = set()
    whole = 0
    for window in case.run.rows("kernel_windows"):
        if not training.begin_ns <= window["start_ns"] < training.end_ns:
            continue
        for row in kernels.summarise(case.run, "layer", window=window["window"]).work:
            ns = row.total_ns if row.union_ns is None else row.union_ns
            whole += ns
            if row.layer is not None and row.direction == Direction.FORWARD:
                forward[row.layer] += ns
            elif row.layer is not None and row.direction == Direction.BACKWARD:
                back.add(row.layer)
    alone = {layer: ns for layer, ns in forward.items() if layer not in back}
    return set(alone), sum(alone.values()) / whole if whole and back else 0.0


def _draws(case: Case, layers: Collection[str | None]) -> bool:
    """Whether an operator of some layers draws random numbers, such as a dropout that is no layer; None: of none."""
    return any(op["category"] == Category.RANDOM and op["layer"] in layers for op in case.run.rows("kernel_ops"))


def _data_sets(case: Case, training: Call) -> set[str]:
    """Classes of the data sets that a training went through."""
    rows = (row for row in case.run.rows("loaders") if training.begin_ns <= row["start_ns"] < training.end_ns)
    return {str(row["dataset"]) for row in rows}
