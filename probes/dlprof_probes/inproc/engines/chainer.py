"""Chainer: it runs operators one by one and compiles nothing; its hooks around them, with times of our own."""

import os
import sys
import weakref
from os import getpid
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import own_files
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Engine
from dlprof_probes.inproc.kernels.tracer import Tracer


class ChainerTracer(Tracer):
    """Records each function's forward and backward pass, and each parameter's update, in the format of Chrome.

    On a GPU these are the times of launching, not of kernels.
    """

    def __init__(self):
        self.zero_ns = 0
        self._chainer = sys.modules["chainer"]
        self._path = None
        self._events = []
        self._layers = []
        self._of_function = {}
        self._backward = []
        self._hooks = []
        self._update = None

    def start(self, folder):
        """Begin to record."""
        self._path = os.path.join(folder, "trace.json")
        self._events = []
        for hook in (_function_hook(self._chainer, self), _link_hook(self._chainer, self)):
            hook.__enter__()
            self._hooks.append(hook)
        rule = self._chainer.UpdateRule
        self._update = rule.update
        rule.update = self._updating(rule.update)

    def _updating(self, original):
        tracer = self

        def update(rule, param):
            begin = now()
            try:
                return original(rule, param)
            finally:
                tracer.add(type(rule).__name__, "", "update", begin)

        return update

    def stop(self):
        """End, write, and name the file."""
        if self._update is not None:
            self._chainer.UpdateRule.update, self._update = self._update, None
        while self._hooks:
            self._hooks.pop().__exit__(None, None, None)
        self._of_function.clear()
        own_files.save(self._path, wire.json_payload({"traceEvents": self._events}))
        return [self._path]

    def add(self, name, layer, direction, begin):
        """Something is over that began at `begin`."""
        self._events.append(
            {
                "name": name,
                "cat": "chainer",
                "ph": "X",
                "ts": begin / 1e3,
                "dur": (now() - begin) / 1e3,
                "pid": getpid(),
                "tid": get_ident(),
                "args": {"name": layer, "op": direction},
            }
        )

    def layer_of(self, function):
        """The link in which a function ran forward."""
        return self._of_function.get(id(function), "")

    def forward_of(self, function):
        """Note the link in which `function` runs; what a backward pass calls belongs to that of its function."""
        if self._backward:
            self._of_function[id(function)] = self.layer_of(self._backward[-1])
        else:
            self._of_function[id(function)] = self._layers[-1] if self._layers else ""

    def direction(self):
        """The pass that runs now."""
        return "backward" if self._backward else "forward"

    def enter_backward(self, function):
        """A backward pass of `function` begins."""
        self._backward.append(function)

    def leave_backward(self):
        """That pass is over."""
        if self._backward:
            self._backward.pop()

    def enter(self, link):
        """A link is called."""
        self._layers.append(link.name or type(link).__name__)

    def leave(self):
        """That call is over."""
        if self._layers:
            self._layers.pop()


def _function_hook(chainer, tracer):
    class Functions(chainer.FunctionHook):
        """Times functions; a backward pass may call further functions."""

        name = "dlprof"

        def __init__(self):
            self._begun = []

        def forward_preprocess(self, function, in_data):
            """A forward pass begins."""
            tracer.forward_of(function)
            self._begun.append(now())

        def forward_postprocess(self, function, in_data):
            """It is over."""
            tracer.add(function.label, tracer.layer_of(function), tracer.direction(), self._begun.pop())

        def backward_preprocess(self, function, in_data, out_grad):
            """A backward pass begins."""
            tracer.enter_backward(function)
            self._begun.append(now())

        def backward_postprocess(self, function, in_data, out_grad):
            """It is over."""
            tracer.add(function.label, tracer.layer_of(function), "backward", self._begun.pop())
            tracer.leave_backward()

    return Functions()


def _link_hook(chainer, tracer):
    class Links(chainer.LinkHook):
        """Follows which link is called."""

        name = "dlprof"

        def forward_preprocess(self, args):
            """A call begins."""
            tracer.enter(args.link)

        def forward_postprocess(self, args):
            """It is over."""
            tracer.leave()

    return Links()


class Chainer(Engine):
    """Chainer."""

    name = module = "chainer"
    tracer_class = ChainerTracer

    def __init__(self, probe):
        super(Chainer, self).__init__(probe)
        self._iterators = set()

    def is_ready(self, modules):
        """Whether Chainer is loaded to its end."""
        return hasattr(modules["chainer"], "UpdateRule") and hasattr(modules["chainer"], "__version__")

    def array_types(self, module):
        return (module.Variable,)

    def attach(self, module):
        """Note the version, and listen to updates and iterators."""
        self.note_version(module)
        own = self.probe.own_loops
        method = getattr(module, "GradientMethod", None)
        if method is None:
            return
        # Not all of it: its `Trainer` is the loop of many programs.
        own.sites.skip(os.path.join(os.path.dirname(module.__file__), "optimizer"))
        own.updates(self, method, "update")
        for name in ("SerialIterator", "MultiprocessIterator", "MultithreadIterator"):
            iterator = getattr(getattr(module, "iterators", None), name, None)
            if iterator is not None:
                self._watch_iterator(module, iterator)
        optimizer = getattr(module, "Optimizer", None)
        if optimizer is not None:
            made = lambda _token, _args: self._optimizer_made(module)  # noqa: E731
            self.probe.around(optimizer, "setup", lambda _args: None, made, again=True)

    def _optimizer_made(self, chainer):
        """An optimiser has got its model: the iterators that the script wrote itself are there by now."""
        self.probe.own_loops.made()
        base = getattr(getattr(chainer, "dataset", None), "Iterator", None)
        for iterator in _written(base) if base is not None else ():
            if iterator not in self._iterators:
                self._watch_iterator(chainer, iterator)

    def _watch_iterator(self, chainer, iterator):
        """Its iterators give epoch after epoch, and say where one ends."""
        self._iterators.add(iterator)
        probe, own = self.probe, self.probe.own_loops
        begun = weakref.WeakSet()

        def is_evaluating():
            return not (chainer.config.train and chainer.config.enable_backprop)

        asks = own.asking(is_evaluating)

        def asked(items):
            if items not in begun or getattr(items, "is_new_epoch", False):
                begun.add(items)
                own.opened(items, now(), None, True)
            asks(items)

        ended = own.ending(is_evaluating)

        def over(items):
            begun.discard(items)  # it may be reset, and iterated again, as Chainer's `Evaluator` does
            ended(items)

        asked, over = probe.guard(asked, goes_on=True), probe.guard(over, goes_on=True)
        make = probe.wrappers.iterating
        probe.replace(iterator, "__next__", lambda f: make(f, asked, own.given, over))
        if "next" in vars(iterator):
            iterator_next = vars(iterator)["next"]
            iterator.next = iterator.__next__
            probe.patches.on_undo(lambda: setattr(iterator, "next", iterator_next))


def _written(base):
    """Classes of iterators that a script derived of `base`, and that give their items themselves.

    One that calls that of another gives items that are told of already.
    """
    found = [cls for cls in base.__subclasses__() if not cls.__module__.startswith("chainer.")]
    return [cls for cls in found if "__next__" in vars(cls)]
