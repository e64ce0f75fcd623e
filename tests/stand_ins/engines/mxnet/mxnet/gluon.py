from . import nd


class HybridBlock:
    """A block whose graph is made at its first call."""

    def __init__(self, prefix="", children=()):
        self.prefix = prefix
        self.name = prefix.rstrip("_")
        self._children = {str(number): child for number, child in enumerate(children)}
        self._cached_op = None
        self._cached_graph = None
        self._flags = [("static_alloc", True), ("forward_bulk_size", 15)]

    def _build_cache(self, symbol):
        self._cached_graph = ([], symbol)
        self._cached_op = nd.CachedOp(symbol, self._flags)
