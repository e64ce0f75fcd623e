import json

running = []


class ProfilerActivity:
    CPU, CUDA = "cpu", "cuda"


class profile:
    def __init__(self, activities):
        self.activities = activities
        self.ranges = []

    def start(self):
        if running:
            raise RuntimeError("a profiler runs already")
        running.append(self)

    def stop(self):
        running.remove(self)

    def export_chrome_trace(self, path):
        with open(path, "w") as target:
            json.dump({"traceEvents": [{"name": name} for name in self.ranges]}, target)


class record_function:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        for each in running:
            each.ranges.append(self.name)
        return self

    def __exit__(self, *_):
        return False
