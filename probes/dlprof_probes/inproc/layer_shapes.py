"""What the layers of a model of Keras are given and give, from the graph that Keras keeps: no array is looked at."""

MOST_LAYERS = 2000
"""Of a model, that are told."""
_DEPTH = 20
"""Models inside of models are followed so far."""


def of(model):
    """The layers of a model, each [name, class, inputs, output, type, calls, trained, first, weights].

    Inputs are a list of shapes, None stands for the batch; weights are a list of [name, shape]; `calls` is how often a
    step calls the layer, `first` whether all that it is given is data, or was made of data by layers that learn
    nothing. A model that keeps no graph of its layers (a class of the user's own) has none.
    """
    found = {}
    _walk(model, found, True, 1, _DEPTH)
    return list(found.values())[:MOST_LAYERS]


def _walk(model, found, of_data, times, depth):
    """Add the layers of a model that is called so many times a step; whether what it is given is data."""
    data = set()
    for node in _nodes(model):
        layer = _owner(node)
        if layer is None:
            continue
        is_first = of_data and all(maker in data for maker in _makers(node))
        if is_first and not getattr(layer, "trainable_weights", None):
            data.add(id(layer))
        if type(layer).__name__ == "InputLayer":
            data.add(id(layer))
        elif hasattr(layer, "layers") and depth:
            _walk(layer, found, is_first, times, depth - 1)
        else:
            _add(layer, node, found, is_first, times)


def _nodes(model):
    """Calls of layers in a model, those that come first before the others."""
    graph = getattr(model, "_functional", None) or vars(model).get("model") or model  # `model.model` warns in Keras 2.3
    by_depth = getattr(graph, "_nodes_by_depth", None) or {}
    return [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]


def _owner(node):
    for name in ("operation", "layer", "outbound_layer"):
        if getattr(node, name, None) is not None:
            return getattr(node, name)
    return None


def _makers(node):
    """The layers that made what a call is given, by their `id`."""
    return [id(tensor._keras_history[0]) for tensor in _inputs(node) if hasattr(tensor, "_keras_history")]


def _add(layer, node, found, is_first, times):
    inner = layer.layer if type(layer).__name__ == "TimeDistributed" and hasattr(layer, "layer") else layer
    if id(inner) in found:
        found[id(inner)][5] += times
        return
    try:
        inputs, output = [_shape(one) for one in _inputs(node)], _shape(_outputs(node)[0])
    except Exception:  # it has shapes that nobody knows before it runs
        return
    weights = list(getattr(inner, "weights", None) or ())
    kind = getattr(layer, "compute_dtype", None) or getattr(layer, "dtype", None)
    if not kind and weights:
        kind = weights[0].dtype
    found[id(inner)] = [
        str(getattr(inner, "name", "")),
        type(inner).__name__,
        inputs,
        output,
        text(kind),
        times,
        bool(getattr(layer, "trainable_weights", None)),
        is_first,
        [[_name(one, inner.name), _shape(one)] for one in weights],
    ]


def _name(weight, layer):
    """Its name within the layer: `kernel`, or `query/kernel`."""
    name = str(getattr(weight, "path", None) or getattr(weight, "name", None) or "").split(":")[0]
    _, cut, rest = ("/" + name).rpartition("/" + layer + "/")
    return rest if cut else name.rpartition("/")[2]


def _inputs(node):
    known = getattr(node, "input_tensors", None)
    return _flat(known if known is not None else getattr(node, "keras_inputs", None))


def _outputs(node):
    known = getattr(node, "output_tensors", None)
    return _flat(known if known is not None else getattr(node, "outputs", None))


def _flat(tensors):
    """One tensor, or lists and dicts of them, as one list."""
    if tensors is None:
        return []
    if isinstance(tensors, dict):
        tensors = list(tensors.values())
    if isinstance(tensors, (list, tuple)):
        return [each for one in tensors for each in _flat(one)]
    return [tensors]


def _shape(tensor):
    known = getattr(tensor, "_keras_shape", None)
    if known is None:
        known = tensor.shape
        known = known.as_list() if hasattr(known, "as_list") else known
    return [None if one is None else int(one) for one in known]


def text(kind):
    """`float32`, out of "<dtype: 'float32'>", "<class 'numpy.float32'>", `torch.float32` and their kin."""
    text = str(getattr(kind, "name", None) or kind or "")
    if text.startswith("<"):
        text = text.split("'")[1]
    text = text.rpartition(".")[2]
    return text[:-4] if text.endswith("_ref") else text
