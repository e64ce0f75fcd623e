state = {"anomaly": False}


class set_detect_anomaly:
    def __init__(self, mode):
        self._before, state["anomaly"] = state["anomaly"], mode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        state["anomaly"] = self._before


class detect_anomaly(set_detect_anomaly):
    def __init__(self):
        super().__init__(True)
