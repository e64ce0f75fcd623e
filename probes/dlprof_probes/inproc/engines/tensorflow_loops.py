"""What tells of a training loop in TensorFlow: updates by optimisers, graphs that hold one, iterators of tf.data."""

import os
import sys
import weakref
from threading import get_ident

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import size_of, weights_told
from dlprof_probes.inproc.engines.tensorflow_by_hand import TensorFlowByHand
from dlprof_probes.inproc.growing_inputs import Asked
from dlprof_probes.inproc.patching import each_definer

_FUNCTIONS = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
_DATASET = "tensorflow.python.data.ops.dataset_ops"
_ITERATOR = "tensorflow.python.data.ops.iterator_ops"
_TAPES = "tensorflow.python._pywrap_tfe"
_GRADIENTS = "gradient_tape/"
"""What a tape puts before the names of operations that go back."""
_CHANGES = ("AssignSubVariable", "AssignAddVariable", "AssignVariable", "ResourceApply", "ResourceScatter")
"""Beginnings of the types of operations that change variables."""


class Graphs(object):
    """The functions of `tf.function`, and which of them update weights: an optimiser was called while they were traced.

    Args:
        engine: The `Engine`.
        by_hand: `TensorFlowByHand`, which is told of those that only give gradients.
    """

    def __init__(self, engine, by_hand):
        self._engine = engine
        self._own = engine.probe.own_loops
        self._running = {}
        self._train = set()
        self._gradients = {}
        self._told = {}
        self._asking = set()
        self._reading = {}
        self._trained = {}
        self.by_hand = by_hand

    def watch(self, function_class):
        """Listen to calls of functions."""
        self._engine.probe.around(function_class, "__call__", self._enter, self._leave, again=True)

    def _enter(self, args):
        stack = self._running.setdefault(get_ident(), [])
        stack.append(args[0])
        return stack, now()

    def _leave(self, token, args):
        stack, begin = token or ((), 0)
        if stack:
            stack.pop()
        if stack or not (self._train or self._gradients or self._asking):
            return
        token = self._own.token(args[0])
        if token in self._train:
            self._own.update(self._engine, args[0], begin)
        elif token in self._gradients:
            self.by_hand.gradients_of([one() for one in self._gradients[token]], self._own.earlier(begin))
        elif token in self._asking and not self._own.is_silent():
            self._own.asks_only()

    def asked(self):
        """A model is called that is not to be trained: by each call of a function that is being made, or right now."""
        stack = self._running.get(get_ident())
        if stack:
            self._asking.add(self._own.token(stack[0]))
        elif not self._own.is_silent():
            self._own.asks_only()

    def traced_update(self):
        """An optimiser was called in a graph: the outermost function that runs updates weights from now on."""
        stack = self._running.get(get_ident())
        if stack:
            self._train.add(self._own.token(stack[0]))

    def traced(self, graph):
        """A graph was made: it may be a step without an optimiser, only give gradients, or only ask what is trained."""
        stack = self._running.get(get_ident())
        if not stack:
            return
        trained = list(getattr(graph, "trainable_variables", ()))
        if not takes_gradients(graph):
            if is_of_arguments(graph):
                self._reads(self._own.token(stack[0]), trained)
            return
        fresh = [one for one in trained if not self._is_trained(one)]
        if fresh:
            self._trained.update((id(one), weakref.ref(one)) for one in fresh)
            self._look_again()
        if changes_variables(graph):
            self.traced_update()
            self._told[self._own.token(stack[0])] = weights_of(trained)
        else:
            self._gradients[self._own.token(stack[0])] = [weakref.ref(one) for one in trained]

    def _reads(self, token, variables):
        """A function that reads a variable of which others take gradients only asks for what it gives."""
        if any(map(self._is_trained, variables)):
            self._asking.add(token)
        elif variables:
            self._reading[token] = [weakref.ref(one) for one in variables]

    def _look_again(self):
        """Gradients are taken of more variables: functions that were made before may read them."""
        for token, held in list(self._reading.items()):
            del self._reading[token]  # also where all that it read is gone
            self._reads(token, [one for one in (variable() for variable in held) if one is not None])

    def _is_trained(self, variable):
        known = self._trained.get(id(variable))
        return known is not None and known() is variable

    def told_of(self, function):
        """What `weights_of` told of the variables that a function changes by gradients; None: that is not known."""
        return self._told.get(self._own.token(function))


def watch(engine, tensorflow):
    """Listen to functions and to iterators of tf.data; gives the `Graphs`."""
    probe, own = engine.probe, engine.probe.own_loops
    own.sites.skip(os.path.dirname(tensorflow.__file__) + os.sep)
    by_hand = TensorFlowByHand(engine, tensorflow)
    by_hand.watch()
    graphs = Graphs(engine, by_hand)
    function = getattr(sys.modules.get(_FUNCTIONS), "Function", None)
    if function is not None and "__call__" in vars(function):
        graphs.watch(function)
    dataset = getattr(sys.modules.get(_DATASET), "DatasetV2", None)
    iterator = getattr(sys.modules.get(_ITERATOR), "OwnedIterator", None)
    if dataset is not None and iterator is not None:

        def opens(_dataset, items, begin):
            own.trains_or_asks()
            own.opened(items, begin)

        opened = probe.guard(opens, goes_on=True)
        asked, over = own.asking(own.is_asking), own.ending(lambda: False)
        wrappers = probe.wrappers
        probe.replace(dataset, "__iter__", lambda f: wrappers.opening(f, opened, now), again=True)
        probe.replace(iterator, "__next__", lambda f: wrappers.iterating(f, asked, own.given, over), again=True)
    return graphs


def watch_keras(probe, graphs, layer):
    """Listen to calls of Keras' layers with `training=False`: what a data set gives meanwhile is evaluated."""

    def called(_args, keywords):
        if keywords.get("training") is False:
            graphs.asked()

    hook = probe.guard(called, goes_on=True)
    asked = Asked(_asks_at_once)
    for owner in each_definer([layer], "__call__"):
        probe.replace(owner, "__call__", lambda f: probe.wrappers.with_arguments(f, hook), again=True)
        probe.growing.watch(owner, "__call__", asked)


def _asks_at_once():
    """Whether no tape records, and no graph is being made."""
    tape_is_empty = getattr(sys.modules.get(_TAPES), "TFE_Py_TapeSetIsEmpty", None)
    return bool(tape_is_empty is not None and tape_is_empty() and not is_in_graph(sys.modules["tensorflow"]))


def weights_of(variables):
    """What `Engine.trained_weights` tells of variables."""
    return weights_told((size_of(one.shape), getattr(one.dtype, "name", str(one.dtype))) for one in variables)


def takes_gradients(graph):
    """Whether a graph, of a function that was traced, goes back from a loss."""
    return any(_GRADIENTS in operation.name for operation in graph.get_operations())


def is_of_arguments(graph):
    """Whether a graph gives something for arrays that it is given; what keeps an average of weights has neither."""
    return bool(graph.outputs) and len(graph.inputs) > len(graph.captures)


def changes_variables(graph):
    """Whether a graph changes variables: with gradients that is a step, without any it only counts."""
    return any(operation.type.startswith(_CHANGES) for operation in graph.get_operations())


def is_in_graph(tensorflow):
    """Whether a graph is being made on this thread."""
    return bool(tensorflow.inside_function())
