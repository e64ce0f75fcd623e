"""What training is on every backend: compiling, and single steps."""

from keras.src import optimizers
from keras.src.losses import get as get_loss


class Trainer:
    def __init__(self):
        self.train_function = self.test_function = self.predict_function = None
        self.stop_training = False
        self.optimizer = None
        self._built = False

    def compile(self, optimizer="sgd", loss=None, steps_per_execution=1, run_eagerly=False, jit_compile=False):
        self.optimizer = optimizers.get(optimizer)
        self.loss = loss
        self._loss = get_loss(loss)
        self._run_eagerly, self._jit_compile = run_eagerly, jit_compile
        self._steps_per_execution = steps_per_execution
        self.train_function = self.test_function = self.predict_function = None

    @property
    def steps_per_execution(self):
        return self._steps_per_execution

    def train_step(self, data):
        x, y = data
        predicted = self(x)
        loss = self.compute_loss(x, y, predicted)
        gradient = 2.0 * (predicted - y) / predicted.size
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)
        self.optimizer.apply([weight.gradient for weight in self.trainable_weights], self.trainable_weights)
        return self.compute_metrics(loss)

    def test_step(self, data):
        x, y = data
        return self.compute_metrics(self.compute_loss(x, y, self(x)))

    def predict_step(self, data):
        return self(data[0])

    def compute_loss(self, _x, y, predicted):
        return self._loss(y, predicted)

    def compute_metrics(self, loss):
        return {"loss": loss}

    def _symbolic_build(self, data_batch):
        """Run the model once without data, as Keras does to make metrics and the variables of the optimiser."""
        self._built = True
        self.optimizer.build(self.trainable_weights)
