"""Updates of weights in TensorFlow's sessions: a run that fetches an operation which changes weights is one.

That is told from the graph: optimisers make operations (`ApplyGradientDescent`, `ResourceApplyAdam` ...) below what
`minimize` gives. What a fetch leads to is looked up once.
"""

import os
import re
import sys
import weakref

from dlprof_probes.inproc.clock import now

_SESSION = "tensorflow.python.client.session"

_APPLIES = re.compile("^(?:Resource)?(?:Sparse)?Apply([A-Z].*)$")
_LOOKED_AT = 2000
"""Operations below a fetch, nearest first: those of an update are right below it."""


class GraphUpdate(object):
    """Stands for the optimiser of the operations that change weights.

    Args:
        operations: These, by their names.

    Attributes:
        dlprof_name: The name that TensorFlow gives to what they do, such as `Adam`.
        types: Names of the types of the numbers that they change, one for each.
    """

    def __init__(self, operations):
        self.dlprof_name = _APPLIES.match(operations[min(operations)].type).group(1)
        self.types = [_type(one) for one in operations.values()]


class SessionUpdates(object):
    """The updates among what sessions run.

    Args:
        engine: The `Engine`.
    """

    def __init__(self, engine):
        self._engine = engine
        self._own = engine.probe.own_loops
        self._known = weakref.WeakKeyDictionary()

    def watch(self, base):
        """Listen to what sessions run; `base` is their class."""
        probe = self._engine.probe
        ran = probe.guard(self._ran, goes_on=True)
        probe.replace(base, "run", lambda f: probe.wrappers.timed_call(f, ran, now), again=True)

    def _ran(self, args, keywords, begin):
        graph = args[0].graph
        names = tuple(_names(args[1] if len(args) > 1 else keywords.get("fetches")))
        known = self._known.setdefault(graph, {})
        if names not in known:
            known[names] = self._update_of(graph, names, known)
        if known[names] is not None:
            self._own.update(self._engine, known[names], begin)
            feeds = args[2] if len(args) > 2 else keywords.get("feed_dict")
            if feeds:
                self._own.batch(list(feeds.values()))

    @staticmethod
    def _update_of(graph, names, known):
        """What stands for the operations below these fetches that change weights; None: there are none."""
        found = {}
        for name in names:
            found.update(_applied(graph.as_graph_element(name)))
        if not found:
            return None
        # The same weights by other fetches (with the loss, with a summary) are the same optimiser.
        key = frozenset(found)
        return known.setdefault(key, GraphUpdate(found))


def _names(fetches):
    """The names of what is fetched, through lists, tuples and dicts."""
    if isinstance(fetches, (list, tuple)):
        for one in fetches:
            for name in _names(one):
                yield name
    elif isinstance(fetches, dict):
        for name in _names(list(fetches.values())):
            yield name
    elif isinstance(fetches, str):
        yield fetches
    elif isinstance(getattr(fetches, "name", None), str):
        yield fetches.name


def _applied(fetch):
    """Operations below a fetch that change weights, by their names."""
    queue, found = [getattr(fetch, "op", fetch)], {}
    seen = set(queue)
    for operation in queue:
        if _APPLIES.match(operation.type):
            found[operation.name] = operation
            continue
        for below in list(operation.control_inputs) + [one.op for one in operation.inputs]:
            if below not in seen and len(queue) < _LOOKED_AT:
                seen.add(below)
                queue.append(below)
    return found


def _type(operation):
    """Of the numbers that it changes: variables of the newer kind are given by their handles, which have another."""
    return operation.get_attr("T").name


def watch(engine):
    """Listen to the sessions of TensorFlow, whose own loops are none of the program's."""
    module = sys.modules.get(_SESSION)
    base = getattr(module, "BaseSession", None)
    if base is None or "run" not in vars(base):
        engine.probe.missing.append("tf.Session.run")
        return
    package = module.__file__
    for _ in range(3):  # tensorflow_core/python/client/session.py
        package = os.path.dirname(package)
    engine.probe.own_loops.sites.skip(package + os.sep)
    SessionUpdates(engine).watch(base)
