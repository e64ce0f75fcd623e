"""Events of a training loop become trainings, epochs, steps and evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from dlprof_probes.inproc.inferred.core import OwnLoops

BATCH, EPOCH, FOLD = 1, 2, 3
"""Numbers of loops of the program, from the inside out."""


@dataclass
class Written:
    """A log that keeps what it is told, as text; behind some lines a tracer is switched, which takes so long."""

    lines: list[str] = field(default_factory=list)
    switching: dict[int, int] = field(default_factory=dict)
    _opened: int = 0

    def open(self, kind: str, begin: int, _place: Any, _facts: Any, _cause: Any) -> str:
        self._opened += 1
        name = f"{kind}{self._opened}"
        self.lines.append(f"{name} {begin}-")
        return name

    def epoch(self, name: str, number: int, begin: int) -> None:
        self.lines.append(f"{name} epoch {number} {begin}-")

    def end_epoch(self, name: str, end: int) -> None:
        self.lines.append(f"{name} epoch -{end}")

    def step(self, name: str, begin: int, end: int, waited: int | None, count: int, batches: int) -> int:
        told = "" if waited is None else f" waited {waited}"
        many = "" if count == 1 else f" x{count}"
        small = "" if batches <= 1 else f" of {batches} batches"
        self.lines.append(f"{name} step{many} {begin}-{end}{told}{small}")
        return end + self.switching.pop(len(self.lines), 0)

    def opened_once(self, name: str, count: int, place: tuple[str, int]) -> None:
        self.lines.append(f"{name} opened {count} at {place[0]}:{place[1]}")

    def close(self, name: str, end: int) -> None:
        self.lines.append(f"{name} -{end}")

    def only(self, what: str) -> list[str]:
        """The lines in which a word stands."""
        return [line for line in self.lines if f" {what}" in line]


@dataclass
class Place:
    """A place in the program: the loops around it, and their turns."""

    path: tuple[int, ...]
    outer: tuple[Any, ...] = ()
    number: int | None = None
    at: int = 1
    called_from: tuple[int, ...] | None = None

    where: tuple[str, int] = ("train.py", 1)
    line: tuple[str, int] = ("train.py", 1)

    def turns(self, _frame: None) -> tuple[Any, ...]:
        return self.outer

    def turn(self, _frame: None) -> tuple[Any, ...] | None:
        return None if self.number is None else (self.number, *self.outer)

    def count(self, _frame: None) -> int | None:
        return self.number

    def __eq__(self, other: object) -> bool:
        """One site is the same object each time; here it is made anew, and `at` tells it from others of its loops."""
        return isinstance(other, Place) and (other.path, other.at) == (self.path, self.at)

    __hash__ = None  # type: ignore[assignment]

    def frames(self, _frame: None) -> list[Any]:
        return []


@dataclass
class Program:
    """A program whose time passes with what it does."""

    log: Written = field(default_factory=Written)
    time: int = 100

    def __post_init__(self) -> None:
        self.loops = OwnLoops(self.log, idle_since=self.time)

    def update(
        self,
        optimizer: int = 1,
        path: Sequence[int] = (BATCH, EPOCH),
        turns: Sequence[Any] = (None,),
        count: int | None = None,
        at: int = 1,
        called_from: tuple[int, ...] | None = None,
    ) -> None:
        """The optimiser works for 5."""
        self.time += 5
        self.loops.update(optimizer, self.time, Place(tuple(path), tuple(turns), count, at, called_from))

    def open(self, key: int, path: Sequence[int] = (EPOCH,)) -> None:
        self.loops.input_opened(key, self.time, Place(tuple(path)))

    def next(self, key: int, *, evaluates: bool = False) -> None:
        """An item takes 2, and what is done with it 10."""
        self.loops.input_begin(key, self.time, evaluates)
        self.time += 2
        self.loops.input_end(key, self.time)
        self.time += 10

    def over(self, key: int, *, evaluates: bool = False) -> None:
        self.loops.input_begin(key, self.time, evaluates)
        self.loops.input_over(key, self.time, evaluates)

    def train(self, key: int, batches: int, optimizer: int = 1, path: Sequence[int] = (BATCH, EPOCH)) -> None:
        """An epoch with a loader."""
        self.open(key, path[1:])
        for _ in range(batches):
            self.next(key)
            self.update(optimizer, path)
        self.over(key)

    def evaluate(self, key: int, batches: int, path: Sequence[int] = (EPOCH,)) -> None:
        """A pass without gradients."""
        self.open(key, path)
        for _ in range(batches):
            self.next(key, evaluates=True)
        self.over(key, evaluates=True)

    def ask(self, path: Sequence[int] = (EPOCH,)) -> None:
        """The model is asked for 10, without gradients."""
        begin, self.time = self.time, self.time + 10
        self.loops.evaluated(begin, self.time, Place(tuple(path)))

    def finished(self) -> list[str]:
        """What was written when all is over."""
        self.loops.finish(self.time)
        return self.log.lines


@pytest.fixture
def program() -> Program:
    """A program that has done nothing yet, at 100."""
    return Program()


def test_a_step_lasts_from_its_batch_to_the_question_for_the_next(program: Program) -> None:
    """What it waited for the batch is told apart; an epoch is a pass of the loader."""
    program.train(key=1, batches=2)
    program.time += 50

    assert program.finished() == [
        "fit1 100-",
        "fit1 epoch 0 100-",
        "fit1 step 102-117 waited 2",
        "fit1 step 119-134 waited 2",
        "fit1 epoch -134",
        "fit1 -134",
    ]


def test_a_loader_that_is_opened_anew_is_an_epoch(program: Program) -> None:
    """By the loop around that of the steps."""
    for epoch in range(3):
        program.train(key=epoch, batches=4)
    program.finished()

    assert program.log.only("epoch") == [
        "fit1 epoch 0 100-",
        "fit1 epoch -168",
        "fit1 epoch 1 168-",
        "fit1 epoch -236",
        "fit1 epoch 2 236-",
        "fit1 epoch -304",
    ]
    assert len(program.log.only("step")) == 12


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_loader_that_is_opened_anew_in_each_step_is_no_epoch(program: Program, is_gone: bool) -> None:
    """`next(iter(loader))`: the iterator is gone at once, unless something else holds it."""
    for key in range(3):
        program.open(key, path=(BATCH,))
        program.next(key)
        if is_gone:
            program.loops.input_over(key, program.time)
        program.update(path=(BATCH,), turns=())
    program.finished()

    assert program.log.only("epoch") == ["fit1 epoch 0 100-", "fit1 epoch -151"]
    assert program.log.only("step") == [
        "fit1 step 102-117 waited 2",
        "fit1 step 119-134 waited 2",
        "fit1 step 136-151 waited 2",
    ]
    assert program.log.only("opened") == ["fit1 opened 3 at train.py:1"]


def test_a_loader_of_one_item_beside_the_one_that_leads_makes_no_step_later(program: Program) -> None:
    """The wait for it is part of the step, as its batch came first."""
    program.open(1)
    for key in (2, 3):
        program.next(1)
        program.open(key, path=(BATCH, EPOCH))
        program.next(key)
        program.loops.input_over(key, program.time)
        program.update()
    program.over(1)
    program.finished()

    assert program.log.only("step") == ["fit1 step 102-129 waited 2", "fit1 step 131-158 waited 2"]


def test_without_a_loader_a_step_lasts_from_update_to_update(program: Program) -> None:
    """Nobody says for how long it waited for its batch."""
    for _ in range(3):
        program.time += 20
        program.update(path=(BATCH,), turns=())

    assert program.finished() == [
        "fit1 100-",
        "fit1 epoch 0 100-",
        "fit1 step 100-125",
        "fit1 step 125-150",
        "fit1 step 150-175",
        "fit1 epoch -175",
        "fit1 -175",
    ]


def test_a_step_behind_which_a_tracer_was_switched_does_not_lengthen_the_next_one(program: Program) -> None:
    """Its begin lies in the window, so that it is one of the window's steps."""
    program.log.switching[3] = 7
    for _ in range(3):
        program.time += 20
        program.update(path=(BATCH,), turns=())

    assert program.finished()[2:5] == ["fit1 step 100-125", "fit1 step 132-150", "fit1 step 150-175"]


