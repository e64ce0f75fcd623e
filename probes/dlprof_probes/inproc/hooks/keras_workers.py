"""Keras' own loaders: `PyDataset` of Keras 3, `Sequence` and generators of Keras 2, with threads or processes.

Keras 3 makes an adapter for each `fit`, and an enqueuer where there are workers; Keras 2 has an enqueuer always. What
is hooked is the enqueuer, and where Keras 3 has none, the adapter's iterator. Its passes are known; an item may be
waited for by a thread of the engine's.
"""

from sys import _getframe

from dlprof_probes.inproc.clock import now

KINDS = ("PyDataset", "Sequence")
_SETTINGS = ("workers", "use_multiprocessing", "max_queue_size")


def attach(probe, modules):
    """Hook whatever of this the loaded Keras has.

    Args:
        probe: `Probe`.
        modules: `sys.modules`.
    """
    modern = modules.get("keras.src.trainers.data_adapters.py_dataset_adapter")
    if modern is not None:
        _Modern(probe, modern).attach()
    for name in ("keras.utils.data_utils", "keras.src.utils.data_utils", "tf_keras.src.utils.data_utils"):
        classic = modules.get(name)
        if hasattr(classic, "SequenceEnqueuer"):
            _Classic(probe, classic).attach()


class _Modern(object):
    """Keras 3."""

    def __init__(self, probe, module):
        self._probe = probe
        self._module = module
        self._loaders = probe.loaders

    def attach(self):
        """Hook data sets that are made, adapters, and enqueuers."""
        probe, module, wrappers = self._probe, self._module, self._probe.wrappers
        made = probe.guard(lambda _result, args: self._loaders.made(args[0], _getframe(3)), goes_on=True)
        probe.replace(module.PyDataset, "__init__", lambda f: wrappers.after(f, made))
        adapter, enqueuer = module.PyDatasetAdapter, module.PyDatasetEnqueuer
        told = probe.trial.get("loader") or {}
        if any(name in told for name in _SETTINGS):
            setting = probe.guard(lambda args: self._set(told, args))
            probe.around(adapter, "__init__", setting, lambda _token, _args: None, again=True)
        _hook_items(probe, adapter, "_get_iterator", probe.guard(self._iterated, goes_on=True))
        if "_standardize_batch" in vars(adapter):
            seen = probe.guard(
                lambda batch, _args: probe.descriptions.batch_made(probe.current_loop(), batch), goes_on=True
            )
            probe.replace(adapter, "_standardize_batch", lambda f: wrappers.after(f, seen))
        _hook_enqueuers(probe, module, enqueuer, self._started)

    def _iterated(self, adapter, iterator, begin):
        if adapter.enqueuer is None:
            data = adapter.py_dataset
            self._loaders.opened(data, iterator, begin, self._facts(data, 0))

    def _started(self, begin, args):
        data = args[0].py_dataset
        if begin is not None and not self._loaders.is_open(args[0]):
            self._loaders.opened(data, args[0], begin, self._facts(data, int(data.workers)))

    def _facts(self, data, workers):
        return facts(
            "PyDataset", data, workers, bool(data.use_multiprocessing), data.max_queue_size if workers else None
        )

    def _set(self, told, args):
        """The data set that an adapter is made for takes the settings of a trial run."""
        data = args[1]
        place = self._loaders.place_of(data)
        wanted = told.get("file")
        if wanted and place and not (place[1] == told.get("line") and ("/" + place[0]).endswith("/" + wanted)):
            return
        for name in _SETTINGS:
            if name in told:
                setattr(data, name, told[name])


class _Classic(object):
    """Keras 2, alone or inside of TensorFlow."""

    def __init__(self, probe, module):
        self._probe = probe
        self._module = module
        self._loaders = probe.loaders

    def attach(self):
        """Hook enqueuers: Keras has one for each loop that is given a `Sequence` or a generator."""
        probe, enqueuer = self._probe, self._module.SequenceEnqueuer
        told = probe.trial.get("loader") or {}
        settings = dict((name, told[name]) for name in ("workers", "max_queue_size") if name in told)
        if settings:
            change = probe.guard(lambda args, kwargs: (args[:1], dict(_start_arguments(args, kwargs), **settings)))
            probe.replace(enqueuer, "start", lambda f: probe.wrappers.with_arguments(f, change))
        if "use_multiprocessing" in told:
            use = lambda args: setattr(args[0], "use_multiprocessing", told["use_multiprocessing"])  # noqa: E731
            probe.around(enqueuer, "start", use, lambda _token, _args: None, again=True)
        _hook_enqueuers(probe, self._module, enqueuer, self._started)

    def _started(self, begin, args):
        one = args[0]
        data = getattr(one, "sequence", None)
        if begin is None or data is None:
            return
        kind = "Sequence" if hasattr(data, "__getitem__") else "generator"
        queue = getattr(getattr(one, "queue", None), "maxsize", None)
        told = facts(
            kind, data, int(getattr(one, "workers", 0)), bool(getattr(one, "use_multiprocessing", False)), queue
        )
        self._loaders.opened(one, one, begin, told)


def _hook_enqueuers(probe, module, base, started):
    """Hook the beginnings and ends of enqueuers' passes, and what they give; `started(begin, args)` opens the pass."""
    loaders = probe.loaders

    def stopped(begin, args):
        if begin is not None:
            loaders.ended(args[0], begin)

    probe.around(base, "start", lambda _args: now(), started, again=True)
    probe.around(base, "stop", lambda _args: now(), stopped, again=True)
    opened = probe.guard(lambda enqueuer, items, _begin: loaders.given_by(enqueuer, items), goes_on=True)
    for cls in list(vars(module).values()):
        if isinstance(cls, type) and issubclass(cls, base) and cls is not base and "get" in vars(cls):
            _hook_items(probe, cls, "get", opened)


def _hook_items(probe, owner, name, opened):
    """Note for how long each item of the iterators that `owner.name` gives is waited for."""
    loaders, wrappers = probe.loaders, probe.wrappers
    make = lambda f: wrappers.giving_items(f, opened, loaders.asked, loaders.given, loaders.over, now)  # noqa: E731
    probe.replace(owner, name, make)


def _start_arguments(args, kwargs):
    """`start(workers, max_queue_size)` by name."""
    return dict(zip(("workers", "max_queue_size"), args[1:]), **kwargs)


def facts(kind, data, workers, uses_processes, queue):
    """What a loader of Keras was told; its queue is one of batches for all workers."""
    return {
        "kind": kind,
        "dataset": type(data).__name__,
        "workers": workers,
        "uses_processes": uses_processes,
        "persistent": False if workers else None,
        "queue": queue,
        "queue_per_worker": False,
        "batch_size": None,
        "collate": None,
    }
