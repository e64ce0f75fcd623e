"""Joins the hooks of engines to the loops that are found, thread by thread; silent under Keras and marks."""

import weakref
from sys import _getframe
from threading import get_ident

from dlprof_probes import wire
from dlprof_probes.inproc.clock import now
from dlprof_probes.inproc.inferred.core import OwnLoops
from dlprof_probes.inproc.inferred.log import Log
from dlprof_probes.inproc.inferred.sites import Sites, names_in, objects_in
from dlprof_probes.inproc.inferred.stretches import Stretches
from dlprof_probes.inproc.thread_ends import others_are_waited_for

_IMPORT = wire.SpanKind.IMPORT
_ORPHANS_TOLD = 3
"""Fewer updates without a loop around them are no training loop."""


class Earlier(object):
    """A call that is over, and the site from which it came."""

    def __init__(self, begin, end, site, frame, sites):
        self.begin = begin
        self.end = end
        self._sites = sites
        self.path = site.path
        self.where = site.where
        self.called_from = site.called_from
        self._turns = site.turns(frame)
        self._count = site.count(frame)
        self._turn = site.turn(frame)

    def turns(self, _frame):
        """As `Site.turns`, at the time of the call."""
        return self._turns

    def turn(self, _frame):
        """As `Site.turn`, at the time of the call."""
        return self._turn

    def count(self, _frame):
        """As `Site.count`, at the time of the call."""
        return self._count

    def frames(self, frame):
        """Those of a later call, made by `frame`: its own are gone."""
        return self._sites.look(frame).frames(frame)


