"""Gluon's `DataLoader`: what it was told, and its passes. Its workers are made with it, and last as long as it does."""

from dlprof_probes.inproc import overrides
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.loader_hooks import LoaderHooks

KIND = "Gluon DataLoader"
_SETTINGS = ("num_workers", "prefetch")


def watch(engine, loader_class):
    """Listen to loaders that are made and iterated.

    Args:
        engine: The `Engine`.
        loader_class: `mxnet.gluon.data.DataLoader`.
    """
    probe, wrappers = engine.probe, engine.probe.wrappers
    hooks = LoaderHooks(probe, facts, _rows)
    probe.replace(loader_class, "__init__", lambda f: wrappers.after(f, hooks.made))
    probe.replace(loader_class, "__iter__", lambda f: wrappers.giving_items(f, *hooks.iterating, now=now))
    overrides.of_loader(probe, loader_class, _SETTINGS)


def facts(loader):
    """What a loader was told; what another version of MXNet lacks is not told."""
    workers = int(getattr(loader, "_num_workers", 0) or 0)
    return {
        "kind": KIND,
        "dataset": type(getattr(loader, "_dataset", None)).__name__,
        "workers": workers,
        "uses_processes": not getattr(loader, "_thread_pool", False),
        "persistent": True if workers else None,
        "queue": getattr(loader, "_prefetch", None) if workers else None,
        "queue_per_worker": False,
        "batch_size": _rows(loader).get("batch_size"),
        "collate": getattr(getattr(loader, "_batchify_fn", None), "__name__", None),
    }


def _rows(loader):
    """Rows of a batch, where the loader makes them."""
    size = getattr(getattr(loader, "_batch_sampler", None), "_batch_size", None)
    return {"batch_size": size} if isinstance(size, int) else {}
