class UpdateRule:
    def update(self, parameter):
        return parameter


class SGDRule(UpdateRule):
    pass


class SGD:
    def __init__(self, lr):
        self.rule = SGDRule()

    def setup(self, link):
        self.link = link

    def update(self):
        self.rule.update(self.link.weights)
