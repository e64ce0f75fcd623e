import os

running = []


class ProfileOptions:
    python_tracer_level = 1


def start_trace(folder, profiler_options=None):
    if running:
        raise RuntimeError("Profile has already been started")
    running.append(folder)


def stop_trace():
    folder = os.path.join(running.pop(), "plugins", "profile", "now")
    os.makedirs(folder)
    with open(os.path.join(folder, "host.xplane.pb"), "wb") as target:
        target.write(b"xspace")
