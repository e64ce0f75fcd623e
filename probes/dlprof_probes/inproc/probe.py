"""Everything the in-process probe holds, and the hooks that join wrappers to the recorder."""

from sys import _getframe
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc import interrupts, process_memory
from dlprof_probes.inproc.batch_shapes import BatchShapes
from dlprof_probes.inproc.causes import Causes
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.descriptions import Descriptions
from dlprof_probes.inproc.engines import Engines
from dlprof_probes.inproc.growing_inputs import GrowingInputs
from dlprof_probes.inproc.inferred.watch import Watch
from dlprof_probes.inproc.loaders import Loaders
from dlprof_probes.inproc.native_calls import NativeCalls
from dlprof_probes.inproc.patching import Patches
from dlprof_probes.inproc.routine_calls import RoutineCalls
from dlprof_probes.inproc.syncs import Syncs
from dlprof_probes.inproc.waits import LEAST_NS, Waits


class Probe(object):
    """One per process; the hooks of Keras and of the engines take it as their argument.

    Attributes:
        recorder: `Recorder`.
        loops: `Loops`.
        lines: `Lines` or `NoLines`.
        wrappers: The module `wrappers`, compiled so that Python's own machinery overlooks it.
        patches: `Patches` of all hooks.
        causes: `Causes` of compilations.
        is_user_file: Function from a file name to whether it is the user's own code.
        windows: `Windows` or `NoWindows`.
        describe_model: Function from a model to facts about it, set by the hooks of Keras.
        goes_on: Whether the process will go on without the probe: a notebook's does, a script's does not.
        ended: Whether the process goes on without the probe: hooks that could not be taken back then do nothing.
        engines: `Engines`.
        waits: `Waits`.
        descriptions: `Descriptions`: what is told of models and of data.
        own_loops: `Watch`: what engines tell of training loops that the script wrote itself.
        loaders: `Loaders`: passes over loaders.
        native_calls: `NativeCalls`: when Python ran on threads of engines.
        syncs: `Syncs`: where the program asks for values of the device.
        growing: `GrowingInputs`: models that are called with all of a sequence for each new piece of it.
        trial: Settings that a trial run takes instead of the script's own (`overrides.py`).
        routine: `RoutineCalls`.
        loop_hooks: Name of a method that is a loop, such as fit, to what is called before and after each call of it.
        calls: One-element list: how often guarded hooks were called, about; for the ledger.
        missing: Names of what is not there in the versions that are loaded, and so is not hooked.
    """

    def __init__(self, recorder, loops, lines, wrappers, is_user_file, windows):
        self.missing = []
        self.calls = [0]
        self.goes_on = False
        self.ended = False
        self._broken = set()
        self.recorder = recorder
        self.loops = loops
        self.windows = windows
        self.describe_model = self.guard(lambda model: None)
        self.lines = lines
        self.wrappers = wrappers
        self.is_user_file = is_user_file
        self.patches = Patches()
        self.causes = Causes()
        self.waits = Waits(recorder, loops)
        self.own_loops = Watch(self)
        self.descriptions = Descriptions(self)
        self.loaders = Loaders(recorder, self.guard)
        self.native_calls = NativeCalls(self)
        self.syncs = Syncs(self)
        self.growing = GrowingInputs(self)
        self.trial = {}
        self.loop_hooks = {}
        self.routine = RoutineCalls(self)
        self.engines = Engines(self)
        recorder.thread_ends.ended = self.guard(self._thread_ended, goes_on=True)

    def guard(self, hook, default=None, goes_on=False):
        """`hook`, made unable to raise: the first failure is noted and ends its work.

        What the program sends itself passes: Ctrl-C, `sys.exit`, and what the handler of a signal raises.

        Args:
            hook: Any function.
            default: What a call gives that failed.
            goes_on: Its arguments are the program's own, so that a failure says nothing of the next call.
        """
        calls, broken = self.calls, self._broken

        def guarded(*args):
            calls[0] += 1
            if self.ended or (broken and hook in broken):
                return default
            try:
                return hook(*args)
            except Exception as error:
                if interrupts.is_from_handler(error):
                    raise
                self._failed(hook, error, goes_on)
                return default

        return guarded

    def guard_enter(self, hook):
        """The same for what begins spans and loops: where an exception comes out of it, none of them stays open."""
        calls, broken, stacks, running = self.calls, self._broken, self.recorder.stacks, self.loops.outer

        def guarded(*args):
            calls[0] += 1
            if self.ended or (broken and hook in broken):
                return None
            ident = get_ident()
            spans, loops = len(stacks.get(ident, ())), len(running.get(ident, ()))
            try:
                return hook(*args)
            except BaseException as error:
                self._unwind(spans, loops)
                if not isinstance(error, Exception) or interrupts.is_from_handler(error):
                    raise
                self._failed(hook, error, False)
                return None

        return guarded

    def _unwind(self, spans, loops):
        """End what a hook began on the calling thread; the program's own code goes on."""
        self.loops.unwind(loops)
        self.recorder.unwind(spans)
        if not spans:
            self.lines.resume()

    def failed(self, hook, error):
        """A hook that guards itself has failed, with what its arguments, the program's own, may be the cause of."""
        if interrupts.is_from_handler(error):
            raise error
        self._failed(hook, error, True)

    def _failed(self, hook, error, goes_on):
        """Note the failure of a hook. Want of memory or of stack is not its own: it will work again."""
        name = getattr(hook, "__qualname__", None) or type(hook).__name__
        told = "%s: %s" % (type(error).__name__, _text(error))
        if goes_on or isinstance(error, (MemoryError, RecursionError)):
            self.recorder.note_once("hook-missed " + name, "A call of %s was not recorded: %s" % (name, told))
        else:
            self._broken.add(hook)
            self.recorder.note("hook-failed", "%s was switched off: %s" % (name, told))

    def _thread_ended(self, ident):
        """The calling thread ends: so do its loops and its window, and nothing is kept by its number."""
        for part in (self.own_loops, self.loops, self.windows, self.routine, self.recorder):
            try:
                part.thread_ended(ident)
            except Exception as error:  # of one part: the others' are to end all the same
                self.failed(part.thread_ended, error)

    def end(self):
        """Take back all that was replaced, in a process that goes on."""
        self.ended = True
        self.patches.undo()

    def span(self, owner, name, kind, label=None, outermost=False, detail=None):
        """Record a span around each call of `owner.name`.

        Args:
            owner: Class or module; its attribute is replaced if it has one.
            name: Attribute.
            kind: `wire.SpanKind` of the span.
            label: Name of the span, or a function from the call's arguments to it.
            outermost: Only when no other span is open on the thread, so that hot inner calls cost nothing.
            detail: Function from the call's arguments to the span's detail, or None; asked when the call is over.
        """
        told_by = self.guard(detail) if detail else None

        def enter(args):
            stack = self.recorder.stack()
            if stack and (outermost or stack[-1][1] == kind):
                return None
            text = label(args) if callable(label) else label or name
            was_on = self.lines.pause()
            return self.recorder.begin(kind, text, _getframe(3)), was_on

        def leave(token, args):
            if token is not None:
                told = told_by(args) if told_by else None
                if told:
                    self.recorder.detail(token[0], told)
                self.recorder.end(token[0])
                self.lines.restore(token[1])

        return self.around(owner, name, enter, leave)

    def around(self, owner, name, enter, leave, again=False):
        """Call `enter(args)` before and `leave(token, args)` after each call of `owner.name`."""
        enter, leave = self.guard_enter(enter), self.guard(leave)
        return self.replace(owner, name, lambda original: self.wrappers.spanned(original, enter, leave), again)

    def replace(self, owner, name, make, again=False):
        """Replace `owner.name` by `make(original)`; what is not there is remembered for the report."""
        done = self.patches.replace(owner, name, make, again)
        if not done and name not in vars(owner):
            self.missing.append("%s.%s" % (getattr(owner, "__name__", owner), name))
        return done

    def overlay(self, owner, name, make):
        """As `replace`, also of what a class has of a base; a wrapper that is there stays inside."""
        return self.patches.overlay(owner, name, make)

    def waiting(self, owner, name):
        """Tell `waits` how long each call of `owner.name` takes: it may wait for the device."""
        over, waiting = self.guard(self.waits.over), self.wrappers.waiting
        return self.replace(owner, name, lambda f: waiting(f, self.waits, over, now, LEAST_NS), again=True)

    def loop(self, owner, name, kind):
        """Record a span and a loop around each call of `owner.name` (fit, evaluate, predict)."""
        enter, leave = self.loop_hooks[name] = self._loop_hooks(kind, name)
        if kind == wire.SpanKind.FIT:
            return self.replace(owner, name, lambda original: self.wrappers.spanned(original, enter, leave))
        begin, end, seen = self._routine_hooks(kind, name)
        again, predicted = self.wrappers.spanned_again, self.guard(self.growing.predicted, goes_on=True)

        def make(original):
            if kind == wire.SpanKind.PREDICT:
                original = self.wrappers.with_arguments(original, predicted)
            return again(original, enter, leave, (begin, end), seen, self.lines)

        return self.replace(owner, name, make)

    def _routine_hooks(self, kind, name):
        """What is called around each call of a method that may be called again and again for little; none raises."""
        method = self.routine.of(name, kind)

        def seen(token, args, kwargs):
            if token is not None:
                method.seen(_getframe(3), args, kwargs, token[2], self.recorder.noted_facts(token[0]))

        return self.guard(method.begin), self.guard(method.end), self.guard(seen, goes_on=True)

    def passing_by(self, owner, name, hook):
        """Have what `hook()` puts around `owner.name` stand aside in calls that are told in short."""
        original = vars(owner).get(name)
        hook()
        if vars(owner).get(name) is not original:
            inside = self.routine.inside
            self.replace(owner, name, lambda f: self.wrappers.passing_by(original, f, inside), again=True)
            self.loops.lifted.add(owner, name, original)

    def lifting(self, owner, name, make):
        """Replace `owner.name` by `make(original)`, but for stretches of calls that are told in short."""
        original = vars(owner).get(name)
        if self.replace(owner, name, make):
            self.loops.lifted.add(owner, name, original)

    def _loop_hooks(self, kind, name):
        """What is called before and after each call of a method that is a loop; neither raises."""

        def enter(args):
            stack = self.recorder.stack()
            if stack and any(open_kind == kind for _, open_kind in stack[-2:]):
                return None  # a method that calls its own base, or fit within fit's own machinery
            was_on = self.lines.pause()
            outermost, begun = not stack, now()
            # First of all: a garbage collection that one of our allocations sets off is part of the loop then.
            span = self.recorder.begin(kind, name, _getframe(3), begun)
            self._loop_begun(kind, span, begun)
            if outermost:
                self.lines.save(at_most_every_s=5)
            is_model = bool(args) and self.descriptions.model(span, args[0])
            is_training = outermost and kind == wire.SpanKind.FIT and is_model
            if is_training:
                self.descriptions.training(span, args[0])
            loop = self.loops.open(span, kind)
            if is_training:
                self.descriptions.held_by_model(loop, args[0])
            return span, was_on, loop, is_training

        def leave(token, _args):
            if token is not None:
                span, was_on, loop, is_training = token
                self.waits.evaluated(loop, now())
                self.loops.close(loop)
                if is_training:
                    self.descriptions.memory(span)
                self.recorder.end(span)
                self.lines.restore(was_on)

        return self.guard_enter(enter), self.guard(leave)

    def _loop_begun(self, kind, span, begun):
        """What is to be known of a training before anything is converted, and before our own facts take memory."""
        if kind == wire.SpanKind.FIT:
            self.recorder.detail(span, {"memory": process_memory.at(begun)})
        else:
            self.recorder.note_facts(span)

    def on_batch(self, owner, name, label=None):
        """Record a step around each call of `owner.name` (train_on_batch and its kin)."""
        label = label or name

        def enter(args):
            was_on = self.lines.pause()
            loop = self.loops.enter_on_batch(label)
            if loop is not None and not loop.described:
                loop.described = True
                model = self.describe_model(args[0])
                if model and model["layers"]:
                    self.recorder.detail(loop.span, {"model": model})
                    self.descriptions.training(loop.span, args[0])
                    self.descriptions.held_by_model(loop, args[0])
                loop.batches = BatchShapes(lambda told: self.recorder.detail(loop.span, told))
            if loop is not None and loop.batches is not None and len(args) > 1:
                loop.batches.seen(args[1])
            return loop, was_on

        def leave(token, _args):
            if token[0] is not None:
                self.loops.leave_on_batch(token[0])
            self.lines.restore(token[1])

        return self.around(owner, name, enter, leave)

    def epoch(self, owner, name):
        """Record an epoch of the running loop around each call of `owner.name`; they are counted from 0."""

        def enter(_args):
            loop = self.current_loop()
            if loop is None:
                return None
            number = max(0, loop.epoch + 1)
            span = self.recorder.begin(wire.SpanKind.EPOCH, str(number))
            loop.start_epoch(number)
            return span

        def leave(span, _args):
            if span is not None:
                self.recorder.end(span)

        return self.around(owner, name, enter, leave)

    def step(self, owner, name):
        """Record a step of the running loop around each call of `owner.name`."""

        def enter(_args):
            loop = self.current_loop()
            if loop is not None:
                loop.begin = now()
            return loop

        def leave(loop, _args):
            if loop is not None and loop.begin:
                loop.finish((None, loop.step_index), now())

        return self.around(owner, name, enter, leave)

    def annotated(self, owner, name, label):
        """Put a range called `label(args)` around each call of `owner.name` in the traces of kernels."""
        windows = self.windows

        def enter(args):
            return None if windows.active is None else windows.annotation(label(args))

        def leave(end, _args):
            if end is not None:
                end()

        return self.around(owner, name, enter, leave, again=True)

    def current_loop(self):
        """The loop that runs on the calling thread, or None."""
        return self.loops.current.get(get_ident())

    def graph_compile(self, owner, name, label=None, in_loops=False, when=None, signature=None, stage=None):  # noqa: PLR0913, PLR0917
        """Record a compilation around each call of `owner.name`, and count it.

        Args:
            owner: Class or module.
            name: Attribute.
            label: Function from the call's arguments to the name of the span.
            in_loops: Only inside fit, evaluate and predict.
            when: Function from the call's arguments to whether it compiles; None: each call does.
            signature: Function from the call's arguments to what `Causes.note` takes, or None.
            stage: Which part of making a graph the call is, but for what is told in it apart (`SpanKind.GRAPH_STAGE`);
                None: the engine does not tell.
        """
        told = self.guard(signature or (lambda _args: None))

        def enter(args):
            if (in_loops and self.current_loop() is None) or (when is not None and not when(args)):
                return None
            self.loops.compiles[0] += 1
            self.loops.compiled_at = now()
            known = told(args)
            cause = self.causes.note(*known) if known else None
            if any(kind == wire.SpanKind.GRAPH_COMPILE for _, kind in self.recorder.stack()):
                return None
            text = label(args) if label else name
            was_on = self.lines.pause()
            span = self.recorder.begin(wire.SpanKind.GRAPH_COMPILE, text, _getframe(3))
            facts = {"compiled": cause} if cause else {}
            if stage:
                facts["graph"] = {"stage": stage}
            if facts:
                self.recorder.detail(span, facts)
            return span, was_on

        def leave(token, _args):
            if token is not None:
                self.recorder.end(token[0])
                self.lines.restore(token[1])

        return self.around(owner, name, enter, leave)


def _text(error):
    """What an exception says of itself; one of the program's own may fail at that."""
    try:
        return str(error)
    except Exception:
        return "?"
