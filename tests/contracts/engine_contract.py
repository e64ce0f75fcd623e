"""What holds for every engine under the probe, a stand-in's as well as a real one's.

A subclass says by its method `run` how `engine_exercise` is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dlprof.ingest.own import wire
from dlprof.ingest.own.wire_stream import Stream
from tests.contracts.engine_programs import PROGRAMS, Program


@dataclass
class Exercise:
    """What the program saw, and what the probe wrote of it."""

    program: type[Program]
    folder: Path
    observed: dict[str, Any]

    def stream(self, experiment: str) -> Stream:
        """What the probe wrote in an experiment."""
        return wire.read(self.folder / experiment / "inproc.wire")

    def compilations(self) -> list[dict[str, Any]]:
        """What was told of each compilation of the program's own function, in order."""
        spans = sorted(self.stream("compiling").spans.values(), key=lambda span: span.number)
        told = [span.detail.get("compiled") for span in spans if span.kind == "graph_compile"]
        if not self.program.tells_causes:
            return [{}] * len(told)
        return [facts for facts in told if facts]

    def guards(self) -> list[Any]:
        """The guards of torch that failed."""
        return [span.detail["guards"] for span in self.stream("compiling").spans.values() if "guards" in span.detail]


def contracts(base: type[EngineContract]) -> dict[str, type[EngineContract]]:
    """A class of tests for each engine, without the claims that are of what it does not do.

    Args:
        base: Says how the exercise is run.
    """
    classes = {}
    for name, program in PROGRAMS.items():
        moot = [claim for claim, concerns in _CONCERNS.items() if not concerns(program)]
        members = {"program": program, "__test__": True, **dict.fromkeys(moot)}
        classes[f"Test_{name}"] = type(f"Test_{name}", (base,), members)
    return classes


_CONCERNS: dict[str, Callable[[type[Program]], object]] = {
    "test_a_function_that_is_compiled_again_is_told_with_its_cause": lambda program: program.tells_causes,
    "test_a_tracer_that_was_stopped_can_be_started_again": lambda program: program.mode == "windows",
    "test_a_switch_is_told_while_it_is_set": lambda program: program.switch,
    "test_settings_of_a_trial_outdo_those_of_the_script": lambda program: program.settings,
}
"""Claims that are not of every engine."""


