"""The functions that stand between the user's code and Keras while it runs.

This file is compiled under the file name of Python's import machinery (see `session.load_wrappers`):
`warnings.warn(stacklevel=…)` then does not count these functions, and tracebacks of failed imports
leave them out, so that both point at the user's line as they do without dlprof. Nothing else belongs
in here: each wrapper only calls what it wraps, and hooks that do not raise.
"""

from threading import get_ident


def spanned(original, enter, leave):
    """Call `enter` before and `leave` after `original`."""

    def wrapper(*args, **kwargs):
        token = enter(args)
        try:
            return original(*args, **kwargs)
        finally:
            try:
                leave(token, args)
            except BaseException:  # Ctrl-C came in the middle of it
                leave(token, args)
                raise

    return wrapper


def spanned_again(original, enter, leave, routine, seen, lines):
    """As `spanned`, of a method that may be called again and again for little (`routine_calls`).

    `routine` has `begin(args, kwargs)`, whose token `end(token, args)` takes; None: the call is looked at in full, and
    `seen(token, args, kwargs)` is told of that. Lines are not counted from the first moment on: hooks have some, too.
    """
    begin, end = routine

    def wrapper(*args, **kwargs):
        was_on = lines.pause()
        token = begin(args, kwargs)
        is_full = token is None
        if is_full:
            token = enter(args)
        over = leave if is_full else end
        try:
            return original(*args, **kwargs)
        finally:
            try:
                over(token, args)
            except BaseException:  # Ctrl-C came in the middle of it
                over(token, args)
                raise
            if is_full:
                seen(token, args, kwargs)
            lines.restore(was_on)

    return wrapper


def passing_by(original, hooked, inside):
    """A function with hooks, without them where the calling thread is in a call that is told in short."""

    def wrapper(*args, **kwargs):
        if inside and get_ident() in inside:
            return original(*args, **kwargs)
        return hooked(*args, **kwargs)

    return wrapper


def spanned_callbacks(original, enter, leave):
    """As `spanned`, of a `CallbackList` that has callbacks: `predict`, which may be called for each row, has none."""
    spanning = spanned(original, enter, leave)

    def wrapper(self, *args, **kwargs):
        if vars(self).get("callbacks", True):  # no property of the user's is to run here
            return spanning(self, *args, **kwargs)
        return original(self, *args, **kwargs)

    return wrapper


def importing(original, enter, leave):
    """The import system's `_find_and_load`, with `enter` before and `leave` after a load."""

    def _find_and_load(name, import_):
        token = enter(name)
        try:
            return original(name, import_)
        finally:
            try:
                leave(token, name)
            except BaseException:
                leave(token, name)
                raise

    return _find_and_load


def getting_code(original, select):
    """A source loader's `get_code`, whose result goes through `select(code, path)`."""

    def get_code(self, fullname):
        return select(original(self, fullname), self, fullname)

    return get_code


def not_returning(original, enter, failed):
    """A function that does not come back unless it fails: `failed(token)` is told of that."""

    def wrapper(*args, **kwargs):
        token = enter(args)
        try:
            return original(*args, **kwargs)
        except BaseException:
            failed(token)
            raise

    return wrapper


def after(original, hook):
    """Call `hook(result, args)` after `original` returned."""

    def wrapper(*args, **kwargs):
        result = original(*args, **kwargs)
        hook(result, args)
        return result

    return wrapper


def remade(original, change):
    """Give what `change(result, args)` makes of what `original` gives; None: that itself."""

    def wrapper(*args, **kwargs):
        result = original(*args, **kwargs)
        changed = change(result, args)
        return result if changed is None else changed

    return wrapper


def switching(original, switched_off, switched_on):
    """`Module.train`, which calls itself for each part of a model: `switched_off()` is told of `train(False)`. Hot."""

    def train(self, mode=True):
        result = original(self, mode)
        if mode:
            switched_on()
        else:
            switched_off()
        return result

    return train


def timed(original, hook, now):
    """Call `hook(result, args, begin)` after `original` returned."""

    def wrapper(*args, **kwargs):
        begin = now()
        result = original(*args, **kwargs)
        hook(result, args, begin)
        return result

    return wrapper


def timed_method(original, name, hook, now):
    """A method of C++ that Python's subclasses may have, too: `hook(result, args, begin)` after it returned.

    The extension's own look for such methods passes over the frame that has the method's name and `self` in it: without
    these it would come back to this function, and never end.
    """

    def method(self, *args, **kwargs):
        begin = now()
        result = original(self, *args, **kwargs)
        hook(result, (self,) + args, begin)
        return result

    method.__code__ = method.__code__.replace(co_name=name)
    return method


def timed_call(original, hook, now):
    """Call `hook(args, keywords, begin)` after `original` returned."""

    def wrapper(*args, **kwargs):
        begin = now()
        result = original(*args, **kwargs)
        hook(args, kwargs, begin)
        return result

    return wrapper


def with_keywords(original, change, hook):
    """Call `original` with the keywords that `change(keywords)` adds, and `hook(result, args)` after it."""

    def wrapper(*args, **kwargs):
        kwargs.update(change(kwargs))
        result = original(*args, **kwargs)
        hook(result, args)
        return result

    return wrapper


def with_arguments(original, change):
    """Call `original` with what `change(args, kwargs)` makes of its arguments; None: with these."""

    def wrapper(*args, **kwargs):
        changed = change(args, kwargs)
        if changed is not None:
            args, kwargs = changed
        return original(*args, **kwargs)

    return wrapper