def test_without_a_loader_a_turn_of_the_outer_loop_is_an_epoch(program: Program) -> None:
    """Its variable has another value."""
    for epoch in range(2):
        for _ in range(3):
            program.update(turns=(epoch,))
    program.finished()

    assert program.log.only("epoch") == [
        "fit1 epoch 0 100-",
        "fit1 epoch -115",
        "fit1 epoch 1 115-",
        "fit1 epoch -130",
    ]


def test_an_outer_loop_that_sets_nothing_tells_no_epochs(program: Program) -> None:
    """Whatever the loop around that one does."""
    for fold in range(2):
        program.update(path=(BATCH, EPOCH, FOLD), turns=(None, fold))
    program.finished()

    assert len(program.log.only("epoch")) == 2


@pytest.mark.parametrize(
    ("counts", "epochs"),
    [([0, 1, 2, 0, 1, 2], 2), ([0, 0, 1, 1], 1), ([5, 6, 5, 6], 2), ([4, 1, 3, 4, 1, 3], 1), ([0, 2, 1, 0, 2, 1], 1)],
)
def test_an_inner_loop_that_counts_from_its_first_number_again_is_an_epoch(
    program: Program, counts: list[int], epochs: int
) -> None:
    """`while` around `for i in range`; numbers in another order are rows that were drawn."""
    for count in counts:
        program.update(count=count)
    program.finished()

    assert len([line for line in program.log.only("epoch") if " epoch -" in line]) == epochs


