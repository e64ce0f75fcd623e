"""Gradients in Gluon that nobody uses: of blocks whose weights no `Trainer` has, or has at a rate of nothing.

After some updates it is looked for parameters of hybridized blocks to which a backward pass has written: MXNet marks
their arrays, and a `Trainer` takes the mark off those that it updates. What of a pass was for nothing is told by the
kernels of these blocks on the way back, not here.
"""

import weakref

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now

_SETTLED = 3
"""Updates of a training before anything is looked at."""
_LOOKS = 12
"""Updates of a training behind which it is looked."""
_LAYERS_TOLD = 256
_MOST_TRAINERS = 16


class UnusedGradients(object):
    """Looks at the parameters of blocks behind updates.

    Args:
        engine: The `Engine`.
        blocks: Function that gives the outer blocks that are hybridized, and live.
    """

    def __init__(self, engine, blocks):
        self._probe = engine.probe
        self._calls = [0]
        self._blocks = blocks
        self._trainers = []
        self._asked = set()
        self._wanted = frozenset()
        self._is_within = False
        self.training()

    def training(self):
        """A training has begun."""
        self._updates = self._looks = self._partly = 0
        self._unused = {}
        self._asked.clear()
        self._wanted = frozenset()

    def watch(self, gluon):
        """Listen from now on."""
        probe, after = self._probe, self._probe.wrappers.after
        self._calls = probe.calls
        made = probe.guard(lambda _result, args: self._made(args[0]))
        probe.replace(gluon.Trainer, "__init__", lambda f: after(f, made), again=True)
        for name in ("step", "update"):
            probe.around(gluon.Trainer, name, self._steps, self._stepped, again=True)
        for name in ("grad", "list_grad"):
            probe.replace(gluon.Parameter, name, lambda f: after(f, self._was_asked), again=True)

    def facts(self):
        """What was for nothing in the training that is over; None: nothing, or nothing was looked at.

        As `torch_unused` tells it; its `share` is not known here.
        """
        # What the script itself takes, it uses.
        layers = sorted(name for name, keys in self._unused.items() if not keys & self._asked)
        weights = sum(len(self._unused[name]) for name in layers)
        looks, partly = self._looks, self._partly
        self.training()
        if not layers or not partly:
            return None
        return {
            "passes": looks,
            "partly": partly,
            "share": None,
            "layers": layers[:_LAYERS_TOLD],
            "of_layers": partly / float(looks),
            "weights": weights,
            "owned": False,
        }

    # -- what happens ------------------------------------------------------------------------------------

    def _made(self, trainer):
        self._trainers = [held for held in self._trainers if held() is not None][-_MOST_TRAINERS:]
        self._trainers.append(weakref.ref(trainer))

    def _was_asked(self, _result, args):
        """Hot: a `Trainer` asks for the gradient of each parameter in each step. It cannot fail."""
        self._calls[0] += 1
        if not self._is_within and id(args[0]) in self._wanted:
            self._asked.add(id(args[0]))

    def _steps(self, _args):
        self._is_within = True

    def _stepped(self, _token, _args):
        self._is_within = False
        self._updates += 1
        if self._updates <= _SETTLED or self._looks >= _LOOKS:
            return
        begin = now()
        self._looks += 1
        unused = self._without_owner()
        self._partly += bool(unused)
        self._unused.update(unused)
        self._wanted = frozenset(key for keys in self._unused.values() for key in keys)
        self._probe.recorder.complete(wire.SpanKind.DLPROF, "look at gradients", begin, now())

    def _without_owner(self):
        """Blocks all of whose own parameters have gradients that no `Trainer` takes: their names, to keys of these."""
        owned, still = set(), set()
        for trainer in (held() for held in self._trainers):
            for parameter in getattr(trainer, "_params", None) or ():
                (owned if getattr(parameter, "lr_mult", 1.0) else still).add(id(parameter))
        found = {}
        for block in self._blocks():
            for inner in _parts(block):
                own = [one for one in inner._reg_params.values() if one.grad_req != "null"]
                # A trainer takes the mark also off those that it has at a rate of nothing.
                if own and all(id(one) not in owned and (id(one) in still or _is_written(one)) for one in own):
                    found[inner.name] = set(map(id, own))
        return found


def _parts(block):
    """A block and all blocks in it."""
    return [block] + [part for child in block._children.values() for part in _parts(child)]


def _is_written(parameter):
    """Whether a backward pass has written its gradient."""
    return bool(parameter._data) and all(one._fresh_grad for one in parameter._data)
