import os


class experimental:
    running = []

    @classmethod
    def start(cls, folder):
        if cls.running:
            raise RuntimeError("Another profiler is running.")
        cls.running.append(folder)

    @classmethod
    def stop(cls):
        folder = os.path.join(cls.running.pop(), "plugins", "profile", "now")
        os.makedirs(folder)
        with open(os.path.join(folder, "host.xplane.pb"), "wb") as target:
            target.write(b"xspace")
