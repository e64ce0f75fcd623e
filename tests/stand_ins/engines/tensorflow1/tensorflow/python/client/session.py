class BaseSession:
    def __init__(self, graph=None):
        self.results = {}
        self.graph = default_graph

    def _make_callable_from_options(self, options):
        result = nodes[options.fetch[0]]

        def call(*values, run_metadata=None):
            if run_metadata is not None:
                run_metadata.operators += 2
            return [result.compute(dict(zip(options.feed, values)))]

        return _Callable(call)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if run_metadata is not None:
            run_metadata.operators += 2
        return fetches.compute({node.name: value for node, value in (feed_dict or {}).items()})


class _Callable:
    def __init__(self, call):
        self._call = call
        self.kept = "of the session's own"

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)


class Graph:
    def as_graph_element(self, name):
        return Operation


class Operation:
    """All that is computed here changes no weights."""

    type, name = "Add", "add"
    control_inputs = inputs = ()


default_graph = Graph()
nodes = {}