class EngineContract:
    """The claims; each is checked by itself, on one run of the program."""

    __test__ = False

    program: type[Program]

    @classmethod
    def run(cls, folder: Path) -> None:
        """Have `engine_exercise` run into `folder`."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def exercise(cls, tmp_path_factory: pytest.TempPathFactory) -> Exercise:
        """The program's run."""
        folder = tmp_path_factory.mktemp(cls.program.name)
        cls.run(folder)
        return Exercise(cls.program, folder, json.loads((folder / "observed.json").read_text()))

    # -- attaching -----------------------------------------------------------------------------------------

    def test_it_is_not_ready_before_it_is_loaded(self, exercise: Exercise) -> None:
        """A module that is only begun has nothing to be hooked."""
        assert set(exercise.observed["readiness"]["empty"]) == {False}

    def test_it_is_ready_when_it_is_loaded(self, exercise: Exercise) -> None:
        """With all that its hooks wait for."""
        assert set(exercise.observed["readiness"]["loaded"]) == {True}

    def test_the_engine_and_its_version_are_noted(self, exercise: Exercise) -> None:
        """By the name of its module, as tables and comparisons know it."""
        meta = exercise.stream("readiness").meta

        assert meta["engine"] == exercise.program.module
        assert exercise.observed["version"].startswith(meta["engine_version"])

    # -- compiling -----------------------------------------------------------------------------------------

    def test_results_are_those_without_the_probe(self, exercise: Exercise) -> None:
        """Nothing is computed otherwise, neither under it nor after it."""
        observed = exercise.observed["compiling"]

        assert observed["probed"] == observed["plain"]
        assert observed["again"] == observed["plain"]

    def test_a_compilation_is_a_span_and_is_counted(self, exercise: Exercise) -> None:
        """Two rows are compiled once, three once more."""
        if exercise.program.compilers:
            assert len(exercise.compilations()) == 2
            assert exercise.observed["compiling"]["count"] >= 2
        else:
            assert (exercise.compilations(), exercise.observed["compiling"]["count"]) == ([], 0)

    def test_a_function_that_is_compiled_again_is_told_with_its_cause(self, exercise: Exercise) -> None:
        """The first compilation has none."""
        first, second = exercise.compilations()

        assert (first["again"], first["cause"]) == (False, [])
        assert second["again"]
        assert second["cause"] or exercise.guards()

    def test_a_hook_that_raises_is_noted_once(self, exercise: Exercise) -> None:
        """And is switched off, however often it would be called."""
        notes = [note.slug for note in exercise.stream("failing").notes]

        assert notes == ["hook-failed"] * exercise.program.compilers

    def test_a_hook_that_raises_leaves_the_call_its_result(self, exercise: Exercise) -> None:
        """As if it were not there."""
        assert exercise.observed["failing"]["results"] == exercise.observed["compiling"]["plain"]

    @pytest.mark.parametrize("experiment", ["compiling", "failing", "tracing", "settings"])
    def test_at_the_end_every_original_is_back(self, exercise: Exercise, experiment: str) -> None:
        """Nothing that was replaced is left."""
        assert exercise.observed[experiment]["left"] == []

    @pytest.mark.parametrize("experiment", ["readiness", "compiling", "tracing", "idle", "read_facts", "settings"])
    def test_no_hook_fails(self, exercise: Exercise, experiment: str) -> None:
        """And nothing else of note happens."""
        assert exercise.stream(experiment).notes == []

    # -- kernels -------------------------------------------------------------------------------------------

    def test_a_loop_that_is_long_enough_is_traced(self, exercise: Exercise) -> None:
        """The report says so, of the probe of kernels."""
        probes = {probe["name"]: probe for probe in exercise.stream("tracing").probes}

        assert probes["kernels"]["state"] == "on", probes["kernels"]

    def test_the_window_names_its_engine_and_its_files(self, exercise: Exercise) -> None:
        """The files are there, below the folder, and are not empty."""
        folder = exercise.folder / "tracing" / "kernels"
        if exercise.program.mode == "all":
            assert [name for name in exercise.observed["tracing"]["files"] if exercise.program.name in name]
            return
        facts = json.loads((folder / "window-000.json").read_text())

        assert (facts["engine"], facts["loop"], facts["steps"]) == (exercise.program.name, "fit", 2)
        assert facts["files"]
        assert all((folder / name).stat().st_size > 0 for name in facts["files"])

    def test_a_tracer_without_a_step_names_no_files_elsewhere(self, exercise: Exercise) -> None:
        """It raises, or names what it wrote into its folder."""
        assert exercise.observed["idle"].get("idle", []) == []

    def test_a_tracer_that_was_stopped_can_be_started_again(self, exercise: Exercise) -> None:
        """So it has not left the engine tracing."""
        observed = exercise.observed["idle"]

        assert observed["files"]
        assert not [name for name in observed["files"] if name.startswith("..")]
        assert all(size > 0 for size in observed["sizes"])

    # -- facts and settings --------------------------------------------------------------------------------

    def test_its_threads_are_read(self, exercise: Exercise) -> None:
        """Where it tells them."""
        threads = exercise.observed["read_facts"]["threads"]

        assert (threads is not None and threads >= 0) == exercise.program.tells_threads

    def test_a_switch_is_told_while_it_is_set(self, exercise: Exercise) -> None:
        """And no other time."""
        observed = exercise.observed["read_facts"]

        assert exercise.program.switch not in observed["before"]
        assert exercise.program.switch in observed["during"]

    def test_settings_of_a_trial_outdo_those_of_the_script(self, exercise: Exercise) -> None:
        """As long as the probe is there."""
        observed = exercise.observed["settings"]

        assert observed["settable"]
        assert observed["during"] != observed["after"]
