"""Each operation of the training is started by Python, one by one, where a graph could be run as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from dlprof.analysis.findings import own_eager, queries
from dlprof.analysis.findings.case import Case
from dlprof.analysis.findings.compiled_steps import KERNELS_OF_STEPS, op_by_op
from dlprof.analysis.findings.finding import Abstain, Claim, Remedy, Sentence, Support
from dlprof.analysis.findings.title import Title
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis, Ground

TITLE = Title("The model ran eagerly, one operation at a time", "running the model one operation at a time")


def look(case: Case) -> Iterator[Claim]:
    """The model was compiled with run_eagerly, or all functions of TensorFlow were made to run eagerly."""
    own = list(own_eager.claims(case))
    if own:
        yield from own
        return
    told = case.training
    if told is None or "run_eagerly" not in told.settings:
        raise Abstain("Keras did not say whether the model runs eagerly")
    switches = [switch.name for switch in case.engine.switches if switch.runs_eagerly]
    other = case.other.training if case.other else None
    is_eager = bool(told.settings["run_eagerly"]) or any(name in told.flags for name in switches)
    if not is_eager or not case.engine.compiles_steps or (other is not None and other.settings.get("run_eagerly")):
        return
    share = case.own(KERNELS_OF_STEPS) / max(1, case.own(Tree.FIT_STEPS))
    yield Claim(
        Sentence(
            "The model runs eagerly: Python starts each operation by itself, and kernels ran in only "
            f"{100 * share:.0f} % of the steps' time:"
        ),
        op_by_op(case),
        [queries.training_told("training.run_eagerly", "training.flags"), queries.operators(by="op")],
        "Leave run_eagerly=True out of compile(), and tf.config.run_functions_eagerly out of the script.",
        case.code.line_with("run_eagerly=True", "run_functions_eagerly("),
        Remedy("run_eagerly off", {}, {"run_eagerly": False, "flags_off": switches}),
        basis=Basis.ESTIMATED,
        support=Support(Ground.STATED),
    )
