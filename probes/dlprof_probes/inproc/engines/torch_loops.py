"""What tells of a training loop in PyTorch: updates by optimisers, loaders that are iterated, `Module.train`.

The hook of updates is torch's own (`register_optimizer_step_post_hook`). Inside a function that `torch.compile`
traces it must be gone with one constant test, or it would be part of the graph, or break it.
"""

import os
import sys

from dlprof_probes.inproc.engines import torch_evaluations, torch_loaders
from dlprof_probes.inproc.engines.base import Attachment

_OPTIMIZERS = "torch.optim.optimizer"
_LOADERS = "torch.utils.data.dataloader"


def attachments(engine):
    """What waits for the modules of optimisers and of loaders."""
    return [
        Attachment(_OPTIMIZERS, _is_ready, lambda module: _watch_updates(engine, module)),
        Attachment(_LOADERS, _is_loaded, lambda module: torch_loaders.watch(engine, module)),
    ]


def _is_ready(modules):
    return hasattr(modules[_OPTIMIZERS], "Optimizer") and hasattr(modules["torch"], "nn")


def _is_loaded(modules):
    return hasattr(modules[_LOADERS], "DataLoader")


def _watch_updates(engine, module):
    """Listen to updates, to optimisers that are made, and to modules that are no longer trained."""
    probe, torch = engine.probe, sys.modules["torch"]
    probe.own_loops.sites.skip(os.path.dirname(torch.__file__) + os.sep)
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is None:
        probe.missing.append("torch.optim.optimizer.register_optimizer_step_post_hook")
        return
    handle = register(_post_hook(engine, torch))
    probe.patches.on_undo(handle.remove)
    made = probe.guard(lambda _result, args: _made(engine, args[0]))
    probe.replace(module.Optimizer, "__init__", lambda f: probe.wrappers.after(f, made))
    # `eval` ends in it, also where a class has its own. It is called for each part of a model, also to train it.
    evaluating = probe.guard(probe.own_loops.evaluating)
    training = probe.guard(probe.own_loops.training)
    probe.replace(torch.nn.Module, "train", lambda f: probe.wrappers.switching(f, evaluating, training))
    torch_evaluations.watch(probe, torch)


def _made(engine, optimizer):
    engine.probe.own_loops.made()
    engine.by_hand.optimiser_made()
    engine.unused.made(optimizer)


def _post_hook(engine, torch):
    update, unused, is_compiling = engine.probe.own_loops.update, engine.unused, _is_compiling(torch)
    updated_weights = engine.probe.guard(unused.updated)

    def updated(optimizer, _args, _kwargs):
        if is_compiling():
            return
        update(engine, optimizer)
        if unused.watches:
            updated_weights(optimizer)

    return updated


def _is_compiling(torch):
    return getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
