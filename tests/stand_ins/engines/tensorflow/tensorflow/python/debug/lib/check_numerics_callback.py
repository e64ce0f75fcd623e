import threading

_state = threading.local()
