"""Steps, epochs and evaluations out of what a training loop does: events in, loops out; no engine, no clock.

A step ends with the update of the weights: where the next batch is asked for, or else with the update itself. Several
optimisers that step in turn are one step: it is over when the first of them steps again, in another turn of the loop as
far as that is known. A loader's items that no update follows, while the model is not being trained, are the steps of an
evaluation.
"""

from dlprof_probes.inproc.inferred.feeds import Asked, Feed, OpenedOnce
from dlprof_probes.inproc.inferred.fits import Fit, Step
from dlprof_probes.inproc.inferred.gradients import SameLoss
from dlprof_probes.inproc.padding import Padding

TRAIN, EVALUATE = "fit", "evaluate"


class OwnLoops(object):
    """The loops of one thread.

    Args:
        log: Takes what is found: `open(kind, begin, where, facts, cause)`, which gives a handle, `epoch(handle, number,
            begin)`, `end_epoch(handle, end)`, `step(handle, begin, end, waited, count, batches)`, `close(handle, end)`;
            before that `opened_once(handle, count, place)`, where loaders gave one item each, and
            `same_loss(handle, SameLoss)`, where gradients of one loss were taken several times, and `padding(handle,
            facts)`, where its batches have rows of whole numbers.

    Attributes:
        idle_since: From when on a first step may have begun, where no loader tells (ns).
        paused_at: Since when (ns) it does what may turn out to be an evaluation (`evaluated`); 0: it does not.
        orphans: Updates that no loop is around.
        same_loss, padding: `SameLoss`, `Padding`: what was seen since the last training.
    """

    def __init__(self, log, idle_since=0):
        self.idle_since = idle_since
        self.paused_at = 0
        self.orphans = 0
        self._log = log
        self._fit = None
        self._feeds = {}
        self._left = {}
        self._asked = None
        self._fed_until = 0
        self._gone = OpenedOnce()
        """Since the last update, those that are gone already."""
        self.same_loss = SameLoss()
        self.padding = Padding()

    # -- updates -----------------------------------------------------------------------------------------

    def update(self, optimizer, end, site, frame=None, *cause):
        """An optimiser has changed the weights.

        Args:
            optimizer: What tells it from others; never that of another one, also of one that is gone.
            end: When it was done (ns).
            site: Where it was called: `sites.Site`.
            frame: The frame that called.
            cause: What the log needs to describe the training: engine and optimiser.
        """
        fit = self._fit
        if fit is None or fit.usual_site is not site or fit.usual != optimizer or fit.step is not None:
            self._any_update(optimizer, end, site, frame, cause)
        elif fit.feed is None:
            turns = site.turns(frame)
            number = site.count(frame) if turns and turns[0] is None else None
            if self._feeds or self._gone.count or turns != fit.turns or fit.inner.begins_anew(number):
                self._any_update(optimizer, end, site, frame, cause)
            else:
                fit.inner.seen(number)
                fit.last = self._log.step(fit.handle, fit.last, end, None, 1, 0)
        elif fit.feed.items == 1 and fit.feed.evaluation is None and len(self._feeds) == 1:
            self._usual_update(fit, fit.feed, end)
        else:
            self._any_update(optimizer, end, site, frame, cause)

    def _any_update(self, optimizer, end, site, frame, cause):
        """An update that is not known to be like the one before."""
        fit = self._fit
        path = site.path
        if not path:
            self.orphans += 1
            return
        self._leave_evaluations()
        feed, waited = self._leading(path)
        turns = None
        if fit is not None:
            if fit.feed is None and feed is None:
                turns = site.turns(frame)
            if self._is_another(fit, optimizer, site, feed, turns, frame):
                self._close_fit()
                fit = None
        if fit is not None and fit.step is not None and self._is_over(fit.step, optimizer, site, frame):
            fit.closing = fit.step.closing()
            self._end_step(fit, fit.step.end)
        if fit is None:
            fit = self._open_fit(feed, site, frame, end, cause)
            turns = fit.turns
        begins = fit.step is None
        if begins:
            self._begin_step(fit, path, feed, waited, self._turned(fit, turns, site, frame))
        is_last = fit.feed is None and fit.closing in (optimizer, (optimizer, site))
        if begins and not is_last:  # else it is over here
            fit.step.turn = site.turn(frame)
        is_alone = begins and (fit.feed is feed if feed is not None else is_last)
        fit.usual, fit.usual_site = optimizer, site if is_alone else None
        self._took_part(fit, optimizer, site, end)
        if is_last or self._was_fed_ahead(fit):
            self._end_step(fit, end)

    @staticmethod
    def _was_fed_ahead(fit):
        """Whether a step is over that began when its loader was: nobody will ask that for another item.

        What fetches items ahead (Ray Train's, and other wrappers that move them to a device) has the last ones then.
        """
        before = fit.before
        return (
            fit.feed is not None and fit.feed.over and before is not None and fit.step.optimizers == before.optimizers
        )

    @staticmethod
    def _turned(fit, turns, site, frame):
        """Whether the loop around has turned: its variable says so; else the count of the inner one."""
        if not turns:
            return False
        before, fit.turns = fit.turns, turns
        if turns[0] is not None:
            return turns != before
        number = site.count(frame)
        turned = fit.inner.begins_anew(number)
        fit.inner.seen(number)
        return turned

    @staticmethod
    def _usual_update(fit, feed, end):
        """The same as `update`, for a step that is like the one before. Hot."""
        fit.step = step = fit.before
        begin, last, waited = feed.first, fit.last, feed.waited
        step.begin = begin = begin if begin > last else last
        step.waited = waited if waited < begin - last else begin - last
        step.items = 1
        step.end = end
        feed.items = feed.waited = 0
        feed.updated = True

    def _leading(self, path):
        """The loader whose item the step began with, unless it is opened anew in each step; and the wait for items."""
        found, waited = None, 0
        for feed in self._feeds.values():
            if feed.items and feed.evaluation is None:
                waited += feed.waited
                if (feed.tells or path[0] not in feed.path) and (found is None or feed.first < found.first):
                    found = feed
        return found, waited + self._gone.waited if found is None else waited

    @staticmethod
    def _is_another(fit, optimizer, site, feed, turns, frame):
        """Whether this update is none of the training that runs."""
        path = site.path
        if not fit.own.intersection(path):
            return True
        if optimizer in fit.optimizers or path[0] not in fit.leaves:
            return False
        # An optimiser that was not there before, in the same loop: of this turn, as in a GAN, or a new training.
        if feed is not None:
            return fit.feed is not None and feed is not fit.feed and fit.feed.is_before(feed)
        if turns is None or fit.turns is None:
            return False
        # `while` around it, as of a worker that takes jobs, tells no turns; that the inner one counts anew does.
        if turns and turns[0] is None and fit.inner.begins_anew(site.count(frame)):
            return True
        # Without a loop around, the loop was entered anew where its function was called at another place.
        return turns != fit.turns or (
            not turns and None not in (site.called_from, fit.called_from) and site.called_from != fit.called_from
        )

    def _is_over(self, step, optimizer, site, frame):
        if optimizer in step.optimizers:
            return not self._is_same_turn(step, optimizer, site, frame)
        ours, theirs = step.path, site.path
        short, long = (ours, theirs) if len(ours) <= len(theirs) else (theirs, ours)
        return long[len(long) - len(short) :] != short  # loops beside each other: each has its steps

    def _is_same_turn(self, step, optimizer, site, frame):
        """Whether an optimiser that took part steps again in the turn of the loop that the step is of, at another line.

        As where an encoder is trained to reconstruct first, and to deceive afterwards.
        """
        if step.turn is None or site.path != step.path or (optimizer, site) in step.calls:
            return False
        return site.turn(frame) == step.turn and not any(feed.items for feed in self._feeds.values())

    def _open_fit(self, feed, site, frame, end, cause):
        begin = feed.opened if feed is not None else min(end, self.idle_since or end)
        fit = self._fit = Fit(site.path, begin, feed)
        if feed is None:
            fit.turns = site.turns(frame)
        facts = feed.facts if feed is not None else {}
        fit.handle = self._log.open(TRAIN, begin, site.where, facts, cause + (site.frames(frame),))
        return fit

    def _begin_step(self, fit, path, feed, waited, turned):
        """A step begins with its first batch, or where the one before ended; `turned`: the loop around has."""
        begin, is_first = fit.last, fit.epoch < 0
        if feed is not None:
            begin = max(begin, feed.first)
            if is_first or fit.feed is None or (feed is not fit.feed and fit.feed.is_before(feed)):
                self._begin_epoch(fit, max(fit.last, feed.opened))
                fit.feed = feed
        elif is_first or turned:
            self._begin_epoch(fit, begin)
        step = fit.step = Step(begin, path)
        if waited:  # a wait inside the step is told as one before it, which begins that much later
            inside = waited - (feed.first_waited if feed is not None else 0)
            step.begin += inside
            step.waited = min(waited, step.begin - fit.last)
        step.items = feed.items if feed is not None else 0

    def _begin_epoch(self, fit, begin):
        if fit.epoch >= 0:
            self._log.end_epoch(fit.handle, begin)
        fit.epoch += 1
        self._log.epoch(fit.handle, fit.epoch, begin)

    def _took_part(self, fit, optimizer, site, end):
        path = site.path
        fit.called_from = site.called_from
        fit.step.optimizers.append(optimizer)
        fit.step.calls.append((optimizer, site))
        fit.step.end = end
        fit.optimizers.add(optimizer)
        fit.leaves.add(path[0])
        if self._gone.count:
            fit.opened_once.add(self._gone.count, self._gone.place)
            self._gone = OpenedOnce()
        for feed in self._feeds.values():
            if feed.items:
                if feed.count == 1 and path[0] in feed.path:
                    fit.opened_once.add(1, feed.place)
                feed.updated = feed.evaluation is None
                feed.taken()

    def _end_step(self, fit, end):
        step = fit.before = fit.step
        fit.step = None
        fit.last = end  # also where telling it fails
        fit.last = self._log.step(fit.handle, step.begin, max(end, step.begin), step.waited, 1, step.items)

    def _close_fit(self):
        fit, self._fit = self._fit, None
        self._leave_asked()
        if fit.step is not None:
            self._end_step(fit, fit.step.end)
        end = max(fit.last, fit.lasts)
        if fit.epoch >= 0:
            self._log.end_epoch(fit.handle, end)
        if fit.opened_once.count:
            self._log.opened_once(fit.handle, fit.opened_once.count, fit.opened_once.place)
        self._tell_seen(fit)
        self._log.close(fit.handle, end)
        self.idle_since = max(self.idle_since, end)

    def _tell_seen(self, fit):
        same, self.same_loss = self.same_loss, SameLoss()
        same.over()
        if same.losses:
            self._log.same_loss(fit.handle, same)
        filled, self.padding = self.padding.facts(), Padding()
        if filled is not None:
            self._log.padding(fit.handle, filled)

    def is_fed(self):
        """Whether it iterates over something that gives batches."""
        return bool(self._feeds)

    def is_training(self):
        """Whether a training runs, or has not been told to be over."""
        return self._fit is not None

    def goes_on(self, path, end):
        """Something else was done until `end` (ns); in a loop of the training, that lasted until then."""
        fit = self._fit
        if fit is not None and fit.own.intersection(path):
            fit.lasts = end

    # -- evaluations without a loader --------------------------------------------------------------------

    def evaluated(self, begin, end, site):
        """What is trained was asked and not trained, from `begin` to `end` (ns), all at once.

        Where a loader gave what it was asked of, that tells more: see `input_over`.
        """
        unused = self._unused_feeds(end)
        for feed in unused:
            feed.looked = True
        if unused or begin < self._fed_until:
            return
        fit = self._fit
        if fit is not None and not fit.own.intersection(site.path):
            self._close_fit()
        elif fit is not None:
            self._pause(fit, begin)
        asked = self._asked
        if asked is None or asked.place != site.line:
            self._leave_asked()
            asked = self._asked = Asked(self._log.open(EVALUATE, begin, site.line, {}, None), site.line)
        self._end_asked(asked)
        asked.begin, asked.end = begin, end

    def asked(self, end, site):
        """As `evaluated`, where it is not known when that began: behind what was known before it.

        In the innermost loop of a training it is taken for a part of a step, as what tells of its progress, or acts.
        """
        fit = self._fit
        if not self.is_in_training(site) or fit.leaves.intersection(site.path):
            return
        before = [fit.last, fit.lasts]
        if fit.step is not None:
            before.append(fit.step.end)
        if self._asked is not None:
            before.append(self._asked.end)
        self.evaluated(max(before), end, site)

    def waited(self, path, end):
        """A value was waited for until `end` (ns): in the loop of epochs, that of an evaluation."""
        fit = self._fit
        if self._asked is not None and fit is not None and not fit.leaves.intersection(path):
            self._asked.end = end

    def is_in_training(self, site):
        """Whether a call is made in the loops of the training that runs."""
        return self._fit is not None and bool(self._fit.own.intersection(site.path))

    def _unused_feeds(self, end):
        """Loaders that gave something before `end` (ns), and nothing that was trained with."""
        return [feed for feed in self._feeds.values() if feed.items and not feed.updated and feed.first < end]

    def _pause(self, fit, begin):
        """Its step is over, if one runs; the next update is told as one that is not like the one before."""
        step, fit.usual_site = fit.step, None
        if step is None:
            return
        if fit.feed is None:
            fit.closing = step.closing()
        self._end_step(fit, step.end if fit.feed is None else max(begin, step.end))

    def _end_asked(self, asked):
        if asked.end:
            self._log.step(asked.handle, asked.begin, asked.end, None, 1, 0)

    def _leave_asked(self):
        """It is trained again, or all is over."""
        asked, self._asked = self._asked, None
        if asked is None:
            return
        self._end_asked(asked)
        self._log.close(asked.handle, asked.end)
        if self._fit is not None:
            self._fit.last = max(self._fit.last, asked.end)
        self.idle_since = max(self.idle_since, asked.end)

    def _until(self, step, time):
        """When a step is over, at the latest: what may be an evaluation is none of it."""
        return min(time, self.paused_at) if self.paused_at >= step.end else time

    # -- input -------------------------------------------------------------------------------------------

    def input_opened(self, key, time, site, facts=None, tells=False):
        """A loader is iterated from now on; `key` tells this iteration from others.

        Args:
            key: Number.
            time: When (ns).
            site: `sites.Site`.
            facts: What is known of the loader.
            tells: It is one that begins its epochs itself, in the middle of a loop over steps.
        """
        if key in self._feeds:
            self.input_over(key, time)
        self._leave_asked()
        fit = self._fit
        if fit is not None:
            if fit.step is not None and (tells or fit.step.path[0] not in site.path):
                self._end_step(fit, self._until(fit.step, time))
            if not (tells or fit.own.intersection(site.path)):
                self._close_fit()
        self._feeds[key] = Feed(time, site.path, site.line, facts or {}, tells)

    def input_begin(self, key, time, evaluates):
        """The next item is asked for; `evaluates`: the model is not being trained now."""
        feed = self._feeds.get(key)
        if feed is None and key in self._left:
            feed = self._feeds[key] = self._left.pop(key)
            feed.opened = time
        if feed is None:
            return
        feed.asked = time
        fit = self._fit
        if feed.evaluation is not None:
            self._end_evaluated(feed, time)
        elif fit is not None and fit.step is not None and fit.feed is feed:
            self._end_step(fit, self._until(fit.step, time))
        elif evaluates and feed.items == 1 and not feed.updated:
            self._evaluate(feed, time)

    def input_end(self, key, time):
        """It was handed out."""
        feed = self._feeds.get(key)
        if feed is None:
            return
        feed.count += 1
        if not feed.items:
            feed.first, feed.first_waited = time, time - feed.asked
        feed.items += 1
        feed.waited += time - feed.asked

    def input_over(self, key, time, evaluates=False):
        """There are no more items, or nobody asks for them."""
        self._left.pop(key, None)
        feed = self._feeds.pop(key, None)
        if feed is None:
            return
        feed.over = True
        fit = self._fit
        evaluates = evaluates or feed.looked
        if feed.count == feed.items == 1 and not evaluates:
            self._gone.add(1, feed.place, feed.waited)
        if feed.evaluation is None and evaluates and feed.items and not feed.updated:
            self._evaluate(feed, time)
        elif feed.evaluation is not None and feed.items:
            self._end_evaluated(feed, time)
        elif fit is not None and fit.step is not None and fit.feed is feed:
            self._end_step(fit, self._until(fit.step, time))
        if feed.evaluation is not None:
            self._close_evaluation(feed, time)

    def _evaluate(self, feed, time):
        """What was handed out was evaluated: all items since `iter`."""
        feed.evaluation = self._log.open(EVALUATE, feed.opened, feed.place, feed.facts, None)
        self._end_evaluated(feed, time)

    def _end_evaluated(self, feed, time):
        if feed.items:
            self._log.step(feed.evaluation, feed.first, time, feed.waited, feed.items, 0)
        feed.taken()

    def _leave_evaluations(self):
        """An update: what is still open is over."""
        self._leave_asked()
        for key, feed in list(self._feeds.items()):
            if feed.evaluation is not None:
                self._leave(key, feed)

    def _leave(self, key, feed):
        """Training goes on, and nobody has asked an evaluation's loader for its end: it is over until it is asked.

        As with a fetcher that knows how many items there are. It lasted until another loader was opened, or asked.
        """
        since = feed.first if feed.items else feed.asked
        others = [other for other in self._feeds.values() if other is not feed]
        times = [time for other in others for time in (other.opened, other.asked) if time >= since]
        end = min(times) if times else since
        self._end_evaluated(feed, end)
        self._close_evaluation(feed, end)
        feed.evaluation = None
        self._left[key] = self._feeds.pop(key)

    def _close_evaluation(self, feed, time):
        self._log.close(feed.evaluation, time)
        self._fed_until = time
        if self._fit is not None:
            self._fit.last = max(self._fit.last, time)
        self.idle_since = max(self.idle_since, time)

    # -- end ---------------------------------------------------------------------------------------------

    def interrupted(self):
        """Keras, or a mark, has taken over: what ran here is over."""
        if self._fit is not None:
            self._close_fit()

    def finish(self, time):
        """The program is over."""
        for key in list(self._feeds):
            self.input_over(key, time)
        self._leave_asked()
        self.interrupted()
