"""What holds for every Keras under the probe, a stand-in's as well as a real one's.

A subclass says by its method `run` how `keras_training` is run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dlprof_probes import wire as fmt

from dlprof.ingest.own import wire
from dlprof.ingest.own.wire_stream import Stream

LOOPS = ("fit", "evaluate", "predict", "on_batch")


@dataclass
class Training:
    """What a program saw, and what the probe wrote of it."""

    observed: dict[str, Any]
    stream: Stream

    @classmethod
    def read(cls, folder: Path) -> Training:
        """What `keras_training.run` has left in `folder`."""
        return cls(json.loads((folder / "observed.json").read_text()), wire.read(folder / "inproc.wire"))

    def outer(self) -> list[wire.Span]:
        """Spans that are in no other, in order; without the program itself."""
        found: list[wire.Span] = []
        for span in sorted(self.stream.spans.values(), key=lambda s: (s.start, -(s.end or 0))):
            if span.kind in ("script", "dlprof") or (found and span.start < (found[-1].end or 0)):
                continue
            found.append(span)
        return found

    def inside(self, outer: wire.Span, kind: str) -> list[wire.Span]:
        """Spans of a kind in another one, in order."""
        found = [s for s in self.stream.spans.values() if s.kind == kind and s is not outer]
        return [s for s in found if outer.start <= s.start and (s.end or 0) <= (outer.end or 0)]

    def loops(self, kind: str) -> list[wire.Span]:
        """The outermost loops of a kind."""
        return [span for span in self.outer() if span.kind == kind]

    def steps(self, loop: wire.Span) -> list[tuple[int, ...]]:
        """Epoch, step and count of each step of a loop."""
        return [(row[2], row[3], row[4]) for row in self.stream.steps if row[1] == loop.number]

    def flags(self, loop: wire.Span) -> list[int]:
        """Flags of each step of a loop."""
        return [row[12] for row in self.stream.steps if row[1] == loop.number]


class KerasContract:
    """The claims; each is checked by itself, on one run of the program."""

    @classmethod
    def run(cls, folder: Path) -> None:
        """Have `keras_training` run into `folder`."""
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def training(cls, tmp_path_factory: pytest.TempPathFactory) -> Training:
        """The program's run."""
        folder = tmp_path_factory.mktemp("training")
        cls.run(folder)
        return Training.read(folder)

    def test_the_probe_attached_and_nothing_failed(self, training: Training) -> None:
        """It names Keras and its backend; no hook was switched off; the stream is whole."""
        stream = training.stream

        assert (stream.meta["keras_version"], stream.meta["keras_backend"]) == (
            training.observed["version"],
            training.observed["backend"],
        )
        assert stream.notes == []
        assert stream.complete

    @pytest.mark.parametrize("result", ["history", "evaluated", "predicted", "trained", "tested", "predicted_batch"])
    def test_results_are_those_without_the_probe(self, training: Training, result: str) -> None:
        """To the last bit: nothing is computed otherwise."""
        assert training.observed["probed"][result] == training.observed["plain"][result]

    def test_weights_are_those_without_the_probe(self, training: Training) -> None:
        """After all training, saving and loading."""
        assert training.observed["probed"]["weights"] == training.observed["plain"]["weights"]

    def test_callbacks_are_called_in_the_same_order(self, training: Training) -> None:
        """And as often."""
        batches = [text for n in range(3) for text in (f"batch {n}", f"batch {n} is over")]
        calls = training.observed["probed"]["calls"]

        assert calls[:17] == [
            "train begin",
            "epoch 0",
            *batches,
            "epoch 0 is over",
            "epoch 1",
            *batches,
            "epoch 1 is over",
        ]
        assert calls == training.observed["plain"]["calls"]

    def test_an_exception_passes_through(self, training: Training) -> None:
        """Of the same type, with the same text and the same frames: none of the probe's."""
        error = training.observed["probed"]["error"]

        assert error[:2] == ["ValueError", "of the user's own"]
        assert error == training.observed["plain"]["error"]

    def test_nothing_is_left_replaced(self, training: Training) -> None:
        """When the probe has gone, classes and modules hold what they held before."""
        assert training.observed["left"] == []
        assert training.observed["problems"] == []

    def test_the_model_has_its_own_step_functions_again(self, training: Training) -> None:
        """Those that stood in are gone with the probe."""
        assert training.observed["stand_ins_left"] == []

    def test_every_call_is_a_span(self, training: Training) -> None:
        """In the order of the program."""
        kinds = [span.kind for span in training.outer()]
        loops = [kind for kind in kinds if kind in LOOPS]

        assert kinds[0] == "construct"
        assert kinds[kinds.index("compile") - 1] == "construct"
        assert loops == ["fit", "evaluate", "predict", "on_batch", "on_batch", "on_batch", "fit", "fit", "fit"]
        assert [span.name for span in training.loops("on_batch")] == [
            "train_on_batch",
            "test_on_batch",
            "predict_on_batch",
        ]
        assert [span.name for span in training.loops("save")] == ["save_weights", "load_weights"]

    def test_every_span_has_ended(self, training: Training) -> None:
        """Those that an exception went through, too."""
        assert [span.name for span in training.stream.spans.values() if span.end is None] == []

    def test_spans_name_the_line_of_the_user(self, training: Training) -> None:
        """Not one of Keras."""
        files = {Path(span.file).name for span in training.outer() if span.kind in ("fit", "compile", "save")}

        assert files == {"keras_training.py"}

    def test_layers_are_named_where_they_are_made(self, training: Training) -> None:
        """Their kernels are known by these names."""
        made = [span.detail.get("layer") for span in training.outer() if span.name == "Dense.__init__"]

        assert made == ["hidden", "result"]

    def test_epochs_of_fit(self, training: Training) -> None:
        """One span each, by number."""
        assert [span.name for span in training.inside(training.loops("fit")[0], "epoch")] == ["0", "1"]

    def test_each_batch_of_fit_is_a_step(self, training: Training) -> None:
        """10 rows in batches of 4 are 3 steps an epoch."""
        expected = [(epoch, step, 1) for epoch in (0, 1) for step in (0, 1, 2)]

        assert training.steps(training.loops("fit")[0]) == expected

    def test_the_first_call_of_a_step_function_is_marked(self, training: Training) -> None:
        """Only that one: later fits have the same function."""
        first = [bool(flags & fmt.STEP_FIRST) for flags in training.flags(training.loops("fit")[0])]
        later = [bool(flags & fmt.STEP_FIRST) for flags in training.flags(training.loops("fit")[1])]

        assert first == [True, False, False, False, False, False]
        assert later == [False, False, False]

    def test_a_step_of_fit_knows_its_call_and_its_wait(self, training: Training) -> None:
        """When the step function ran, and how long the batch was waited for."""
        wanted = fmt.STEP_HAS_INPUT | fmt.STEP_HAS_CALL

        assert {flags & wanted for flags in training.flags(training.loops("fit")[0])} == {wanted}

    def test_evaluation_and_prediction_have_steps(self, training: Training) -> None:
        """10 rows in batches of 5."""
        for kind in ("evaluate", "predict"):
            assert [row[1:] for row in training.steps(training.loops(kind)[0])] == [(0, 1), (1, 1)]

    def test_validation_is_inside_fit(self, training: Training) -> None:
        """Once an epoch, with steps of its own: 6 rows in batches of 4."""
        validations = training.inside(training.loops("fit")[0], "evaluate")

        assert len(validations) == 2
        for validation in validations:
            assert [row[1:] for row in training.steps(validation)] == [(0, 1), (1, 1)]

    def test_a_loop_in_a_callback_is_inside_the_outer_one(self, training: Training) -> None:
        """Its steps are its own; those of fit stay what they were."""
        fit = training.loops("fit")[1]
        predictions = training.inside(fit, "predict")

        assert [[row[1:] for row in training.steps(span)] for span in predictions] == [[(0, 1), (1, 1)]]
        assert training.steps(fit) == [(0, 0, 1), (0, 1, 1), (0, 2, 1)]

    def test_a_fit_that_failed_has_the_steps_before(self, training: Training) -> None:
        """And the next one is whole."""
        assert training.steps(training.loops("fit")[2]) == [(0, 0, 1)]
        assert training.steps(training.loops("fit")[3]) == [(0, 0, 1), (0, 1, 1), (0, 2, 1)]

    def test_single_batches_are_steps_of_one_loop(self, training: Training) -> None:
        """Three calls of train_on_batch are no epochs."""
        counts = [len(training.steps(span)) for span in training.loops("on_batch")]

        assert counts == [3, 1, 1]
        assert {row[0] for row in training.steps(training.loops("on_batch")[0])} == {fmt.NONE}

    def test_callbacks_have_time_of_their_own(self, training: Training) -> None:
        """At the boundaries of training and of epochs."""
        names = [span.name for span in training.inside(training.loops("fit")[0], "callbacks")]

        assert [name for name in names if "test" not in name] == [
            "on_train_begin",
            "on_epoch_begin",
            "on_epoch_end",
            "on_epoch_begin",
            "on_epoch_end",
            "on_train_end",
        ]

    def test_metrics_of_epochs_are_those_of_history(self, training: Training) -> None:
        """Loss and validation's, each epoch."""
        fit = training.loops("fit")[0].number
        values: dict[str, list[float]] = {}
        for loop, _, step, _, name, value in training.stream.metrics:
            if loop == fit and step == fmt.NONE:
                values.setdefault(name, []).append(value)

        assert values == training.observed["probed"]["history"]

    def test_facts_of_the_loop(self, training: Training) -> None:
        """Epochs and batch size, as Keras or its data tell them."""
        detail = training.loops("fit")[0].detail

        assert (detail["epochs"], detail["batch_size"]) == (2, 4)

    def test_facts_of_the_model(self, training: Training) -> None:
        """Its layers with their classes, in order, and its optimiser."""
        model = training.loops("fit")[0].detail["model"]

        layers = [(layer["name"], layer["class"]) for layer in model["layers"]]
        assert layers[-2:] == [("hidden", "Dense"), ("result", "Dense")]
        assert model["optimizer"]["class"] == "SGD"

    def test_facts_of_the_training(self, training: Training) -> None:
        """Loss, optimiser and the number of weights: 3 x 2 + 2 + 2 x 1 + 1."""
        facts = training.loops("fit")[0].detail["training"]

        assert (facts["loss"], facts["optimizer"]["class"], facts["floatx"]) == ("mse", "SGD", "float32")
        assert (facts["weights"]["count"], facts["weights"]["dtype"]) == (11, "float32")

    def test_memory_of_the_process_at_the_call(self, training: Training) -> None:
        """As the process itself read it, less than a minute after the begin of the call; a loop within fit tells none."""
        memory = training.loops("fit")[0].detail["memory"]

        assert 0 < memory["anonymous_bytes"] < memory["rss_bytes"]
        assert 0 <= memory["after_ns"] < 60_000_000_000
        assert memory["source"] == "/proc/self/statm"
        assert all("memory" not in loop.detail for loop in training.loops("evaluate"))

    def test_facts_of_the_data(self, training: Training) -> None:
        """Shape and type of inputs and targets; the mean of the first rows."""
        rows, targets = training.loops("fit")[0].detail["data"]

        assert (rows["shape"], rows["dtype"]) == ([10, 3], "float32")
        assert rows["mean"] == pytest.approx(0.4833333, abs=1e-6)
        assert targets["shape"] == [10, 1]
