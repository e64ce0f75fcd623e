from jax import profiler


class _profiler:
    class ProfilerSession:
        def __init__(self, options):
            if profiler.running:
                raise RuntimeError("only one session at a time")
            profiler.running.append(self)

        def stop(self):
            profiler.running.remove(self)
            return b"xspace"