def test_a_training_lasts_for_as_long_as_its_loops_do_something(program: Program) -> None:
    """What is waited for behind its last step; what is done outside of its loops is none of it."""
    program.update()
    program.loops.goes_on((EPOCH,), 150)
    program.loops.goes_on((FOLD,), 170)

    assert program.finished() == [
        "fit1 100-",
        "fit1 epoch 0 100-",
        "fit1 step 100-105",
        "fit1 epoch -150",
        "fit1 -150",
    ]


def test_several_optimisers_in_turn_are_one_step(program: Program) -> None:
    """A GAN: the step is over when the first of them steps again."""
    program.open(1)
    for _ in range(3):
        program.next(1)
        program.update(optimizer=1)
        program.time += 10
        program.update(optimizer=2)
    program.over(1)
    program.finished()

    assert program.log.only("step") == [
        "fit1 step 102-132 waited 2",
        "fit1 step 134-164 waited 2",
        "fit1 step 166-196 waited 2",
    ]


def test_several_optimisers_without_a_loader_are_one_step(program: Program) -> None:
    """From the second turn on a step is written as soon as the last of them has stepped."""
    for _ in range(2):
        program.update(optimizer=1, path=(BATCH,), turns=())
        program.update(optimizer=2, path=(BATCH,), turns=())
    program.update(optimizer=1, path=(BATCH,), turns=())

    assert program.log.only("step") == ["fit1 step 100-110", "fit1 step 110-120"]


