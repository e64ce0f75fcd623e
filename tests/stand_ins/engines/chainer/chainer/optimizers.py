class UpdateRule:
    def update(self, parameter):
        return parameter


class SGDRule(UpdateRule):
    pass


class Optimizer:
    def setup(self, link):
        self.link = link
        return self


class GradientMethod(Optimizer):
    def update(self):
        self.rule.update(self.link.weights)


class SGD(GradientMethod):
    def __init__(self, lr):
        self.rule = SGDRule()
