"""What a model and its optimiser hold, by the shapes and types of their variables: no value of one is looked at.

Told where a training begins, and again when its first step is over (or has failed): optimisers make their slots in it.
"""

from dlprof_probes.inproc.clock import now

MOST_VARIABLES = 2000
"""Of a model, that are told one by one; of the rest the number is."""
MOST_MODELS = 100
"""Models that are told; a search makes new ones without end."""
_WRAPPED = ("layer", "forward_layer", "backward_layer")


def of_keras(model, kept=()):
    """The facts of a model of Keras: variables, and the shapes of what its layers give.

    `kept`: slots that the engine keeps, pairs of the name of the variable that one is for, and an array.

    A variable is [layer, name, kind, shape, type, trainable, device]; an output [layer, shape, type], with None for
    the batch. A layer that is not known is None. None: the model is not built yet.
    """
    weights = list(getattr(model, "weights", None) or ()) if getattr(model, "built", True) else []
    if not weights:
        return None
    owners, layers = _owners(model)
    trained = list(model.trainable_weights)
    known = {id(one) for one in trained}
    told = [_variable(one, owners.get(id(one)), "parameters", id(one) in known) for one in weights]
    told.extend(_slots(getattr(model, "optimizer", None), trained, owners))
    layers_of = dict((_name(one), owners.get(id(one))) for one in trained)
    told.extend(_variable(one, layers_of.get(name), "optimizer", False, name) for name, one in kept)
    return _facts(str(getattr(model, "name", "")) or None, told, _outputs(layers))


def of_keras_optimizer(optimizer):
    """The same where a loop of the script's own trains with an optimiser of Keras: its models are not known."""
    trained = list(getattr(optimizer, "_trainable_variables", None) or ())
    owners = dict((id(one), _name(one).rpartition("/")[0] or None) for one in trained)
    told = [_variable(one, owners[id(one)], "parameters", True) for one in trained]
    told.extend(_slots(optimizer, trained, owners))
    return _facts(None, told, [])


def of_torch(optimizer, names):
    """The same of an optimiser of PyTorch after its first step, which has gradients, too.

    Args:
        optimizer: A `torch.optim.Optimizer`.
        names: Name of each parameter of the models at hand, by its `id`.
    """
    told = []
    for group in optimizer.param_groups:
        for weight in group["params"]:
            name = names.get(id(weight), "")
            layer = name.rpartition(".")[0] or None
            told.append(_variable(weight, layer, "parameters", True, name))
            if weight.grad is not None:
                told.append(_variable(weight.grad, layer, "gradients", False, name))
            for slot, value in sorted(_state(optimizer, weight)):
                told.append(_variable(value, layer, "optimizer", False, (name + "." + slot).strip(".")))
    return _facts(None, told, [])


def _state(optimizer, weight):
    held = optimizer.state.get(weight) or {}
    return [(str(slot), value) for slot, value in held.items() if hasattr(value, "shape")]


def _owners(model):
    """The innermost layer of each variable, by its `id`; and all layers that have no other ones in them."""
    owners, leaves, waiting, seen = {}, [], [model], set()
    while waiting:
        current = waiting.pop(0)  # outer ones first: inner ones have the last word
        if id(current) in seen:
            continue
        seen.add(id(current))
        inner = list(getattr(current, "layers", None) or ())
        inner.extend(one for one in (getattr(current, name, None) for name in _WRAPPED) if hasattr(one, "call"))
        if current is not model:
            for one in getattr(current, "weights", None) or ():
                owners[id(one)] = str(getattr(current, "name", ""))
        if not inner:
            leaves.append(current)
        waiting.extend(inner)
    return owners, leaves


def _slots(optimizer, trained, owners):
    """The variables of an optimiser: each slot with the layer of the variable that it is for."""
    variables = getattr(optimizer, "variables", None)
    if callable(variables):  # Keras 2 of TensorFlow 2
        variables = variables()
    variables = list(variables if variables is not None else getattr(optimizer, "weights", None) or ())
    names = sorted(((_flat(_name(one)), one) for one in trained), key=lambda item: -len(item[0]))
    place, told = 0, []
    for slot in variables:
        found = _named(_flat(_name(slot)), names, _shape(slot))
        if found is None and _shape(slot):  # they stand in the order of the variables, for each kind of slot again
            for step in range(len(trained)):
                one = trained[(place + step) % len(trained)]
                if _shape(one) == _shape(slot):
                    place, found = (place + step + 1) % len(trained), one
                    break
        told.append(_variable(slot, owners.get(id(found)), "optimizer", False))
    return told


def _named(slot, names, shape):
    for name, one in names:
        if name and name in slot and _shape(one) == shape:
            return one
    return None


def _flat(name):
    return name.replace("/", "_")


def _outputs(layers):
    told = []
    for layer in layers:
        try:
            shape, kind = _output(layer)
        except Exception:  # it has none that is known, or several
            continue
        if shape:
            told.append([str(getattr(layer, "name", "")), shape, kind])
    return told[:MOST_VARIABLES]


def _output(layer):
    """Shape of what a layer gives, and its type; (None, None): not one tensor, or what it was given itself."""
    if type(layer).__name__ == "InputLayer":
        return None, None
    known = getattr(layer, "output_shape", None)
    if known is None:
        known = tuple(layer.output.shape)
    if isinstance(known, list):
        known = known[0] if len(known) == 1 else None
    kind = getattr(layer, "compute_dtype", None) or getattr(layer, "dtype", None)
    return [None if one is None else int(one) for one in known], _text(kind)


def _variable(one, layer, kind, trainable, name=None):
    return [layer, _name(one) if name is None else name, kind, _shape(one), _type(one), bool(trainable), _device(one)]


def _name(one):
    """`dense/kernel`, without the number of the output."""
    return str(getattr(one, "path", None) or getattr(one, "name", None) or "").split(":")[0]


def _shape(one):
    return [int(length) for length in getattr(one, "_keras_shape", one.shape)]


def _type(one):
    return _text(getattr(one, "dtype", None))


def _text(kind):
    """`float32`, out of "<dtype: 'float32'>", "<class 'numpy.float32'>", `torch.float32` and their kin."""
    text = str(getattr(kind, "name", None) or kind or "")
    if text.startswith("<"):
        text = text.split("'")[1]
    text = text.rpartition(".")[2]
    return text[:-4] if text.endswith("_ref") else text


def _device(one):
    """Where it lies; asked of what tells it without work."""
    device = getattr(one, "device", None)
    return str(device) if device is not None and not callable(device) else None


def _facts(name, variables, outputs):
    return {
        "name": name,
        "time_ns": now(),
        "variables": variables[:MOST_VARIABLES],
        "left_out": max(0, len(variables) - MOST_VARIABLES),
        "outputs": outputs,
    }