@pytest.mark.parametrize(
    ("first", "second", "trainings"),
    [((1,), (2,), 2), ((1,), (1,), 1), (None, (2,), 1), ((1,), None, 1)],
    ids=["called at another place", "in the same call", "the first is not known", "the second is not known"],
)
def test_a_new_optimiser_in_a_loop_that_was_called_anew_is_a_new_training(
    program: Program, first: Any, second: Any, trainings: int
) -> None:
    """No loop is around both calls, and what is done between them is no step."""
    for _ in range(2):
        program.update(optimizer=1, path=(BATCH,), turns=(), called_from=first)
    program.time += 1000
    program.loops.idle_since = program.time
    for _ in range(2):
        program.update(optimizer=2, path=(BATCH,), turns=(), called_from=second)
    program.finished()

    begun = [
        line for line in program.log.lines if line.startswith("fit") and len(line.split()) == 2 and line.endswith("-")
    ]
    assert begun == ["fit1 100-", "fit2 1110-"][:trainings]
    assert ("fit2 step 1110-1115" in program.log.lines) == (trainings == 2)


def test_an_optimiser_that_steps_again_in_the_same_turn_begins_no_step(program: Program) -> None:
    """An encoder that is trained to reconstruct, with its decoder, and to deceive: one step for each turn."""
    for turn in range(3):
        program.update(optimizer=1, path=(BATCH,), turns=(), count=turn, at=10)
        program.update(optimizer=2, path=(BATCH,), turns=(), count=turn, at=11)
        program.update(optimizer=1, path=(BATCH,), turns=(), count=turn, at=20)
    program.finished()

    assert program.log.only("step") == ["fit1 step 100-115", "fit1 step 115-130", "fit1 step 130-145"]


def test_an_optimiser_that_steps_twice_with_a_batch_makes_one_step_of_it(program: Program) -> None:
    """A critic that learns from what is real, then from what is not: in the turn of the loop over a loader."""
    program.open(1)
    for turn in range(2):
        program.next(1)
        program.update(count=turn, at=10)
        program.update(count=turn, at=11)
    program.over(1)
    program.finished()

    assert program.log.only("step") == ["fit1 step 102-122 waited 2", "fit1 step 124-144 waited 2"]


@pytest.mark.parametrize(("count", "at"), [(None, 11), (0, 10)])
def test_an_update_that_nothing_puts_into_the_same_turn_is_a_step(program: Program, count: int | None, at: int) -> None:
    """A loop that sets no number; or the same line again, as of a loop that begins anew with its first number."""
    program.update(path=(BATCH,), turns=(), count=count, at=10)
    program.update(path=(BATCH,), turns=(), count=count, at=at)
    program.finished()

    assert program.log.only("step") == ["fit1 step 100-105", "fit1 step 105-110"]


def test_loops_beside_each_other_have_their_own_steps(program: Program) -> None:
    """A policy is trained for some steps, then its critic, in one turn of the loop around both."""
    for turn in range(2):
        for _ in range(3):
            program.update(optimizer=1, path=(BATCH, EPOCH), turns=(turn,))
        for _ in range(2):
            program.update(optimizer=2, path=(FOLD, EPOCH), turns=(turn,))
    program.finished()

    assert len(program.log.only("step")) == 10
    assert len(program.log.only("-1")) > 0
    assert [line for line in program.log.lines if line.startswith("fit2")] == []


def test_batches_that_are_gathered_are_one_step(program: Program) -> None:
    """Gradients of two batches, then an update; waits for all of them are told as one."""
    program.open(1)
    for _ in range(2):
        program.next(1)
        program.next(1)
        program.update()
    program.over(1)
    program.finished()

    assert program.log.only("step") == [
        "fit1 step 104-129 waited 4 of 2 batches",
        "fit1 step 133-158 waited 4 of 2 batches",
    ]


def test_an_evaluation_is_items_without_updates(program: Program) -> None:
    """While no gradients are kept; inside of the training if the loop of epochs is around both."""
    for key in (0, 2):
        program.train(key, batches=2)
        program.evaluate(key + 1, batches=2)
    program.time += 100

    assert program.finished() == [
        "fit1 100-",
        "fit1 epoch 0 100-",
        "fit1 step 102-117 waited 2",
        "fit1 step 119-134 waited 2",
        "evaluate2 134-",
        "evaluate2 step 136-146 waited 2",
        "evaluate2 step 148-158 waited 2",
        "evaluate2 -158",
        "fit1 epoch -158",
        "fit1 epoch 1 158-",
        "fit1 step 160-175 waited 2",
        "fit1 step 177-192 waited 2",
        "evaluate3 192-",
        "evaluate3 step 194-204 waited 2",
        "evaluate3 step 206-216 waited 2",
        "evaluate3 -216",
        "fit1 epoch -216",
        "fit1 -216",
    ]