def outermost(original, inside, called):
    """Call `called(args, kwargs)` before calls that no other one of these is around, and what that gives behind them.

    Args:
        original: A method that calls itself for each part of a model.
        inside: Threads that are in such a call.
        called: Gives a function that takes the result, or None.
    """

    def wrapper(*args, **kwargs):
        ident = get_ident()
        if ident in inside:
            return original(*args, **kwargs)
        inside.add(ident)
        try:
            gave = called(args, kwargs)
            result = original(*args, **kwargs)
            if gave is not None:
                gave(result)
            return result
        finally:
            inside.discard(ident)

    return wrapper


def batch_begin(original, current, now, lines):
    """`CallbackList.on_*_batch_begin`: the step begins."""

    def wrapper(*args, **kwargs):
        loop = current.get(get_ident())
        if loop is None:
            return original(*args, **kwargs)
        loop.begin = begin = now()
        if len(args) > 1:
            loop.step_index = args[1]
        if loop.user_callbacks:
            lines.resume()
        try:
            return original(*args, **kwargs)
        finally:
            if loop.user_callbacks:
                lines.pause()
            loop.callbacks = now() - begin - loop.device_wait

    return wrapper


def batch_end(original, current, now, lines):
    """`CallbackList.on_*_batch_end`: the step ends."""

    def wrapper(*args, **kwargs):
        loop = current.get(get_ident())
        if loop is None or not loop.begin:
            return original(*args, **kwargs)
        called, waited = now(), loop.device_wait
        if loop.user_callbacks:
            lines.resume()
        try:
            return original(*args, **kwargs)
        finally:
            if loop.user_callbacks:
                lines.pause()
            end = now()
            loop.callbacks += end - called - (loop.device_wait - waited)
            loop.finish(args, end)

    return wrapper


def batch_hook(original, current, now, lines):
    """`CallbackList._call_batch_hook` of Keras 2.3: the step begins, or ends."""

    def wrapper(self, mode, hook, batch, logs=None):
        loop = current.get(get_ident())
        if loop is None or not (hook == "begin" or loop.begin):
            return original(self, mode, hook, batch, logs)
        called, waited = now(), loop.device_wait
        if hook == "begin":
            loop.begin = called
            loop.step_index = batch
        if loop.user_callbacks:
            lines.resume()
        try:
            return original(self, mode, hook, batch, logs)
        finally:
            if loop.user_callbacks:
                lines.pause()
            end = now()
            loop.callbacks += end - called - (loop.device_wait - waited)
            if hook == "end":
                loop.finish((self, batch), end)

    return wrapper


def waiting(original, waits, over, now, least_ns=0):
    """A function that may wait for the device: `over(start, end)` is told of the outermost calls that last so long."""
    on, inside = waits.on, waits.inside

    def wrapper(*args, **kwargs):
        ident = get_ident()
        if not on[0] or ident in inside:
            return original(*args, **kwargs)
        inside.add(ident)
        start = now()
        try:
            return original(*args, **kwargs)
        finally:
            inside.discard(ident)
            end = now()
            if end - start >= least_ns:
                over(start, end)

    return wrapper


def lasting(original, over, now, least_ns):
    """Call `over(start, end)` after a call of `original` that took so long."""

    def wrapper(*args, **kwargs):
        start = now()
        try:
            return original(*args, **kwargs)
        finally:
            end = now()
            if end - start >= least_ns:
                over(start, end)

    return wrapper


def native_call(original, begun, ended):
    """A function that an engine calls on threads of its own: `ended(begun())` around each call."""

    def wrapper(*args, **kwargs):
        begin = begun()
        try:
            return original(*args, **kwargs)
        finally:
            ended(begin)

    return wrapper


def in_context(original, hook, contexts):
    """Call `original` while `contexts[thread]` holds `hook(args)`."""

    def wrapper(*args, **kwargs):
        ident = get_ident()
        contexts[ident] = hook(args)
        try:
            return original(*args, **kwargs)
        finally:
            contexts.pop(ident, None)

    return wrapper


def of_context(original, hook, contexts):
    """Call `hook(result, contexts[thread])` after `original` returned, on threads that `in_context` is on."""

    def wrapper(*args, **kwargs):
        result = original(*args, **kwargs)
        context = contexts.get(get_ident()) if contexts else None
        if context is not None:
            hook(result, context)
        return result

    return wrapper


def profiled(original, resume, restore):
    """A function under `@profile`: its lines are counted on whatever thread it runs."""

    def wrapper(*args, **kwargs):
        token = resume()
        try:
            return original(*args, **kwargs)
        finally:
            restore(token)

    return wrapper


class StepFunction(object):
    """Stands for `model.train_function` and its kin; all but calling goes to the real one."""

    _dlprof = True

    def __init__(self, function, current, now, is_again=False):
        self.__wrapped__ = function
        self._current = current
        self._now = now
        self._calls = 1 if is_again else 0

    def __call__(self, *args, **kwargs):
        loop = self._current.get(get_ident())
        if loop is None:
            return self.__wrapped__(*args, **kwargs)
        start = self._now()
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            self._calls += 1
            loop.called(start, self._now(), self._calls == 1)

    def __getattr__(self, name):
        if name == "__wrapped__":  # a copy under construction (pickle, deepcopy)
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)
