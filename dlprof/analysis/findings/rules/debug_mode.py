"""A switch for debugging is on: every operation is checked, recorded, or run alone."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import debugged_allocations, queries, validated_arguments
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.analysis.samples import Sample
from dlprof.engines import combined
from dlprof.engines.base import PythonCost, Switch
from dlprof.schema.tree_paths import Tree, TreePath
from dlprof.schema.vocabulary import Basis, Ground, StepPart

TITLE = Title("A switch for debugging was on", "a switch for debugging")
_LEAST = 0.10
"""Share of the steps that a switch is taken to cost that no engine tells of."""
_MOST = 0.95


def look(case: Case) -> Iterator[Claim]:
    """Switches that were on when the training began."""
    told = [*debugged_allocations.claims(case), *validated_arguments.claims(case)]
    yield from told
    if case.training is None:
        if told:
            return  # what was said stays said
        raise Abstain("the run did not train under Keras")
    other = case.other.training.flags if case.other and case.other.training else {}
    switches = [_switch(name) for name in case.training.flags if name not in other]
    switches = [switch for switch in switches if not switch.runs_eagerly]
    if not switches:
        return
    names = sorted(switch.name for switch in switches)
    environment = {key: value for switch in switches for key, value in switch.environment.items()}
    yield Claim(
        Sentence(f"Switched on for debugging: {', '.join(names)}. That costs about"),
        max((_takes(case, switch) for switch in switches), key=lambda takes: sum(takes.values())),
        [queries.training_told("training.flags")],
        "Switch it off for trainings that are not for debugging.",
        case.code.line_with(*(_written(switch) for switch in switches)),
        Remedy(f"without {', '.join(names)}", environment, {"flags_off": names}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )


def _switch(name: str) -> Switch:
    return combined.switches().get(name) or Switch(name, _LEAST)


def _written(switch: Switch) -> str:
    """What a line of the script has that sets it."""
    return switch.name.rpartition(".")[2].partition(" ")[0]


def _takes(case: Case, switch: Switch) -> dict[TreePath, int]:
    """What a switch costs, leaf by leaf (ns)."""
    if switch.kernels is not None and case.steps is not None and case.tree.unsplit is None:
        kernels = case.steps / StepPart.KERNELS
        return case.takes(*(kernels / category for category in switch.kernels.categories), share=switch.kernels.share)
    return case.takes(Tree.FIT_STEPS, Tree.FIT_VALIDATION, Tree.EVALUATE, share=_share(case, switch))


def _share(case: Case, switch: Switch) -> float:
    """Share of the steps that a switch costs: by its own Python where that was seen, else as it was in the exam."""
    python = switch.python
    if python is None or not case.code.samples:
        return switch.cost
    stood = case.code.share([Tree.FIT_STEPS], lambda sample: _is_in(sample, python))
    return min(_MOST, python.factor * stood)


def _is_in(sample: Sample, python: PythonCost) -> bool:
    return any(frame.file.startswith(python.files) for frame in sample.frames)
