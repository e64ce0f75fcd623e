"""Gradients in PyTorch that nobody uses: of weights that no optimiser has, or that are set to nothing before a step.

A few backward passes are looked at, in the middle of a training. What becomes of the gradients is seen in the tensors:
others in their place, or none, before their optimiser has stepped, and they were set to nothing. No hook of `zero_grad`
tells it: functions that are compiled call that, too, and ours would be in their graphs.

What of a pass was for nothing is told by its graph: the nodes that lead only to such weights need not have been gone
through at all (`requires_grad_(False)`, `detach`). A node on the way to other weights must be, whatever lies at its
side; those that lead to one weight alone are a part of its layer's.
"""

import weakref

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_SETTLED = 3
"""Updates of a training before anything is looked at."""
_LOOKS = 12
"""Backward passes of a training that are looked at."""
_TRAININGS = 8
_MOST_OPTIMIZERS = 16
_MOST_NODES = 20000
_LONGEST_NS = 100 * 1000 * 1000
"""Looks that have taken so long together are enough."""
_AWAITED = 64
"""Updates after the last look at which it may still turn out what became of what was seen."""
_LEAST_PART = 0.1
"""Share of a pass's nodes below which it is not worth a word."""
_LAYERS_TOLD = 64
_NOBODY, _INPUT = 1, 2
"""Bits of weights that no optimiser has, and of leaves that are no weights; those of optimisers come behind. A weight
that several have has the bits of all.
"""
_FIRST_BIT = 4
_SEVERAL = 0


class _Gradient(object):
    """The gradient of a weight, after a backward pass."""

    __slots__ = ("_gradient", "_version", "_weight")

    def __init__(self, weight):
        self._weight = weakref.ref(weight)
        self._gradient = weakref.ref(weight.grad)
        self._version = weight.grad._version

    def is_there(self):
        """Whether the weight still has it, whatever was added to it."""
        weight = self._weight()
        return weight is not None and weight.grad is not None and weight.grad is self._gradient()

    def was_added_to(self):
        """Whether it is there, and no more was done to it than that one pass has added its own: it was not zeroed."""
        if not self.is_there():
            return False
        before, self._version = self._version, self._gradient()._version
        return self._version <= before + 1


class _Pass(object):
    """A backward pass that was looked at.

    Attributes:
        nodes: Bits to the number of nodes that lead to weights of all these and no others.
        weights: Bits to references of the weights that have these.
        used: Bits of what was used.
        open: Bits of optimisers that have neither stepped nor lost their gradients since.
        gradients: Bits to the gradient of a weight that has these, where an optimiser has it.
        thrown: Bits of those whose gradients are gone.
        took: How long it took (ns).
    """

    __slots__ = ("gradients", "nodes", "open", "place", "thrown", "took", "used", "weights")

    def __init__(self, nodes, weights, took, place):
        self.nodes = nodes
        self.weights = weights
        self.took = took
        self.place = place
        self.used = _INPUT
        self.thrown = 0
        self.open = 0
        self.gradients = {}
        for bits, held in weights.items():
            first = next((one for one in (ref() for ref in held) if getattr(one, "grad", None) is not None), None)
            if bits >= _FIRST_BIT and first is not None:
                self.open |= bits
                self.gradients[bits] = _Gradient(first)

    def stepped(self, bit):
        """An optimiser has stepped: with these gradients, if they are still there."""
        self.lost(_Gradient.is_there)
        self.used |= self.open & bit
        self.open &= ~bit

    def lost(self, is_there):
        """Take out optimisers all of whose gradients are gone: they were set to nothing."""
        there = 0
        for bits, gradient in self.gradients.items():
            if bits & self.open and is_there(gradient):
                there |= bits
        self.thrown |= self.open & ~there
        self.open &= there

    def part_for(self, bits):
        """Share of the nodes that lead to weights of these bits alone."""
        count = sum(count for theirs, count in self.nodes.items() if not theirs & ~bits)
        return count / max(1, sum(self.nodes.values()))

    def weights_of(self, bits):
        """The weights that live and have these bits alone, by their `id`."""
        living = [held() for theirs, each in self.weights.items() if not theirs & ~bits for held in each]
        return {id(weight): weight for weight in living if weight is not None}


