"""What is called when a loader is made and iterated: its passes are told, and the loop of the script around it."""

from sys import _getframe


class LoaderHooks(object):
    """Hooks of one class of loaders, for `Wrappers`.

    Args:
        probe: The `Probe`.
        facts: Gives what a loader was told: fields of `wire.Record.LOADER`.
        rows: Gives how many rows a batch of it has, as `OwnLoops.opened` takes it.
        tests: Tells whether what runs now is no training: the loop is one of tests then.
        is_told: Tells whether the passes of a loader are told; of others only the loop around them is.

    Attributes:
        made: For `Wrappers.after` of its `__init__`.
        iterating: Four hooks: an iterator was opened, asked for an item, gave one, and has no more.
    """

    def __init__(self, probe, facts, rows, tests=lambda: False, is_told=lambda _loader: True):
        own, loaders = probe.own_loops, probe.loaders
        own_asked, own_over = own.asking(tests), own.ending(tests)

        def opened(loader, iterator, begin):
            own.opened(iterator, begin, rows(loader))
            if is_told(loader):
                loaders.opened(loader, iterator, begin, facts(loader))

        def asked(iterator):
            own_asked(iterator)
            loaders.asked(iterator)

        def given(iterator, item):
            loaders.given(iterator)
            own.given(iterator, item)

        def over(iterator):
            loaders.over(iterator)
            own_over(iterator)

        self.iterating = [probe.guard(hook, goes_on=True) for hook in (opened, asked, given, over)]
        self.made = probe.guard(lambda _result, args: loaders.made(args[0], _getframe(3)), goes_on=True)
