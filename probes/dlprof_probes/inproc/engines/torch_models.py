"""The models of a torch script, found where it trains them, and the names of their parts."""

import weakref

from dlprof_probes.inproc.inferred.sites import names_in, objects_in

_WRAPPED = ("module", "_forward_module", "_orig_mod", "_fsdp_wrapped_module")
"""What DataParallel and its kin, Lightning's Fabric, torch.compile and FSDP call the model that they hold."""
_DEEPEST = 4


def at_hand(module_class, optimizer, frames):
    """The models that the frames hold: a list of pairs of prefix and weak reference.

    Where there are several, as in a GAN, the prefix is the name of the variable that holds one. Of a model that is
    wrapped, as for several processes, it is the model: its parts have the names that they have without.

    Args:
        module_class: `torch.nn.Module`.
        optimizer: A `torch.optim.Optimizer`.
        frames: Where to look, innermost first.
    """
    trained = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
    found = {}
    for frame in frames:
        for name, value in objects_in(names_in(frame)):
            if issubclass(type(value), module_class) and id(value) not in found:
                found[id(value)] = (name.rpartition(".")[2], value, set(map(id, value.parameters())))
    models = _outermost([one for one in found.values() if one[2]])
    if not any(weights & trained for _, _, weights in models):
        return []
    alone = len(models) == 1
    named = [(name, _unwrapped(model)) for name, model, _ in models]
    return [("" if alone and list(model.children()) else name + ".", held(model)) for name, model in named]


def _unwrapped(model):
    """What a wrapper holds; the model itself where it is none: it has parts beside, or parameters of its own."""
    for _ in range(_DEEPEST):
        parts = list(model.named_children())
        has_own = next(iter(model.parameters(False)), None) is not None
        if len(parts) != 1 or parts[0][0] not in _WRAPPED or has_own:
            break
        model = parts[0][1]
    return model


def held(model):
    """A function that gives the model for as long as it lives."""
    try:
        return weakref.ref(model)
    except TypeError:
        return lambda: model


def _outermost(models):
    """Those that are no part of another one."""
    parts = set()
    for _, model, _ in models:
        parts.update(id(part) for name, part in model.named_modules() if name)
    return [one for one in models if id(one[1]) not in parts]


def part_names(models):
    """The names of the parts of models, by their `id`."""
    names = {}
    for prefix, held in models:
        model = held()
        for name, part in model.named_modules() if model is not None else ():
            if name or prefix:
                names[id(part)] = (prefix + name).strip(".")
    return names


def parameter_names(models):
    """The names of the parameters of models, by their `id`."""
    names = {}
    for prefix, held in models:
        model = held()
        for name, weight in model.named_parameters() if model is not None else ():
            names[id(weight)] = prefix + name
    return names


def layers(models):
    """The parts of models, each a dict of `name` and `class`, and of what tells whether it gives the same each time.

    `trained`: whether it has weights of its own that get gradients; left out where it has none. `varies`: that what it
    gives for a row depends on chance, or on the other rows; left out where it does not.
    """
    found = []
    for prefix, held in models:
        model = held()
        parts = model.named_modules() if model is not None else ()
        named = [((prefix + name).strip("."), part) for name, part in parts]
        found.extend(_told(name, part) for name, part in named if name)
    return found


def _told(name, part):
    told = {"name": name, "class": type(part).__name__}
    own = list(part.parameters(False)) if hasattr(part, "parameters") else ()
    if own:
        told["trained"] = any(getattr(weight, "requires_grad", True) for weight in own)
    if getattr(part, "training", True) and _varies(part, told["class"]):
        told["varies"] = True
    return told


def _varies(part, kind):
    """Whether it drops values by chance, or norms each row by its batch, while it is trained."""
    if "Drop" in kind:
        return getattr(part, "p", 1.0) != 0
    return "BatchNorm" in kind
