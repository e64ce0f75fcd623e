"""Gluon's `DataLoader`: what it was told, and its passes. Its workers are made with it, and last as long as it does."""

from threading import get_ident

from dlprof_probes.inproc import overrides
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.growing_inputs import Asked
from dlprof_probes.inproc.loader_hooks import LoaderHooks
from dlprof_probes.inproc.patching import each_definer

KIND = "Gluon DataLoader"
_BLOCKS = 2000
_SETTINGS = ("num_workers", "prefetch")


class Passes(object):
    """What was done with the batch that a loader gave last, on each thread: recorded for gradients, or only used.

    Args:
        autograd: `mxnet.autograd`.
    """

    def __init__(self, autograd):
        self._autograd = autograd
        self._recorded = {}
        self._recording = {}

    def watch(self, probe, blocks):
        """Listen to what is recorded, and to calls of these classes of blocks."""
        recorded, recording = self._recorded, self._recording

        def switched(_result, args):
            ident = get_ident()
            recording[ident] = bool(args and args[0])
            if recording[ident]:
                recorded[ident] = True

        def called(_args, _keywords):  # hot, and cannot fail: each part of a model is a block
            recorded.setdefault(get_ident(), False)

        hook = probe.guard(switched)
        probe.replace(self._autograd, "set_recording", lambda f: probe.wrappers.after(f, hook))
        asked = Asked(lambda: not recording.get(get_ident()), is_time_first)
        for owner in each_definer(blocks, "__call__"):
            probe.replace(owner, "__call__", lambda f: probe.wrappers.with_arguments(f, called), again=True)
            probe.growing.watch(owner, "__call__", asked)

    def was_evaluated(self):
        """Whether a block was called since this was last asked, and nothing was recorded."""
        return self._recorded.pop(get_ident(), None) is False and not self._autograd.is_recording()


def is_time_first(block):
    """Whether a recurrent layer in it says that the first axis of what it is given is time."""
    waiting, seen = [block], 0
    while waiting and seen < _BLOCKS:
        one = waiting.pop()
        seen += 1
        if str(getattr(one, "_layout", "")).startswith("T"):
            return True
        waiting.extend(getattr(one, "_children", {}).values())
    return False


def watch(engine, gluon, autograd):
    """Listen to loaders that are made and iterated.

    Args:
        engine: The `Engine`.
        gluon: `mxnet.gluon`.
        autograd: `mxnet.autograd`.
    """
    probe, wrappers = engine.probe, engine.probe.wrappers
    loader_class, passes = gluon.data.DataLoader, Passes(autograd)
    passes.watch(probe, [one for one in (getattr(gluon, "HybridBlock", None), getattr(gluon, "Block", None)) if one])
    hooks = LoaderHooks(probe, facts, _rows, passes.was_evaluated)
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
