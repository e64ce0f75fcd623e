"""Train with Keras, and send the loss to a tracking server (here one of our own, as far away as the real one)."""

import json
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from tensorflow import keras


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.012)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Track(keras.callbacks.Callback):
    def __init__(self, address):
        super().__init__()
        self.address = address
        self.seen = 0

    def send(self, values):
        body = json.dumps(values).encode()
        request = urllib.request.Request(self.address + "/metrics", data=body, method="POST")
        urllib.request.urlopen(request, timeout=10).read()

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        self.send([{"key": key, "value": float(value), "step": self.seen} for key, value in logs.items()])


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6400, 40)).astype("float32")
    y = (x[:, 0] * x[:, 1] > 0).astype("float32")
    model = keras.Sequential([
        keras.Input((40,)),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    track = Track("http://127.0.0.1:%d" % server.server_port)
    model.fit(x, y, batch_size=64, epochs=3, verbose=2, callbacks=[track])
    server.shutdown()


main()