def test_an_evaluation_behind_the_loop_of_epochs_is_no_part_of_the_training(program: Program) -> None:
    """Which ends with its last step."""
    program.train(1, batches=1)
    program.evaluate(2, batches=1, path=())

    assert program.finished() == [
        "fit1 100-",
        "fit1 epoch 0 100-",
        "fit1 step 102-117 waited 2",
        "fit1 epoch -117",
        "fit1 -117",
        "evaluate2 117-",
        "evaluate2 step 119-129 waited 2",
        "evaluate2 -129",
    ]


def test_an_evaluation_that_only_eval_tells_is_known_at_its_end(program: Program) -> None:
    """Its steps are one row then, as a batch more may turn out to be trained on."""
    program.open(1)
    program.next(1)
    program.next(1)
    program.over(1, evaluates=True)

    assert program.finished() == ["evaluate1 100-", "evaluate1 step x2 102-124 waited 4", "evaluate1 -124"]


def test_a_loader_that_nothing_is_trained_nor_evaluated_with_is_none(program: Program) -> None:
    """Such as a pass for the mean of the data."""
    program.open(1)
    program.next(1)
    program.next(1)
    program.over(1)

    assert program.finished() == []


def test_a_new_optimiser_in_the_same_loop_is_a_new_training(program: Program) -> None:
    """K-fold: each fold makes its model and optimiser."""
    for fold in range(3):
        for epoch in range(2):
            program.train(10 * fold + epoch, batches=2, optimizer=fold, path=(BATCH, EPOCH, FOLD))
    lines = program.finished()

    assert [line for line in lines if line.endswith("-") and "epoch" not in line] == [
        "fit1 100-",
        "fit2 168-",
        "fit3 236-",
    ]
    assert len(program.log.only("step")) == 12
    assert len([line for line in lines if " epoch -" in line]) == 6


def test_a_new_optimiser_without_a_loader_is_a_new_training_in_another_turn(program: Program) -> None:
    """In the same turn it is one of several."""
    for fold in range(2):
        for optimizer in (2 * fold, 2 * fold + 1):
            program.update(optimizer, path=(BATCH, FOLD), turns=(fold,))
        program.update(2 * fold, path=(BATCH, FOLD), turns=(fold,))
    program.finished()

    assert [line for line in program.log.lines if line.endswith("-") and "epoch" not in line] == [
        "fit1 100-",
        "fit2 115-",
    ]


def test_another_loop_is_another_training(program: Program) -> None:
    """Also with the same optimiser."""
    program.update(path=(BATCH,), turns=())
    program.update(path=(FOLD,), turns=())

    assert [line for line in program.finished() if line.startswith("fit2")] == [
        "fit2 105-",
        "fit2 epoch 0 105-",
        "fit2 step 105-110",
        "fit2 epoch -110",
        "fit2 -110",
    ]


def test_where_the_inner_loop_counts_anew_a_new_optimiser_is_another_training(program: Program) -> None:
    """`while` around it takes jobs, and tells no turns."""
    for count in range(3):
        program.update(1, (BATCH, EPOCH), (None,), count)
    for count in range(3):
        program.update(2, (BATCH, EPOCH), (None,), count)

    assert [line for line in program.finished() if line.startswith("fit") and line.count(" ") == 1] == [
        "fit1 100-",
        "fit1 -115",
        "fit2 115-",
        "fit2 -130",
    ]


def test_updates_without_a_loop_are_counted(program: Program) -> None:
    """They are no steps."""
    program.update(path=())
    program.update(path=())

    assert (program.loops.orphans, program.finished()) == (2, [])


