"""Models that were told of already: a program may call `predict` for each of its rows.

Reading a model takes fifty microseconds and more, and its facts a kilobyte of the stream. Where nothing of it has
changed, the span of the call refers to the span that has them.
"""

_MOST_MODELS = 256
"""Of more models at a time all are forgotten, and told again."""


class Retold(object):
    """In which span each living model was told of, and what it was like then.

    Args:
        token: Function from a model to a number that no other one has.
    """

    def __init__(self, token):
        self._token = token
        self._told = {}

    def span_of(self, model):
        """The span that has the facts of `model`, if they hold still; else None."""
        known = self._told.get(self._token(model))
        return known[0] if known is not None and known[1] == signature(model) else None

    def note(self, model, span):
        """`span` has the facts of `model` as it is now."""
        now = signature(model)
        if now is not None:
            if len(self._told) >= _MOST_MODELS:
                self._told.clear()
            self._told[self._token(model)] = span, now


def signature(model):
    """What changes when the facts of a model do: its layers, whether it is built, its optimiser.

    Returns:
        tuple: None where layers are kept otherwise than Keras 2 and 3 do: nothing tells whether they are the same.
    """
    known = model.__dict__  # hot: no `vars`
    layers = known.get("_layers")
    if layers is None:
        return None
    optimizer = known.get("optimizer")
    name = optimizer.__dict__.get("name") if optimizer is not None else None
    found = (type(model), type(optimizer), name, id(optimizer), known.get("built")) + tuple(map(id, layers))
    for layer in layers:
        if layer.__dict__.get("_layers"):
            found += _inside(layer, {id(model)})
    return found


def _inside(layer, seen):
    """The layers in a layer, and in those."""
    if id(layer) in seen:
        return ()
    seen.add(id(layer))
    known = layer.__dict__
    layers = known.get("_layers") or ()
    found = (known.get("built"),) + tuple(map(id, layers))
    for one in layers:
        found += _inside(one, seen)
    return found
