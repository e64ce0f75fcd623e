class experimental:
    synchronised = []

    @classmethod
    def sync_devices(cls):
        cls.synchronised.append(True)
