class _N:
    def tick(self, folder, pid): pass
    def stop(self): pass
def for_terminal(s, f): return _N()
