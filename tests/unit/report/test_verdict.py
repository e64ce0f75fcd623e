"""The answer of a run in one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dlprof.analysis.findings.diagnose import NO_TIME
from dlprof.analysis.findings.finding import Abstention, Diagnosis, Finding
from dlprof.analysis.findings.rest import LoopLine, Rest, Stood, Worked
from dlprof.analysis.findings.title import Title
from dlprof.report import verdict
from dlprof.report.model import Exit, PhaseTime
from dlprof.schema.tree_paths import Tree
from dlprof.schema.vocabulary import Basis
from tests.unit.report.reports import report
from tests.unit.runs import S

PHASES = (PhaseTime("import", None, S, 1), PhaseTime("fit", None, 6 * S, 1), PhaseTime("fit.steps", "fit", 6 * S, 1))


def diagnosis(share: float, basis: Basis = Basis.MEASURED, title: Title | None = None) -> Diagnosis:
    """One cause of a run of 10 s."""
    title = title or Title("Callbacks held the training up", "callbacks")
    finding = Finding(
        "slow-callback", "", round(share * 10 * S), share, None, basis, None, None, (), "Stop.", title=title
    )
    return Diagnosis((finding,), (), 10 * S)


def of(found: Diagnosis | None, **changes: Any) -> str:
    """The verdict of a run of 10 s."""
    return verdict.of(report(phases=PHASES, **changes), found)


def test_the_cause_that_explains_most_is_the_answer() -> None:
    """In the words of its rule."""
    assert of(diagnosis(0.72)) == "72 % of the 10.0 s went to callbacks."


def test_an_estimate_is_said_to_be_one() -> None:
    """A model stands between what was measured and the share."""
    assert of(diagnosis(0.72, Basis.ESTIMATED)) == "About 72 % of the 10.0 s went to callbacks."


def test_what_is_only_asked_is_no_answer() -> None:
    """False before: "31 % went to", of a cause that was right one time in five."""
    asked = replace(diagnosis(0.72).findings[0], confidence=0.21)

    assert of(Diagnosis((asked,), (), 10 * S)).endswith(
        "import 1.00 s (10.0 %); perhaps the largest single loss is callbacks, 72 %."
    )
    assert of(Diagnosis((asked, *diagnosis(0.25).findings), (), 10 * S)) == "25 % of the 10.0 s went to callbacks."


def test_a_rule_without_such_words_is_told_by_its_title() -> None:
    """That of a plug-in."""
    assert of(diagnosis(0.5, title=Title("My rule"))) == "50 % of the 10.0 s: My rule."


def test_where_no_cause_explains_much_the_phases_are_the_answer() -> None:
    """And what the largest cause costs."""
    assert of(diagnosis(0.05)) == (
        "The 10.0 s went to fit 6.00 s (60.0 %), import 1.00 s (10.0 %); the largest single loss is callbacks, 5 %."
    )


def test_the_first_cause_is_not_called_the_largest_where_another_one_is() -> None:
    """They are ranked by what they cost and how sure they are."""
    first, second = diagnosis(0.05).findings[0], diagnosis(0.08).findings[0]

    assert of(Diagnosis((first, second), (), 10 * S)).endswith("; the surest loss is callbacks, 5 %.")


def test_what_dlprof_itself_costs_is_no_answer() -> None:
    """It is among the findings; the script's own largest cause is told."""
    own = Finding("profiler-overhead", "", 5 * S, 0.5, None, Basis.MEASURED, None, None, (), "Trace a longer run.")

    told = of(Diagnosis((own, *diagnosis(0.3).findings), (), 10 * S))

    assert told == "30 % of the 10.0 s went to callbacks."
    assert of(Diagnosis((own,), (), 10 * S)).endswith("; no cause of lost time was found in the script.")


def test_counting_that_slowed_the_run_is_said_behind_the_answer() -> None:
    """From a twentieth of the wall time on."""
    whole = report(phases=PHASES)

    assert verdict.of(whole, diagnosis(0.72), counting_ns=S // 2) == (
        "72 % of the 10.0 s went to callbacks. "
        "Counting each line (--lines exact) took 500 ms, 5 % of the wall time: without exact it costs less."
    )
    assert verdict.of(whole, diagnosis(0.72), counting_ns=S // 2 - 1) == "72 % of the 10.0 s went to callbacks."


def test_nothing_is_said_of_causes_that_were_not_looked_for() -> None:
    """Only of the phases."""
    assert of(None) == "The 10.0 s went to fit 6.00 s (60.0 %), import 1.00 s (10.0 %)."


def test_a_run_without_a_cause_says_so() -> None:
    """But not where some were left out for want of time."""
    none = Diagnosis((), (Abstention("gpu-idle", "no kernel ran on a GPU"),), 10 * S)
    late = Diagnosis((), (Abstention("gpu-idle", NO_TIME),), 10 * S)

    assert of(none).endswith("import 1.00 s (10.0 %); no cause of lost time was found.")
    assert of(late).endswith("import 1.00 s (10.0 %).")


def test_the_line_where_most_of_the_unexplained_time_stood_is_named() -> None:
    """Where that is a fifth of the run and more; what its stacks tell is said, too."""
    stood = Stood("train.py", 10, 0.97, "backend_compile", "jax/_src/compiler.py", "compiling")
    much = Diagnosis((), (), 10 * S, rest=(Rest(Tree.FIT_STEPS, 5 * S, 0.5, stood),))
    little = Diagnosis((), (), 10 * S, rest=(Rest(Tree.FIT_STEPS, S, 0.1, stood),))

    assert of(much).endswith("; no cause of lost time was found; 97 % of fit.steps stood at train.py:10, compiling.")
    assert of(little).endswith("; no cause of lost time was found.")


def test_where_no_place_stood_out_a_line_of_the_loop_is_named() -> None:
    """Or the layer that computed most, which says more of a `fit` than its line."""
    line = LoopLine("train.py", 41, 3 * S, 0.3, None, "copying")
    layer = Rest(Tree.FIT_STEPS, 5 * S, 0.5, None, Worked("dense_1", "backward", "MatMul", 0.4))

    assert of(Diagnosis((), (), 10 * S, lines=(line,))).endswith("was found; train.py:41 has 30 %, copying.")
    assert of(Diagnosis((), (), 10 * S, rest=(layer,), lines=(line,))).endswith(
        "was found; 20 % is dense_1 backward MatMul."
    )


def test_a_script_that_failed_is_told_so_first() -> None:
    """By its exit code, or by the signal."""
    assert of(diagnosis(0.72), exit=Exit(1, None)).startswith("The script failed with exit code 1. 72 %")
    assert of(None, exit=Exit(None, 9)).startswith("The script was killed (SIGKILL). The 10.0 s")


def test_the_exception_that_left_a_script_is_named_with_its_line() -> None:
    """Where there is a line of the user's."""
    told = of(None, exit=Exit(1, None, "KeyError", "train.py", 12))

    assert told.startswith("The script failed: KeyError at train.py:12 (exit code 1). The 10.0 s")
    assert of(None, exit=Exit(1, None, "KeyError")).startswith("The script failed: KeyError (exit code 1). ")
    assert of(Diagnosis((), (), 10 * S), exit=Exit(1, None, "KeyError")).endswith("import 1.00 s (10.0 %).")


def test_the_verdict_of_a_run_without_phases_is_that_nothing_is_known() -> None:
    """The probe in the process left nothing."""
    assert verdict.of(report(), None) == "Where the time went is not known: the in-process probe left nothing."
