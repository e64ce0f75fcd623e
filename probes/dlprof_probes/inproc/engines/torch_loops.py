"""What tells of a training loop in PyTorch: updates by optimisers, loaders that are iterated, `Module.train`.

An optimiser that goes round by itself (LBFGS) is told from its turns where the program has no loop around its call.
The hook of updates is torch's own (`register_optimizer_step_post_hook`). Inside a function that `torch.compile`
traces it must be gone with one constant test, or it would be part of the graph, or break it.
"""

import os
import sys
from sys import _getframe

from dlprof_probes.inproc.engines import torch_evaluations, torch_growing, torch_loaders
from dlprof_probes.inproc.engines.base import Attachment

_OPTIMIZERS = "torch.optim.optimizer"
_LOADERS = "torch.utils.data.dataloader"
_LBFGS = "torch.optim.lbfgs"
_MOVES, _GOES_ROUND = "_add_grad", "step"
"""Methods of LBFGS: one that changes the weights, and the one whose loop does so once in each turn, behind a search."""


def attachments(engine):
    """What waits for the modules of optimisers and of loaders."""
    return [
        Attachment(_OPTIMIZERS, _is_ready, lambda module: _watch_updates(engine, module)),
        Attachment(_LOADERS, _is_loaded, lambda module: torch_loaders.watch(engine, module)),
        Attachment(_LBFGS, _goes_round, lambda module: _watch_turns(engine, module)),
    ]


def _is_ready(modules):
    return hasattr(modules[_OPTIMIZERS], "Optimizer") and hasattr(modules["torch"], "nn")


def _is_loaded(modules):
    return hasattr(modules[_LOADERS], "DataLoader")


def _goes_round(modules):
    return hasattr(getattr(modules[_LBFGS], "LBFGS", None), _MOVES)


def _watch_turns(engine, module):
    """Listen to the turns of an optimiser's own loop: a whole training may be one call of its `step`."""
    probe, path = engine.probe, module.__file__

    def moved(_result, args):
        frame = _getframe(1)
        while frame is not None and frame.f_code.co_filename != path:
            frame = frame.f_back
        if frame is not None and frame.f_code.co_name == _GOES_ROUND:
            probe.own_loops.turned(engine, args[0])

    hook = probe.guard(moved, goes_on=True)
    probe.replace(module.LBFGS, _MOVES, lambda f: probe.wrappers.after(f, hook))


def _watch_updates(engine, module):
    """Listen to updates, to optimisers that are made, and to modules that are no longer trained."""
    probe, torch = engine.probe, sys.modules["torch"]
    folder = os.path.dirname(torch.__file__)
    probe.own_loops.sites.skip(folder + os.sep, but=(os.path.join(folder, "optim", "lbfgs.py"),))
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is None:
        probe.missing.append("torch.optim.optimizer.register_optimizer_step_post_hook")
        return
    engine.growing = torch_growing.CallsWithoutGradients(probe, torch)
    handle = register(_post_hook(engine, torch))
    probe.patches.on_undo(handle.remove)
    made = probe.guard(lambda _result, args: _made(engine, args[0]))
    probe.replace(module.Optimizer, "__init__", lambda f: probe.wrappers.after(f, made))
    # `eval` ends in it, also where a class has its own. It is called for each part of a model, also to train it.
    evaluating = probe.guard(probe.own_loops.evaluating)
    training = probe.guard(probe.own_loops.training)
    probe.replace(torch.nn.Module, "train", lambda f: probe.wrappers.switching(f, evaluating, training))
    torch_evaluations.watch(probe, torch, engine.growing)


def _made(engine, optimizer):
    engine.probe.own_loops.made()
    engine.by_hand.optimiser_made()
    engine.unused.made(optimizer)


def _post_hook(engine, torch):
    update, unused, is_compiling = engine.probe.own_loops.update, engine.unused, _is_compiling(torch)
    updated_weights = engine.probe.guard(unused.updated)
    growing, trains = engine.growing, engine.probe.guard(engine.growing.updated)

    def updated(optimizer, _args, _kwargs):
        if is_compiling():
            return
        update(engine, optimizer)
        if growing.is_on:
            trains()
        if unused.watches:
            updated_weights(optimizer)

    return updated


def _is_compiling(torch):
    return getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
