"""How a script of the suite and who does things to it wait for each other."""

import os
import time

PLACE = os.environ["STAGE"]


def ready():
    """Say that the next act may come."""
    with open(os.path.join(PLACE, "ready"), "w") as pipe:
        pipe.write("%d\n" % os.getpid())


def wait():
    """Until the act is done."""
    with open(os.path.join(PLACE, "go"), "rb", buffering=0) as pipe:
        pipe.read(1)


def until(condition, seconds=30):
    """Until the act has had its effect, which `condition` sees; whether it came."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
