"""Attribution of instructions of programs that XLA compiled."""

from __future__ import annotations

from pathlib import Path

from dlprof.ingest.kernels.events import EventRow
from dlprof.ingest.kernels.scopes import HloInstruction
from dlprof.ingest.kernels.trace import Lane, Trace
from dlprof.ingest.parse.hlo import Instruction
from dlprof.schema.vocabulary import EventKind
from tests.unit.ingest.attributing import labelled


def instruction(name: str, opcode: str, path: str, number: int, operands: tuple[int, ...]) -> Instruction:
    """One of a program."""
    return Instruction(name, opcode, path, "", (), operands, number)


def ran(*instructions: Instruction) -> Trace:
    """A trace in which each of them ran once."""
    program = {one.name: one for one in instructions}
    trace = Trace(Path("x.pb"), "xspace", "xla", "program", programs={"jit_f(1)": program})
    trace.lane(0, Lane(0, 0, "tf_XLAEigen"))
    trace.add_rows([
        EventRow(EventKind.OPERATOR, trace.names.number(name), 0, 1, 0,
                 scope=trace.scopes.number(HloInstruction(name, "jit_f", 1, "")))
        for name in program
    ])  # fmt: skip
    return trace


def test_what_one_function_of_jax_does_is_its_own() -> None:
    """A one-hot array is a comparison that was made a number; a product of it stays a product."""
    trace = ran(
        instruction("fusion.1", "fusion", "jit(update)/jvp(jit(_one_hot))/convert_element_type", 1, ()),
        instruction("dot.2", "dot", "jit(update)/jvp(jit(_one_hot))/dot_general", 2, ()),
    )

    assert [operator for _, _, operator in labelled(trace)] == ["one_hot", "dot_general"]


def test_instructions_that_xla_inserted_belong_to_their_neighbours() -> None:
    """A copy to what made its value, other work to who uses it, and what has no neighbour to XLA."""
    found = labelled(
        ran(
            instruction("dot.1", "dot", "jit(f)/jvp(dense_1)/dot_general", 1, ()),
            instruction("copy.2", "copy", "", 2, (1,)),
            instruction("fusion.3", "fusion", "", 3, ()),
            instruction("scatter.4", "scatter", "jit(f)/transpose(jvp(dense_2))/scatter", 4, (3,)),
            instruction("copy.5", "copy", "", 5, ()),
        )
    )

    assert found == [
        ("dot.1", ("dense_1", "forward"), "dot_general"),
        ("copy.2", ("dense_1", "forward"), "copy"),
        ("fusion.3", ("dense_2", "backward"), "fusion"),
        ("scatter.4", ("dense_2", "backward"), "scatter"),
        ("copy.5", ("(xla)", None), "copy"),
    ]
