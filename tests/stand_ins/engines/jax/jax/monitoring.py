_listeners = []


def register_event_duration_secs_listener(listener):
    _listeners.append(listener)


def unregister_event_duration_listener(listener):
    _listeners.remove(listener)


def tell(event, duration, **facts):
    for listener in _listeners:
        listener(event, duration, **facts)
