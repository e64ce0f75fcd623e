"""What the process knows of an engine: the interface of each file beside this one, and of the engines of plug-ins.

A plug-in's file (`EngineSpec.probe`) is standard library and Python 3.6 syntax like all that runs in here, and ends in
`ENGINE = ItsSubclassOfEngine`. It may import this module, `kernels.tracer`, `clock` and `dlprof_probes.wire`. All
methods may raise: the first failure of one is noted in the run's health, and it is not called again.
"""

import sys

from dlprof_probes.inproc import model_memory


class Attachment(object):
    """Hooks that wait for a module.

    Args:
        module: Name of the module in `sys.modules`.
        is_ready: Function from `sys.modules` to whether the module is loaded as far as its hooks need it; asked when
            an import is over, so it must be cheap.
        attach: Function that hooks the module, which it is given; called once.
    """

    def __init__(self, module, is_ready, attach):
        self.module = module
        self.is_ready = is_ready
        self.attach = attach


class Engine(object):
    """The library that runs the kernels, under Keras or alone. One instance per probe holds what its hooks remember.

    An instance is made when the process starts, long before its module is loaded, and whether or not it ever is.
    Whatever it replaces goes through `self.probe` (`replace`, `around`, `span`, `loop`, `step`, `epoch`, `on_batch`,
    `graph_compile`, `annotated`), which guards its hooks and takes all back at the end; what it changes by other ways
    has an entry in `self.probe.patches.on_undo`.

    An engine that has training loops of its own gets phases and steps by `probe.loop(Trainer, "fit",
    wire.SpanKind.FIT)`, `probe.epoch` and `probe.step`, or `probe.on_batch` for methods that train on one batch; with
    `self.take_windows()` in `attach` these loops get kernel windows.

    Attributes:
        name: As `EngineSpec.name`: what windows and tables call it.
        module: Its top-level module.
        tracer_class: Its `kernels.tracer.Tracer`, made without arguments unless `make_tracer` says otherwise; None: it
            has none.
        switches: Its switches for debugging, and others that give up speed: pairs of a name, as in
            `EngineSpec.switches`, and a function from the module to the switch's value. What raises is not set.
        is_session_based: Reading the value of a weight would make a session, which is the script's own business.
        compiles_when_built: It compiles a step function of Keras when that is made, not when it is first called.
        workers: Pairs of a module, with whose functions processes of its own begin, and what such a process is called.
            An argument `worker_id` of that function is its number.
        probe: The `Probe` of this process.
    """

    name = ""
    module = ""
    tracer_class: type = None  # type: ignore[assignment]
    switches: tuple = ()  # type: ignore[type-arg]
    is_session_based = False
    compiles_when_built = False
    workers: tuple = ()  # type: ignore[type-arg]

    def __init__(self, probe):
        self.probe = probe

    # -- the module ------------------------------------------------------------------------------------

    def speaks_of(self, module):
        """Whether this is the engine in that version of its module, where two share one."""
        return True

    def is_ready(self, modules):
        """Whether the engine is loaded to its end; its module is in `modules`."""
        return hasattr(modules[self.module], "__version__")

    def attach(self, module):
        """Note the version, and hook what compiles graphs; called once, when `is_ready` says so for the first time."""
        self.note_version(module)

    def attachments(self):
        """All that is attached to: a list of `Attachment`. More than one where a part of it is loaded later."""
        return [Attachment(self.module, self.is_ready, self.attach)]

    def version(self, module):
        """Its version, as text."""
        return str(module.__version__)

    def note_version(self, module):
        """Tell which engine the process runs on; the last one that says so is taken."""
        self.probe.recorder.meta({"engine": self.module, "engine_version": self.version(module)})

    # -- kernels ---------------------------------------------------------------------------------------

    @property
    def wants_kernels(self):
        """Whether kernels are traced in this process: else nothing needs to be remembered for the traces."""
        return self.probe.windows.folder is not None

    @property
    def kernel_folder(self):
        """Where traces, and what else is needed to read them, are written; it may have to be made."""
        return self.probe.windows.folder

    def make_tracer(self):
        """A new tracer for the windows of this process; None: there is none."""
        return self.tracer_class() if self.tracer_class is not None else None

    def take_windows(self):
        """Have kernel windows trace this engine, from the next loop on."""
        self.probe.windows.use(self.name, self.make_tracer)

    def under_keras(self, keras):
        """Keras runs on this engine: take the windows, and hook what names layers in the traces.

        Called once, after Keras' own hooks; the engine may not be attached, where it is older than its hooks.

        Args:
            keras: `hooks.keras_common.KerasClasses`.
        """
        self.take_windows()

    def alone(self):
        """A loop of a script without Keras begins, which runs on this engine: take the windows."""
        self.take_windows()

    def named_layers(self, model):
        """A script without Keras says which model it trains (`mark.model`).

        Returns:
            list: Its layers, each a dict of `name` and `class`; None where it is no model of this engine, or where the
            traces need no names.
        """
        return

    def updated(self, optimizer):
        """An optimiser of Keras was applied, by a loop of the script's own or by `fit`."""
        self.probe.own_loops.update(self, optimizer)

    def trained_layers(self, optimizer, frames):
        """A loop of the script's own trains with that optimiser.

        Args:
            optimizer: What changed the weights, as the engine told `probe.own_loops.update`.
            frames: The frames of the program around that call, innermost first; not to be kept.

        Returns:
            list: As `named_layers`; None: not known.
        """
        return

    def after_training(self):
        """Facts about a training of the script's own that is over.

        A dict of dicts, or of None where there is nothing to say; one may have a `place`: file and line.
        """
        return {}

    def memory_of(self, optimizer, frames):
        """What that optimiser, and what it trains, hold after its first update.

        Args:
            optimizer: As that of `trained_layers`.
            frames: Likewise.

        Returns:
            dict: As `model_memory.of_keras`, which tells of optimisers of Keras; None: not known.
        """
        if not hasattr(optimizer, "_trainable_variables"):
            return None
        return model_memory.of_keras_optimizer(optimizer)

    def allocated(self, module):
        """What the engine's own allocator counts, all its devices together.

        Args:
            module: The engine's module.

        Returns:
            dict: `live_bytes` (now) and `peak_bytes`, each left out where it is not counted; None: nothing is.
        """
        return

    def array_types(self, module):
        """Classes of its arrays, or tensors, as Python sees them: how many there are is counted now and then."""
        return ()

    def slots_of(self, model):
        """Slots of the optimiser of a model of Keras that the engine keeps for itself.

        Returns:
            list: Pairs of a variable's name and an array with `shape` and `dtype`; empty: Keras has them.
        """
        return []

    def trained_weights(self, optimizer):
        """What that optimiser trains: a dict of `count` (numbers), if that is known, and `dtype`; None: not known."""
        return

    def watch_layers(self, keras, called):
        """Call `called(layer, result)` after each call of a layer of Keras."""
        probe = self.probe
        hook = probe.guard(lambda result, args: called(args[0], result))
        probe.replace(keras.layer, "__call__", lambda f: probe.wrappers.after(f, hook), again=True)

    # -- facts of a training, and settings of trial runs -----------------------------------------------

    def threads(self, module):
        """How many threads it was told, or decided, to compute with; None: not known."""
        return

    def is_settable(self, module):
        """Whether `apply` can be called: the module is loaded as far as that needs it."""
        return self.is_ready(sys.modules)

    def apply(self, module, settings):
        """Take the settings of a trial run, now and whenever the script sets its own; called once.

        Args:
            module: The engine's module.
            settings: Dict as in `overrides.py`: `threads`, `autotune`, `flags_off`, if the trial has them.
        """

    def set_always(self, owner, name, value):
        """Have each call of the function `owner.name` set `value`, whatever it is told."""
        self.probe.replace(owner, name, lambda f: lambda *_args, **_more: f(value), again=True)

    def stub(self, owner, name, result=None):
        """Have calls of `owner.name` do nothing but give `result()`, or None."""
        give = result or (lambda: None)
        self.probe.replace(owner, name, lambda _f: lambda *_args, **_more: give(), again=True)


def weights_told(weights):
    """What `Engine.trained_weights` tells of pairs of size and type; of several types that of most numbers."""
    sizes = {}
    for size, dtype in weights:
        sizes[dtype] = sizes.get(dtype, 0) + size
    return {"count": sum(sizes.values()), "dtype": max(sizes, key=sizes.get)} if sizes else None


def size_of(shape):
    """How many numbers an array of that shape has; a length that is not known counts as none."""
    size = 1
    for length in shape or ():
        size *= max(0, length or 0)
    return size