class Watch(object):
    """What the engines tell of training loops.

    Args:
        probe: `Probe`.

    Attributes:
        sites: `Sites`.
        updated: How often weights were, so far.
    """

    def __init__(self, probe):
        self.updated = 0
        self.sites = Sites(probe.is_user_file)
        self._probe = probe
        self._log = Log(probe)
        self._current = probe.loops.current
        self._stacks, self._idle = probe.recorder.stacks, probe.recorder.idle_since
        self._threads = {}
        self._iterators = {}
        self._tokens = {}
        self._next_token = 0
        self._not_training = {}
        self._stretches = {}
        self._evaluated_at = set()
        self._made = 0
        self._orphans = 0
        self._is_over = False
        self._left_behind = set()
        """Threads that go on as Python ends, until it stops them."""
        self._calls = probe.calls
        self.opened = probe.guard(self._opened, goes_on=True)
        self.goes_on = probe.guard(self._goes_on, goes_on=True)
        self.asked = probe.guard(self._asked, goes_on=True)
        self._left = probe.guard(self._iterator_gone, goes_on=True)
        self.end_script = probe.guard(self._end_script, goes_on=True)
        self.finish = probe.guard(self._finish, goes_on=True)

    def _own(self):
        """The loops of the calling thread; None: Keras or a mark says what runs."""
        if self.is_silent():
            return None
        ident = get_ident()
        found = self._threads.get(ident)
        if found is None and not self._probe.ended and not self._is_over and ident not in self._left_behind:
            self._probe.recorder.thread_ends.watch()
            found = self._threads[ident] = OwnLoops(self._log, self._made)
        return found

    def is_silent(self):
        """Whether Keras or a mark says what the calling thread does: a loop of its own that it was in is over then."""
        ident = get_ident()
        if not self._is_told(ident):
            return False
        found = self._threads.get(ident)
        if found is not None:
            found.interrupted()
        return True

    def _is_told(self, ident):
        if self._current.get(ident) is not None:
            return True
        return any(kind != _IMPORT for _, kind in self._stacks.get(ident) or ())

    def token(self, thing):
        """A number that no other object has, nor will have."""
        known = self._tokens.get(id(thing))
        if known is not None:  # it lives, or it would have been taken out
            return known[1]
        self._next_token += 1
        key, tokens = id(thing), self._tokens
        tokens[key] = (weakref.ref(thing, lambda _gone: tokens.pop(key, None)), self._next_token)
        return self._next_token

    # -- what engines tell -------------------------------------------------------------------------------

    def update(self, engine, optimizer, begin=0):
        """An optimiser has just changed the weights, in a call that began at `begin` (ns), if that is known.

        Hot, as are `asking` and `given`: they guard themselves, which takes half the time of `Probe.guard`.
        """
        self._calls[0] += 1
        self.updated += 1
        try:
            ident = get_ident()
            own = self._threads.get(ident)
            if own is None or self._stacks.get(ident) or self._current.get(ident) is not None:
                own = self._own()
                if own is None:
                    return
            end = now()
            idle = self._idle.get(ident, begin if not own.idle_since else 0)
            own.idle_since = max(own.idle_since, idle)
            if self._not_training and self._not_training.pop(ident, None):
                self._changed(own, ident)
            known, frame = self._tokens.get(id(optimizer)), _getframe(1)
            token = known[1] if known is not None else self.token(optimizer)
            site = self.sites.look(frame)
            own.update(token, end, site, frame, engine, optimizer)
            if own.padding.left and not own.is_fed():
                self._see_at_hand(own, site.frames(frame))
        except Exception as error:
            self._probe.failed(self.update, error)

    def turned(self, engine, optimizer):
        """An optimiser has changed the weights in a loop of its own: an update, where the program has none around."""
        if len(self.sites.look(_getframe(1)).path) == 1:
            self.update(engine, optimizer)

    def earlier(self, begin):
        """A call that may turn out to be the first update of a training; gives what `repeated` needs to know of it."""
        if self._is_told(get_ident()):
            return None
        frame = _getframe(1)
        return Earlier(begin, now(), self.sites.look(frame), frame, self.sites)

    def repeated(self, engine, state):
        """A call has updated a state of weights, which stands for them; so have those that it has as `earlier`."""
        self.told(engine, state)
        self.update(engine, state)

    def told(self, engine, state):
        """Calls that a state of weights has as `earlier` (a list, empty afterwards) are known to be updates of it."""
        calls, state.earlier = state.earlier, []
        own = self._own() if calls else None
        for call in calls if own is not None else ():
            if call.path:
                own.idle_since = max(own.idle_since, call.begin)
                own.update(self.token(state), call.end, call, _getframe(1), engine, state)

    def updates(self, engine, owner, name, is_real=lambda args: True):
        """Each call of the method `owner.name` is an update by its object, where `is_real(args)` says so."""
        update = self.update

        def leave(begin, args):
            if is_real(args):
                update(engine, args[0], begin)

        return self._probe.around(owner, name, lambda _args: now(), leave, again=True)

    def gradient(self, target, begin):
        """A gradient of a loss was taken, in a call that began at `begin` (ns), and may be taken of it again."""
        own = self._own()
        if own is not None:
            own.same_loss.taken(target, now() - begin, self.sites.look(_getframe(1)).line)

    def made(self):
        """An optimiser was made: a training without a loader has not begun before.

        What another training's model was asked before, behind its last update, was its evaluation.
        """
        ident = get_ident()
        own, found = self._threads.get(ident), self._stretches.get(ident)
        if own is not None and found is not None and found.found and own.is_training():
            self._tell_evaluated(found, self._own())
        self._made = now()
        for own in list(self._threads.values()):
            own.idle_since = max(own.idle_since, self._made)

    def _goes_on(self, is_value=False):
        """An engine has done something else than an update: in a loop of a training, that lasted until now.

        Args:
            is_value: A value was waited for.
        """
        own = self._threads.get(get_ident())
        if own is not None and own.is_training():
            path, end = self.sites.look(_getframe(1)).path, now()
            own.goes_on(path, end)
            if is_value:
                own.waited(path, end)

    def _asked(self):
        """What is trained was asked, and no gradient was taken."""
        own = self._threads.get(get_ident())
        if own is not None and own.is_training():
            own.asked(now(), self.sites.look(_getframe(1)))

    def is_in_training(self):
        """Whether the caller is in the loops of a training that has begun."""
        own = self._threads.get(get_ident())
        return own is not None and own.is_training() and own.is_in_training(self.sites.look(_getframe(1)))

    def evaluating(self):
        """The program said that a model is not being trained from here on."""
        self.asks_only()
        self._stretches_of(get_ident()).switched_off()

    def asks_only(self):
        """It asks a model for something and wants no gradients: with what a loader gives it evaluates then."""
        self._not_training[get_ident()] = True

    def is_asking(self):
        """Whether it has asked a model so since it last changed weights, or `trains_or_asks`."""
        return self._not_training.get(get_ident(), False)

    def trains_or_asks(self):
        """What it asked before says nothing of what comes now."""
        self._not_training.pop(get_ident(), None)

    def training(self):
        """It said that one is. Hot: called for each part of a model."""
        ident = get_ident()
        found = self._stretches.get(ident)
        if found is not None and found.switched_on():
            self._tell_evaluated(found, self._own())

    def gradients_off(self, holder):
        """No gradients are wanted until `holder` says so. Hot."""
        found = self._stretches_of(get_ident())
        if found.holder is None:
            found.begun(holder, now())

    def gradients_on(self, holder, is_by_program):
        """They are again; `is_by_program` tells of the frame that asks whether the program did that. Hot."""
        found = self._stretches.get(get_ident())
        if found is None or found.holder is not holder or not found.ended() or not is_by_program(_getframe(1)):
            return
        own = self._own()
        if own is None:
            return
        own.paused_at = own.paused_at or found.begin
        if found.add(now(), self.sites.look(_getframe(1))):
            self._tell_evaluated(found, own)

    def _stretches_of(self, ident):
        found = self._stretches.get(ident)
        if found is None:
            found = self._stretches[ident] = Stretches()
        return found

    def _changed(self, own, ident):
        """Weights were changed."""
        own.paused_at = 0
        found = self._stretches.get(ident)
        if found is not None:
            found.updated()

    def _tell_evaluated(self, found, own, is_last=False):
        """What was found is an evaluation; `is_last`: if it was made in a training, for nothing came behind it."""
        stretches = found.take()
        if own is None:
            return
        for begin, end, site in stretches:
            if own.is_in_training(site) or (self._made and not is_last) or site.line in self._evaluated_at:
                own.evaluated(begin, end, site)
                self._evaluated_at.add(site.line)
        own.paused_at = 0

    def _opened(self, iterator, begin, facts=None, tells=False):
        """The program has made an iterator of a loader, in a call that began at `begin` (ns)."""
        own = self._own()
        if own is None:
            return
        key, ident, left = self.token(iterator), get_ident(), self._left
        # What a loop was left with by `break` is gone at once: that tells when.
        self._iterators[key] = weakref.ref(iterator, lambda _gone: left(key, ident))
        own.input_opened(key, begin, self.sites.look(_getframe(1)), facts, tells)

    def asking(self, is_evaluating):
        """A function that is to be called with an iterator before it is asked for its next item.

        Args:
            is_evaluating: Function that says whether the model is not being trained now.
        """
        calls, threads, tokens, failed = self._calls, self._threads, self._tokens, self._probe.failed

        def asked(iterator):
            calls[0] += 1
            own, known = threads.get(get_ident()), tokens.get(id(iterator))
            if own is not None and known is not None:
                try:
                    own.input_begin(known[1], now(), is_evaluating())
                except Exception as error:
                    failed(asked, error)

        return asked

    def given(self, iterator, item=None):
        """It has given an item."""
        self._calls[0] += 1
        own, known = self._threads.get(get_ident()), self._tokens.get(id(iterator))
        if own is not None and known is not None:
            try:
                own.input_end(known[1], now())
                if own.padding.left:
                    self._see_padding(own, item)
            except Exception as error:
                self._probe.failed(self.given, error)

    def batch(self, batch):
        """The program trains with this one, which no loader gave."""
        own = self._own()
        if own is not None and own.padding.left:
            self._see_padding(own, batch)

    def _see_at_hand(self, own, frames):
        """Look for padding in what the program has at hand where it trains: no loader gave it."""
        begin = now()
        if own.padding.see_made([value for one in frames for _, value in objects_in(names_in(one))]):
            self._probe.recorder.complete(wire.SpanKind.DLPROF, "look for padding", begin, now())

    def _see_padding(self, own, batch):
        begin = now()
        if own.padding.see(batch):
            self._probe.recorder.complete(wire.SpanKind.DLPROF, "look for padding", begin, now())

    def ending(self, is_evaluating):
        """The same for its end: it has no more items, or asking it failed."""
        return self._probe.guard(lambda iterator: self._over(iterator, is_evaluating()), goes_on=True)

    def _over(self, iterator, evaluates):
        """A loader has given all, or was left."""
        ident = get_ident()
        own = self._threads.get(ident)
        if own is not None:
            own.input_over(self.token(iterator), now(), evaluates or self._not_training.get(ident, False))

    def _iterator_gone(self, key, ident):
        """An iterator is no more; where the garbage collector finds it on another thread, that tells no time."""
        self._iterators.pop(key, None)
        own = self._threads.get(ident)
        if own is not None and ident == get_ident():
            own.input_over(key, now(), self._not_training.get(ident, False))

    def _finish(self):
        """The process is over; says what could not be told."""
        self._is_over = True
        for ident in list(self._threads):
            self.thread_ended(ident)
        self._stretches.clear()
        if self._orphans >= _ORPHANS_TOLD:
            text = (
                "%d updates of weights have no loop of Python code around them: they are in no step. Marks tell steps:"
                " `for batch in mark.steps(batches)` (dlprof help marks)."
            )
            self._probe.recorder.note_once("loop-not-told", text % self._orphans, "info")

    def _end_script(self):
        """The main thread's code is over: so is what daemons do, unless Python waits for another thread."""
        ours = get_ident()
        ending = [ours] if others_are_waited_for() else list(self._threads)
        self._left_behind.update(ident for ident in ending if ident != ours)
        for ident in ending:
            self.thread_ended(ident)

    def thread_ended(self, ident):
        """That thread ends: its loops ended with their last step, and one that gets its number is in none of them."""
        own = self._threads.pop(ident, None)
        if own is not None:
            self._orphans += own.orphans
            self._tell_evaluated(self._stretches_of(ident), own, is_last=True)
            own.finish(now())
        self._stretches.pop(ident, None)
        self._not_training.pop(ident, None)

    def forget(self):
        """This is a forked child."""
        self._threads.clear()
        self._stretches.clear()