def test_keras_ends_a_training_of_the_script_s_own(program: Program) -> None:
    """With its last step."""
    program.update(path=(BATCH,), turns=())
    program.time += 100
    program.loops.interrupted()
    program.update(path=(BATCH,), turns=())

    assert [line for line in program.finished() if "step" not in line and "epoch" not in line] == [
        "fit1 100-",
        "fit1 -105",
        "fit2 105-",
        "fit2 -210",
    ]


@pytest.mark.parametrize("optimizers", [(1,), (1, 2)])
def test_the_last_batches_of_what_is_fetched_ahead_are_steps(program: Program, optimizers: tuple[int, ...]) -> None:
    """The loader has ended before them; told at once, since the process may be ended without a word, as Ray's are."""
    program.open(1)
    program.next(1)
    for number in range(4):
        if number < 3:
            program.next(1)
        else:
            program.over(1)
        for one in optimizers:
            program.update(one)

    assert len(program.log.only("step")) == 4


def test_a_loader_that_is_left_ends_the_step(program: Program) -> None:
    """By `break`: its iterator is gone at once."""
    program.open(1)
    program.next(1)
    program.update()
    program.time += 7
    program.loops.input_over(1, program.time)
    program.time += 100

    assert program.finished()[2:] == ["fit1 step 102-124 waited 2", "fit1 epoch -124", "fit1 -124"]


def test_an_evaluation_that_is_left_before_its_end_is_over_where_training_goes_on() -> None:
    """Its loader is asked for as many items as it has, and never for its end: all of them count."""
    program = Program()
    program.open(1, path=())
    for _ in range(2):
        program.next(1, evaluates=True)
    program.train(2, 2)
    program.over(2)
    program.loops.finish(program.time)

    assert program.log.lines == [
        "evaluate1 100-",
        "evaluate1 step 102-112 waited 2",
        "evaluate1 step 114-124 waited 2",
        "evaluate1 -124",
        "fit2 124-",
        "fit2 epoch 0 124-",
        "fit2 step 126-141 waited 2",
        "fit2 step 143-158 waited 2",
        "fit2 epoch -158",
        "fit2 -158",
    ]


def test_a_loader_that_is_asked_again_after_training_has_another_evaluation() -> None:
    """As where some batches of an endless one are evaluated now and then."""
    program = Program()
    program.open(1, path=())
    for _ in range(2):
        for _ in range(3):
            program.next(1, evaluates=True)
        program.train(2, 1)
    program.loops.finish(program.time)

    assert program.log.only("step")[:1] + [line for line in program.log.lines if line.startswith("evaluate")][-2:] == [
        "evaluate1 step 102-112 waited 2",
        "evaluate3 step 179-189 waited 2",
        "evaluate3 -189",
    ]


def test_a_loader_that_is_opened_where_its_first_group_is_fetched_has_its_epochs_around_both() -> None:
    """By a generator: the loop over groups is between, and an evaluation in that of epochs is inside the training."""
    program = Program()
    for _ in range(2):
        program.open(1, path=(9, FOLD, EPOCH))
        program.next(1)
        program.update(path=(BATCH, FOLD, EPOCH))
        program.over(1)
        program.evaluate(2, 2, path=(8, EPOCH))

    assert [line.split()[0] for line in program.finished() if line.endswith("-")] == [
        "fit1", "fit1", "evaluate2", "fit1", "evaluate3",
    ]  # fmt: skip


def test_the_loop_that_iterates_the_loader_anew_is_the_trainings_own() -> None:
    """Its batches are fetched in groups, in a loop between: an evaluation in the loop of epochs is inside the training."""
    program = Program()
    for _ in range(2):
        program.open(1, path=(EPOCH,))
        for _ in range(2):
            program.next(1)
            program.update(path=(BATCH, FOLD, EPOCH))
        program.over(1)
        program.open(2, path=(EPOCH,))
        for _ in range(2):
            program.next(2, evaluates=True)
        program.over(2, evaluates=True)
    program.loops.finish(program.time)

    assert [line.split()[0] for line in program.log.lines if line.endswith("-")] == [
        "fit1", "fit1", "evaluate2", "fit1", "evaluate3",
    ]  # fmt: skip


