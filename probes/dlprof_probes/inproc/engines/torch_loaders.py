"""PyTorch's `DataLoader`: what it was told, its passes, and other settings for trial runs."""

import sys
from sys import _getframe

from dlprof_probes.inproc import overrides
from dlprof_probes.inproc.clock import now

KIND = "DataLoader"
_SETTINGS = ("num_workers", "persistent_workers", "prefetch_factor")


def watch(engine, module):
    """Listen to loaders that are made and iterated; give those of a trial run its settings."""
    probe, own, loaders = engine.probe, engine.probe.own_loops, engine.probe.loaders
    is_grad_enabled = sys.modules["torch"].is_grad_enabled
    own_asked, own_over = own.asking(lambda: not is_grad_enabled()), own.ending(lambda: not is_grad_enabled())

    def opened(loader, iterator, begin):
        own.opened(iterator, begin, _rows(loader))
        if not _is_of_keras(loader):
            loaders.opened(loader, iterator, begin, facts(loader))

    def asked(iterator):
        own_asked(iterator)
        loaders.asked(iterator)

    def given(iterator):
        loaders.given(iterator)
        own.given(iterator)

    def over(iterator):
        loaders.over(iterator)
        own_over(iterator)

    wrappers, guard = probe.wrappers, probe.guard
    hooks = [guard(hook, goes_on=True) for hook in (opened, asked, given, over)]
    made = guard(lambda _result, args: loaders.made(args[0], _getframe(3)), goes_on=True)
    probe.replace(module.DataLoader, "__init__", lambda f: wrappers.after(f, made))
    probe.replace(module.DataLoader, "__iter__", lambda f: wrappers.opening(f, hooks[0], now))
    probe.replace(module._BaseDataLoaderIter, "__next__", lambda f: wrappers.iterating(f, *hooks[1:]))
    overrides.of_loader(probe, module.DataLoader, _SETTINGS)


def _rows(loader):
    """Rows of a batch, where the loader makes them."""
    size = loader.batch_size
    return {"batch_size": size} if isinstance(size, int) else {}


def _is_of_keras(loader):
    """Whether Keras made it around something of its own, whose passes are known."""
    return type(loader.dataset).__module__.split(".")[0] in ("keras", "tf_keras")


def facts(loader):
    """What a loader was told; its workers are processes."""
    workers = int(loader.num_workers)
    return {
        "kind": KIND,
        "dataset": type(loader.dataset).__name__,
        "workers": workers,
        "uses_processes": True,
        "persistent": bool(getattr(loader, "persistent_workers", False)) if workers else None,
        "queue": getattr(loader, "prefetch_factor", None) if workers else None,
        "queue_per_worker": True,
        "batch_size": loader.batch_size if isinstance(loader.batch_size, int) else None,
        "collate": getattr(loader.collate_fn, "__name__", None),
    }
