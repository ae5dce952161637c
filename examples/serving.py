"""Saves a model for others, and answers questions over HTTP as TensorFlow's model server does.

    rheos run examples/serving.py [port]

A TensorFlow 2 program. Without a port it asks itself and ends; with one it serves until it is
stopped:

    curl -d '{"instances": [[0.1, 0.2], [0.9, 0.9]]}' localhost:8501/v1/models/circle:predict
"""

import json
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import tensorflow as tf


def train():
    """Whether a point is in the circle."""
    tf.keras.utils.set_random_seed(1)
    x = np.random.RandomState(1).uniform(-1, 1, [2000, 2]).astype(np.float32)
    layers = [tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(1, "sigmoid")]
    model = tf.keras.Sequential([tf.keras.layers.Input([2]), *layers])
    model.compile(tf.keras.optimizers.Adam(0.02), "binary_crossentropy")
    model.fit(x, (x**2).sum(1) < 0.5, epochs=10, batch_size=64, verbose=0)
    return model


class Circle(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="points")])
    def predict(self, points):
        inside = self.model(points)[:, 0]
        return {"inside": inside, "label": tf.where(inside > 0.5, "in", "out")}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):  # a name that the base class looks for
        try:
            if self.path != "/v1/models/circle:predict":
                raise LookupError(f"there is nothing at {self.path}")
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            points = tf.constant(asked["instances"], tf.float32)
            given = self.server.predict(points=points)
            given = {name: value.numpy().tolist() for name, value in given.items()}
            given["label"] = [label.decode() for label in given["label"]]
            rows = [dict(zip(given, row)) for row in zip(*given.values())]
            self.answer(200, {"predictions": rows})
        except LookupError as error:
            self.answer(404, {"error": str(error)})
        except (KeyError, TypeError, ValueError, tf.errors.OpError) as error:
            self.answer(400, {"error": str(error).partition("\n")[0]})

    def answer(self, status, what):
        text = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def ask(port, question):
    url = f"http://localhost:{port}/v1/models/circle:predict"
    try:
        with urllib.request.urlopen(url, json.dumps(question).encode()) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return json.load(error)


with tempfile.TemporaryDirectory() as folder:
    circle = Circle(train())
    tf.saved_model.save(circle, folder, signatures=circle.predict)
    loaded = tf.saved_model.load(folder)  # what a server that knows no Keras does
server = ThreadingHTTPServer(("localhost", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
server.predict = loaded.signatures["serving_default"]
if len(sys.argv) > 1:
    server.serve_forever()
threading.Thread(target=server.serve_forever, daemon=True).start()
for question in {"instances": [[0.1, 0.2], [0.9, 0.9]]}, {"instances": [[1, 2, 3]]}:
    print(question)
    reply = ask(server.server_port, question)
    for row in reply.get("predictions", [reply]):
        print("  ", {name: round(x, 2) if name == "inside" else x for name, x in row.items()})
server.shutdown()
