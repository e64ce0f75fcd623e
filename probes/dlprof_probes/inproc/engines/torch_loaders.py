"""PyTorch's `DataLoader`: what it was told, its passes, and other settings for trial runs."""

import sys

from dlprof_probes.inproc import overrides
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.loader_hooks import LoaderHooks

KIND = "DataLoader"
_SETTINGS = ("num_workers", "persistent_workers", "prefetch_factor")


def watch(engine, module):
    """Listen to loaders that are made and iterated; give those of a trial run its settings."""
    probe, wrappers = engine.probe, engine.probe.wrappers
    is_grad_enabled = sys.modules["torch"].is_grad_enabled
    hooks = LoaderHooks(probe, facts, _rows, lambda: not is_grad_enabled(), lambda loader: not _is_of_keras(loader))
    opened, *later = hooks.iterating
    probe.replace(module.DataLoader, "__init__", lambda f: wrappers.after(f, hooks.made))
    probe.replace(module.DataLoader, "__iter__", lambda f: wrappers.opening(f, opened, now))
    probe.replace(module._BaseDataLoaderIter, "__next__", lambda f: wrappers.iterating(f, *later))
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