class UnusedGradients(object):
    """Looks at backward passes, and at what becomes of the gradients.

    Args:
        engine: The `Engine`.

    Attributes:
        is_on: Whether backward passes are looked at now.
        watches: Whether updates are of interest.
    """

    def __init__(self, engine):
        self.is_on = self.watches = False
        self._probe = engine.probe
        self._optimizers = []
        self._bits = {}
        self._trainings = 0
        self._models = ()
        self._again()

    def _again(self):
        self.is_on = self.watches = False
        self._updates = 0
        self._passes = []
        self._versions = {}
        self._began = self._ended = self._looking = 0
        self._awaited = _AWAITED
        self._told = None

    # -- what happens ------------------------------------------------------------------------------------

    def training(self, models):
        """A training has begun, of these models: pairs as `torch_models.at_hand` gives them."""
        self._again()
        self._trainings += 1
        self._models = models
        self.watches = self._trainings <= _TRAININGS

    def made(self, optimizer):
        """An optimiser was made."""
        self._bit_of(optimizer)

    def updated(self, optimizer):
        """It has changed its weights."""
        if id(optimizer) not in self._bits:
            self._passes = []  # its weights were taken for nobody's
        bit = self._bit_of(optimizer)
        self._updates += 1
        self.is_on = self._updates >= _SETTLED and not self._ended
        for one in self._passes:
            one.stepped(bit)
        self._awaited -= bool(self._ended)
        self.watches = not self._ended or (self._awaited > 0 and any(one.open for one in self._passes))
        if not self.watches:  # the models may be gone when the training is over
            begin = now()
            self._told = self._seen()
            self._probe.recorder.complete(wire.SpanKind.DLPROF, "look at gradients", begin, now())

    def passed(self, targets, begin, end, place):
        """A backward pass from these tensors is over."""
        if len(self._passes) >= _LOOKS or self._looking > _LONGEST_NS:
            self._ended, self.is_on = begin, False
            return
        self._began = self._began or begin
        looked = now()
        for one in self._passes:
            one.lost(_Gradient.was_added_to)
        owners = self._owners()
        nodes, weights = _led_to([getattr(one, "grad_fn", None) for one in targets], owners)
        for held in weights.get(_NOBODY, ()):
            weight = held()
            self._versions.setdefault(id(weight), (held, weight._version))
        self._passes.append(_Pass(nodes, weights, end - begin, place))
        over = now()
        self._looking += over - looked
        self._probe.recorder.complete(wire.SpanKind.DLPROF, "look at gradients", looked, over)

    # -- what it says ------------------------------------------------------------------------------------

    def facts(self):
        """What was for nothing in the training that is over; None: nothing, or nothing was looked at.

        `passes` that were looked at, `partly` those of them that were partly for nothing, and the `part` of their
        nodes, `share`: that part of their time, of all the time in which they were looked at; `layers`, the
        outermost, that they went through for nothing, and `of_layers`, how many of the passes through these;
        `weights` of theirs, and whether they are `owned` by an optimiser; `place`: file and line.
        """
        told = self._told if self._told is not None and not self._were_changed() else self._seen()
        self._again()
        return told or None

    def _seen(self):
        """The facts of what was seen so far; empty: there are none."""
        passes, lasted = self._passes, self._ended - self._began - self._looking
        nobody = 0 if self._were_changed() else _NOBODY
        known = [one for one in passes if not one.open]
        # What no optimiser uses any part of was taken for its own sake.
        wasted = [(one, one.part_for(one.thrown | nobody)) for one in known if one.used != _INPUT]
        wasted = [(one, part) for one, part in wasted if part >= _LEAST_PART]
        if not wasted or lasted <= 0:
            return {}
        weights, through = {}, 0
        for one, _ in wasted:
            weights.update(one.weights_of(one.thrown | nobody))
        for one in known:
            through += any(id(held()) in weights for of_bits in one.weights.values() for held in of_bits)
        return {
            "passes": len(known),
            "partly": len(wasted),
            "part": sum(part for _, part in wasted) / len(wasted),
            "share": min(1.0, sum(one.took * part for one, part in wasted) / lasted),
            "layers": self._layers_of(weights),
            "of_layers": len(wasted) / max(1, through),
            "weights": len(weights),
            "owned": any(one.thrown for one, _ in wasted),
            "place": list(wasted[-1][0].place),
        }

    def _were_changed(self):
        """Whether the script changes weights that no optimiser has."""
        now_there = [(held(), version) for held, version in self._versions.values()]
        return any(weight is not None and weight._version != version for weight, version in now_there)

    def _layers_of(self, weights):
        """The outermost parts of the models that have weights, and none but these."""
        found = []
        for prefix, held in self._models:
            model = held()
            for inner, part in model.named_modules() if model is not None else ():
                name = (prefix + inner).strip(".")
                own = [id(weight) for weight in part.parameters()]
                if name and own and all(key in weights for key in own):
                    if not any(name.startswith(outer + ".") for outer in found):
                        found.append(name)
        return found[:_LAYERS_TOLD]

    # -- optimisers --------------------------------------------------------------------------------------

    def _bit_of(self, optimizer):
        known = self._bits.get(id(optimizer))
        if known is not None:
            return known
        living = [held for held in self._optimizers if held() is not None]
        if len(living) >= _MOST_OPTIMIZERS:
            return 0
        taken = {self._bits[id(held())] for held in living}
        bit = next(bit for bit in (_FIRST_BIT << place for place in range(_MOST_OPTIMIZERS)) if bit not in taken)
        key, bits = id(optimizer), self._bits
        self._optimizers = living + [weakref.ref(optimizer, lambda _gone: bits.pop(key, None))]
        bits[key] = bit
        return bit

    def _owners(self):
        """The bit of its optimiser, by the `id` of a weight."""
        owners = {}
        for held in self._optimizers:
            optimizer = held()
            bit = self._bits.get(id(optimizer)) if optimizer is not None else None
            for group in optimizer.param_groups if bit else ():
                for weight in group["params"]:
                    owners[id(weight)] = owners.get(id(weight), 0) | bit
        return owners