def test_an_evaluation_without_a_loader_is_no_part_of_the_steps_around_it(program: Program) -> None:
    """What follows it at once is its next step; the next update ends it."""
    for _ in range(3):
        program.update(path=(EPOCH,))
    program.ask()
    program.ask()
    program.update(path=(EPOCH,))

    assert program.finished() == [
        "fit1 100-",
        "fit1 epoch 0 100-",
        "fit1 step 100-105",
        "fit1 step 105-110",
        "fit1 step 110-115",
        "evaluate2 115-",
        "evaluate2 step 115-125",
        "evaluate2 step 125-135",
        "evaluate2 -135",
        "fit1 step 135-140",
        "fit1 epoch -140",
        "fit1 -140",
    ]


def test_an_evaluation_behind_each_step_without_a_loader_is_told_from_the_first_on(program: Program) -> None:
    """A graph that is trained as a whole."""
    for _ in range(2):
        program.update(path=(EPOCH,))
        program.ask()

    assert program.finished()[2:-2] == [
        "fit1 step 100-105",
        "evaluate2 105-",
        "evaluate2 step 105-115",
        "evaluate2 -115",
        "fit1 step 115-120",
        "evaluate3 120-",
        "evaluate3 step 120-130",
        "evaluate3 -130",
    ]


def test_an_evaluation_between_batches_of_a_loader_ends_the_step_before_it(program: Program) -> None:
    """It does not wait for the next batch to be asked for."""
    program.open(1)
    program.next(1)
    program.update()
    program.ask((BATCH, EPOCH))
    program.next(1)
    program.update()
    program.over(1)

    assert program.finished()[2:-2] == [
        "fit1 step 102-117 waited 2",
        "evaluate2 117-",
        "evaluate2 step 117-127",
        "evaluate2 -127",
        "fit1 step 129-144 waited 2",
    ]


def test_what_may_be_an_evaluation_is_no_part_of_a_step(program: Program) -> None:
    """It is known to be one later, when the next batch was asked for."""
    program.open(1)
    program.next(1)
    program.update()
    program.loops.paused_at = program.time
    program.time += 30
    program.over(1)

    assert program.log.only("step") == ["fit1 step 102-117 waited 2"]


def test_what_a_loader_gave_only_to_be_asked_about_is_an_evaluation_at_its_end(program: Program) -> None:
    """Where its engine does not tell that gradients are off."""
    program.train(key=1, batches=2)
    program.open(2)
    for _ in range(2):
        program.next(2)
        program.ask((BATCH, EPOCH))
    program.over(2)

    assert program.log.only("step")[2:] == ["evaluate2 step x2 136-178 waited 4"]


def test_in_the_innermost_loop_of_a_training_an_answer_is_a_part_of_a_step(program: Program) -> None:
    """What acts there, or tells of its progress; around it, it is an evaluation behind what was known before."""
    for _ in range(3):
        program.update()
    program.time += 10
    program.loops.asked(program.time, Place((BATCH, EPOCH)))
    program.loops.asked(program.time, Place((4, BATCH, EPOCH)))
    program.loops.asked(program.time, Place((4, EPOCH)))

    assert program.finished()[-5:-2] == ["evaluate2 115-", "evaluate2 step 115-125", "evaluate2 -125"]


def test_a_value_that_is_waited_for_behind_an_evaluation_is_a_part_of_it(program: Program) -> None:
    """The engine had not done what was asked."""
    for _ in range(3):
        program.update()
    program.time += 10
    program.loops.asked(program.time, Place((4, EPOCH)))
    program.loops.waited((EPOCH,), 140)

    assert "evaluate2 step 115-140" in program.finished()
