"""Whose weights a product of a compiled program makes the gradient of, where XLA has lost the product's name.

On processors XLA writes products of gradients anew, and some then bear no name. The nearest name belongs to another
layer, often the normalisation whose output they take. But the gradient is used to update one variable, and a product
that does bear a name takes that variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dlprof.ingest.attribution.hlo_graph import MOVES, HloGraph, is_move, product
from dlprof.ingest.attribution.labels import Label
from dlprof.ingest.parse.hlo import Instruction
from dlprof.schema.vocabulary import Direction

_RINGS = 4
"""How many instructions lie between a gradient and the new value of its variable at most (momentum, then the sum)."""
_VARIABLES = frozenset(("get-tuple-element", "parameter"))
"""Opcodes of what a program is given."""


def layer_of(gradient: Instruction, graph: HloGraph, own: Callable[[Instruction], Label]) -> str | None:
    """The layer whose variable is updated with the result of a product; None: none is, or that of several layers.

    Args:
        gradient: The product.
        graph: Its program.
        own: What an instruction's own name tells.
    """
    for updates in _updates(gradient, graph, own):
        variables = (operand for update in updates for operand in graph.operands(update))
        layers = {layer for one in variables if one.opcode in _VARIABLES for layer in _takers(one, graph, own)}
        if layers:
            return layers.pop() if len(layers) == 1 else None
    return None


def moved_by(gradient: Instruction, graph: HloGraph, label: Callable[[str], Label]) -> str | None:
    """The layer that names what turns a product into the shape of its variable; None: there is none, or several.

    Such moves keep their names where the product has lost its own, though as parts of the optimiser's fusions.

    Args:
        gradient: The product.
        graph: Its program.
        label: What a path of name scopes tells.
    """
    moves = (one for user in graph.users(gradient) for one in user.inside if one.opcode in MOVES)
    labels = (label(one.op_name) for one in moves)
    layers = {found.layer for found in labels if found.direction is Direction.BACKWARD and found.layer is not None}
    return layers.pop() if len(layers) == 1 else None


def _updates(
    gradient: Instruction, graph: HloGraph, own: Callable[[Instruction], Label]
) -> Iterator[list[Instruction]]:
    """What the optimiser makes of a gradient, the nearest first."""
    seen, ring = {gradient.name}, [gradient]
    for _ in range(_RINGS):
        users = _distinct(user for one in ring for user in graph.users(one) if user.name not in seen)
        ring = [user for user in users if is_move(user) or own(user).direction is Direction.UPDATE]
        seen.update(user.name for user in ring)
        yield ring


def _takers(variable: Instruction, graph: HloGraph, own: Callable[[Instruction], Label]) -> set[str]:
    """The layers whose products take a variable, as it is or moved."""
    layers: set[str] = set()
    ring = [variable]
    for _ in range(_RINGS):
        users = _distinct(user for one in ring for user in graph.users(one))
        layers.update(layer for user in users if product(user) and (layer := own(user).layer) is not None)
        ring = [user for user in users if not product(user) and is_move(user)]
    return layers


def _distinct(instructions: Iterable[Instruction]) -> list[Instruction]:
    return list({one.name: one for one in instructions}.values())