def _led_to(roots, owners):
    """How many nodes of a graph lead to what, but for leaves and what is of one alone; and the weights by their bits.

    Args:
        roots: Nodes, or None.
        owners: Bit of its optimiser, by the `id` of a weight.
    """
    led, weights, waiting = {}, {}, [(root, False) for root in roots if root is not None]
    while waiting and len(led) < _MOST_NODES:
        node, is_back = waiting.pop()
        if node in led and not is_back:
            continue
        following = [one for one, _ in node.next_functions if one is not None]
        if is_back or not following:
            led[node] = _of_node(node, [led.get(one, (0, None)) for one in following], owners, weights)
        else:
            led[node] = (0, None)  # until it is known; graphs have no circles
            waiting.append((node, True))
            waiting.extend((one, False) for one in following)
    nodes = {}
    for bits, leaf in led.values():
        if bits and leaf == _SEVERAL:
            nodes[bits] = nodes.get(bits, 0) + 1
    return nodes, weights


def _of_node(node, following, owners, weights):
    """The bits that a node leads to, and the `id` of its leaf: `_SEVERAL`, or None."""
    leaf = getattr(node, "variable", None)
    if leaf is not None:
        bits = owners.get(id(leaf)) or (_NOBODY if _is_weight(leaf) else _INPUT)
        weights.setdefault(bits, []).append(weakref.ref(leaf))
        return bits, id(leaf)
    bits, leaves = 0, set()
    for their_bits, their_leaf in following:
        bits |= their_bits
        leaves.add(their_leaf)
    leaves.discard(None)
    if not leaves:
        return bits, None
    return bits, leaves.pop() if len(leaves) == 1 else _SEVERAL


def _is_weight(leaf):
    return type(leaf).__name__ != "Tensor"  # `torch.nn.Parameter`, or a class of it
