"""What tells of a training loop in PyTorch: updates by optimisers, loaders that are iterated, `Module.eval`.

The hook of updates is torch's own (`register_optimizer_step_post_hook`). Inside a function that `torch.compile`
traces it must be gone with one constant test, or it would be part of the graph, or break it.
"""

import os
import sys

from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.engines.base import Attachment

_OPTIMIZERS = "torch.optim.optimizer"
_LOADERS = "torch.utils.data.dataloader"


def attachments(engine):
    """What waits for the modules of optimisers and of loaders."""
    return [
        Attachment(_OPTIMIZERS, _is_ready, lambda module: _watch_updates(engine, module)),
        Attachment(_LOADERS, _is_loaded, lambda module: _watch_loaders(engine, module)),
    ]


def _is_ready(modules):
    return hasattr(modules[_OPTIMIZERS], "Optimizer") and hasattr(modules["torch"], "nn")


def _is_loaded(modules):
    return hasattr(modules[_LOADERS], "DataLoader")


def _watch_updates(engine, module):
    """Listen to updates, to optimisers that are made, and to `eval` of modules."""
    probe, torch = engine.probe, sys.modules["torch"]
    probe.own_loops.sites.skip(os.path.dirname(torch.__file__) + os.sep)
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is None:
        probe.missing.append("torch.optim.optimizer.register_optimizer_step_post_hook")
        return
    handle = register(_post_hook(engine, torch))
    probe.patches.on_undo(handle.remove)
    made = probe.guard(lambda _result, _args: probe.own_loops.made())
    probe.replace(module.Optimizer, "__init__", lambda f: probe.wrappers.after(f, made))
    evaluating = probe.guard(lambda _result, _args: probe.own_loops.evaluating())
    probe.replace(torch.nn.Module, "eval", lambda f: probe.wrappers.after(f, evaluating))


def _post_hook(engine, torch):
    update = engine.probe.own_loops.update
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)

    def updated(optimizer, _args, _kwargs):
        if is_compiling():
            return
        update(engine, optimizer)

    return updated


def _watch_loaders(engine, module):
    """Listen to loaders that are iterated."""
    probe, own = engine.probe, engine.probe.own_loops
    is_grad_enabled = sys.modules["torch"].is_grad_enabled
    opened = probe.guard(lambda loader, iterator, begin: own.opened(iterator, begin, _facts(loader)), goes_on=True)
    asked, over = own.asking(lambda: not is_grad_enabled()), own.ending(lambda: not is_grad_enabled())
    wrappers = probe.wrappers
    probe.replace(module.DataLoader, "__iter__", lambda f: wrappers.opening(f, opened, now))
    items = module._BaseDataLoaderIter
    probe.replace(items, "__next__", lambda f: wrappers.iterating(f, asked, own.given, over))


def _facts(loader):
    """Rows of a batch, where the loader makes them."""
    size = loader.batch_size
    return {"batch_size": size} if isinstance(size, int) else {}
