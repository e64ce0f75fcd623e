import numpy as np
from keras.callbacks import Callback
from keras.layers import Dense, Dropout, Input
from keras.models import Model

np.random.seed(14)
x_train, x_val = np.random.rand(12000, 40), np.random.rand(1000, 40)
y_train, y_val = ((v[:, :20].sum(1) > v[:, 20:].sum(1)).astype("float32") for v in (x_train, x_val))


class Scores(Callback):
    def __init__(self, train, val):
        super(Scores, self).__init__()
        self.train, self.val = train, val
        self.f1 = []

    def score(self, data):
        p = self.model.predict(data[0]).ravel() > 0.5
        t = data[1] > 0.5
        return 2.0 * (p & t).sum() / (p.sum() + t.sum() + 1e-9)

    def on_epoch_end(self, epoch, logs=None):
        self.f1.append((self.score(self.train), self.score(self.val)))
        print("epoch %d f1 %.3f val_f1 %.3f" % ((epoch,) + self.f1[-1]))


a = Input(shape=(40,))
h = Dropout(0.2)(Dense(64, activation="relu")(a))
m = Model(a, Dense(1, activation="sigmoid")(Dense(32, activation="relu")(h)))
m.compile("adam", "binary_crossentropy")
m.fit(x_train, y_train, batch_size=256, epochs=15, verbose=0, callbacks=[Scores((x_train, y_train), (x_val, y_val))])
