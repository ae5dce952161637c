"""What runs at once, and what is traced: one JSON object a row, with those of its peers.

Each module is measured in a process of its own, by an interpreter that has it; such are named by
RHEOS_TENSORFLOW_PYTHON and RHEOS_BENCH_PEERS (peers/interpreters.py). Times are the process's own,
on one thread, the least of some rounds: what a busy machine disturbs least. `bench_eager.py MODULE
[TEXT]` measures one module, and only the parts whose name has the text.
"""

import functools
import importlib
import json
import os
import subprocess
import sys
import time

import numpy as np
from peers.interpreters import interpreter_of

LAYERS, WIDTH, TRACED = 100, 32, 5000
ROUND_SECONDS, ROUNDS = 0.02, 15
GOALS = {
    "a + b, 64 floats": 1.2,
    "tf.add, 64 floats": 1.2,
    "a tape step of a linear regression": 15,
    "a step of a linear regression as tf.function": 2.5,
    "100 layers": 500,
    "100 layers of tf.keras": 1200,
    "fit, a batch beyond its step": 30,
    "tracing 100 layers": 15000,
    "tracing 5,000 operations": 60000,
    "import, then tf.constant, beyond NumPy": 100000,
}


def least(body):
    """Microseconds of a call of body(), the least of the rounds."""
    begin = time.process_time()
    body(), body()
    once = max((time.process_time() - begin) / 2, 1e-7)
    calls = max(1, int(ROUND_SECONDS / once))
    rounds = []
    for _ in range(ROUNDS if calls > 1 else 7):
        begin = time.process_time()
        for _ in range(calls):
            body()
        rounds.append((time.process_time() - begin) / calls)
    return min(rounds) * 1e6


# ---- Programs that Rheos and TensorFlow share: `tf` is the module


def operations(tf):
    a, b = tf.constant(np.arange(64, dtype=np.float32)), tf.constant(np.ones(64, np.float32))
    m, v = tf.constant(np.ones((8, 8), np.float32)), tf.Variable(np.ones(64, np.float32))
    yield "a + b, 64 floats", least(lambda: a + b)
    yield "tf.add, 64 floats", least(lambda: tf.add(a, b))
    yield "tf.matmul, 8 by 8", least(lambda: tf.matmul(m, m))
    yield "tf.reduce_sum, 64 floats", least(lambda: tf.reduce_sum(a))
    yield "x[0]", least(lambda: a[0])
    yield "variable.assign_add", least(lambda: v.assign_add(b))


def regression(tf):
    """A function that makes a step, its gradients applied by a function of pairs."""
    w, b = tf.Variable(0.0), tf.Variable(0.0)
    x, y = tf.constant(0.5), tf.constant(1.75)

    def by_hand(pairs):
        for gradient, variable in pairs:
            variable.assign_sub(1e-3 * gradient)

    def step_by(apply):
        def step():
            with tf.GradientTape() as tape:
                loss = tf.square(y - (w * x + b))
            apply(zip(tape.gradient(loss, [w, b]), [w, b]))
            return loss

        return step

    adam = tf.keras.optimizers.Adam(1e-3)
    yield "a tape step of a linear regression", least(step_by(by_hand))
    yield "a tape step with Adam", least(step_by(adam.apply_gradients))
    yield "a step of a linear regression as tf.function", least(tf.function(step_by(by_hand)))
    add = tf.function(lambda value: value + 1.0)
    yield "a traced function of one addition", least(lambda: add(x))


def network(tf):
    random = np.random.RandomState(0)
    weights = [
        (
            tf.Variable(random.randn(WIDTH, WIDTH).astype(np.float32) * 0.1),
            tf.Variable(np.zeros(WIDTH, np.float32)),
        )
        for _ in range(LAYERS)
    ]

    def forward(h):
        for kernel, bias in weights:
            h = tf.nn.relu(tf.matmul(h, kernel) + bias)
        return h

    return forward, tf.constant(np.ones((1, WIDTH), np.float32))


def callable_of_session(tf):
    """What network() does, as a callable of a session."""
    v1 = tf.compat.v1
    with v1.Graph().as_default() as graph:
        random, h = np.random.RandomState(0), v1.placeholder(tf.float32, [1, WIDTH])
        given = h
        for i in range(LAYERS):
            kernel = (random.randn(WIDTH, WIDTH) * 0.1).astype(np.float32)
            kernel = v1.get_variable(f"kernel_{i}", initializer=kernel)
            bias = v1.get_variable(f"bias_{i}", initializer=np.zeros(WIDTH, np.float32))
            h = tf.nn.relu(tf.matmul(h, kernel) + bias)
        session = v1.Session(graph=graph)
        session.run(v1.global_variables_initializer())
        call = session.make_callable(h, [given])
    x = np.ones((1, WIDTH), np.float32)
    return lambda: call(x)


def layers_by_themselves(tf):
    layers = tf.keras.layers
    x, image = tf.ones((4, 8)), tf.ones((1, 8, 8, 3))
    given = tf.keras.Input((8,))
    hidden = layers.Add()([layers.Dense(8, activation="relu")(given), given])
    model = tf.keras.Model(given, layers.Dense(1)(hidden))
    convolution, dropout, gru = layers.Conv2D(4, 3), layers.Dropout(0.5), layers.GRU(4)
    sequence, normalization = tf.ones((2, 4, 8)), layers.BatchNormalization()
    yield "a convolution of tf.keras", least(lambda: convolution(image))
    yield "dropout of tf.keras, training", least(lambda: dropout(x, training=True))
    yield "batch normalization, training", least(lambda: normalization(x, training=True))
    yield "GRU of 4 steps", least(lambda: gru(sequence))
    yield "a functional model of three layers", least(lambda: model(x))
    value = np.ones(64, np.float32)
    yield "tf.Variable, 64 floats", least(lambda: tf.Variable(value))


def models(tf):
    forward, x = network(tf)
    traced = tf.function(forward)
    layers = [tf.keras.layers.Dense(WIDTH, activation="relu") for _ in range(LAYERS)]
    model = tf.keras.Sequential(layers)
    yield "100 layers", least(lambda: forward(x))
    yield "100 layers of tf.keras", least(lambda: model(x))
    yield "100 layers as tf.function", least(lambda: traced(x))
    yield "100 layers by a callable of a session", least(callable_of_session(tf))
    yield "tracing 100 layers", least(lambda: tf.function(forward).get_concrete_function(x))

    def many(h):
        for _ in range(TRACED):
            h = tf.add(h, 1.0)
        return h

    yield "tracing 5,000 operations", least(lambda: tf.function(many).get_concrete_function(x))


def functions_of_functions(tf):
    """Functions that call the program's own, and products that are taken apart first."""
    x, m = tf.ones((4, 8)), tf.ones((8, 8))
    sequence = tf.ones((2, 4, 8))
    attention = tf.keras.layers.MultiHeadAttention(2, 4)
    yield "tf.map_fn, 4 rows", least(lambda: tf.map_fn(lambda row: row + 1.0, x))
    yield "tf.scan, 4 rows", least(lambda: tf.scan(lambda a, row: a + row, x))
    yield "tf.vectorized_map, 4 rows", least(lambda: tf.vectorized_map(lambda row: row + 1.0, x))
    yield "tf.tensordot, 4 by 8 by 8", least(lambda: tf.tensordot(x, m, 1))
    yield "tf.tensordot, 2 by 4 by 8 by 8", least(lambda: tf.tensordot(sequence, m, [[2], [0]]))
    yield "tf.einsum, 4 by 8 by 8", least(lambda: tf.einsum("ij,jk->ik", x, m))
    yield "tf.einsum, abc,cd->abd", least(lambda: tf.einsum("abc,cd->abd", sequence, m))
    yield "MultiHeadAttention, 2 heads of 4", least(lambda: attention(sequence, sequence))


def training(tf, batches=100, batch=32):
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    random = np.random.RandomState(0)
    x = random.randn(batches * batch, 8).astype(np.float32)
    y = random.randn(batches * batch, 1).astype(np.float32)

    def fit(epochs):
        begin = time.process_time()
        model.fit(x, y, batch_size=batch, epochs=epochs, verbose=0)
        return time.process_time() - begin

    optimizer = tf.keras.optimizers.SGD(0.01)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    fit(1)
    own = least(functools.partial(step, tf.constant(x[:batch]), tf.constant(y[:batch])))
    seconds = min(fit(5) - fit(1) for _ in range(7)) / 4  # of an epoch by itself
    yield "fit of two dense layers, a batch", seconds / batches * 1e6
    yield "fit, a batch beyond its step", seconds / batches * 1e6 - own


PARTS = (operations, regression, models, layers_by_themselves, functions_of_functions, training)


def of_tensorflow(tf, only=""):
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for part in PARTS:
        if only in part.__name__:
            yield from part(tf)


# ---- PyTorch


def of_torch(torch):
    torch.set_num_threads(1)
    a, b = torch.arange(64.0), torch.ones(64)
    m = torch.ones(8, 8)
    yield "a + b, 64 floats", least(lambda: a + b)
    yield "tf.add, 64 floats", least(lambda: torch.add(a, b))
    yield "tf.matmul, 8 by 8", least(lambda: torch.matmul(m, m))
    yield "tf.reduce_sum, 64 floats", least(lambda: torch.sum(a))
    yield "x[0]", least(lambda: a[0])
    v = torch.ones(64)
    yield "variable.assign_add", least(lambda: v.add_(b))
    x, n, sequence = torch.ones(4, 8), torch.ones(8, 8), torch.ones(2, 4, 8)
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    yield "tf.vectorized_map, 4 rows", least(lambda: torch.vmap(lambda row: row + 1.0)(x))
    yield "tf.tensordot, 4 by 8 by 8", least(lambda: torch.tensordot(x, n, 1))
    yield "tf.einsum, 4 by 8 by 8", least(lambda: torch.einsum("ij,jk->ik", x, n))
    yield "tf.einsum, abc,cd->abd", least(lambda: torch.einsum("abc,cd->abd", sequence, n))
    with torch.no_grad():
        yield (
            "MultiHeadAttention, 2 heads of 4",
            least(lambda: attention(sequence, sequence, sequence, need_weights=False)),
        )
    w, c = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
    x, y = torch.tensor(0.5), torch.tensor(1.75)
    for label, kind in (
        ("a tape step of a linear regression", torch.optim.SGD),
        ("a tape step with Adam", torch.optim.Adam),
    ):
        optimizer = kind([w, c], lr=1e-3)

        def step(optimizer=optimizer):
            loss = torch.square(y - (w * x + c))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        yield label, least(step)
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]
    h = torch.ones(1, WIDTH)

    def forward():
        found = h
        for layer in layers:
            found = torch.relu(torch.matmul(found, layer.weight) + layer.bias)

    model = torch.nn.Sequential(*[part for one in layers for part in (one, torch.nn.ReLU())])
    with torch.no_grad():
        yield "100 layers", least(forward)
        yield "100 layers of tf.keras", least(lambda: model(h))


# ---- JAX


def of_jax(jax):
    """Values are waited for: JAX returns before they are there."""
    numpy, ready = jax.numpy, jax.block_until_ready
    a, b, m = numpy.arange(64.0), numpy.ones(64), numpy.ones((8, 8))
    yield "a + b, 64 floats", least(lambda: ready(a + b))
    yield "tf.add, 64 floats", least(lambda: ready(numpy.add(a, b)))
    yield "tf.matmul, 8 by 8", least(lambda: ready(numpy.matmul(m, m)))
    yield "tf.reduce_sum, 64 floats", least(lambda: ready(numpy.sum(a)))
    yield "x[0]", least(lambda: ready(a[0]))
    x, y, start = numpy.float32(0.5), numpy.float32(1.75), (numpy.zeros(()), numpy.zeros(()))

    def step(parameters):
        loss, gradients = jax.value_and_grad(lambda p: (y - (p[0] * x + p[1])) ** 2)(parameters)
        return [p - 1e-3 * g for p, g in zip(parameters, gradients)], loss

    traced_step, add = jax.jit(step), jax.jit(lambda value: value + 1.0)
    yield "a tape step of a linear regression", least(lambda: ready(step(start)))
    yield "a step of a linear regression as tf.function", least(lambda: ready(traced_step(start)))
    yield "a traced function of one addition", least(lambda: ready(add(y)))
    random = np.random.RandomState(0)
    weights = [
        (numpy.asarray(random.randn(WIDTH, WIDTH).astype(np.float32) * 0.1), numpy.zeros(WIDTH))
        for _ in range(LAYERS)
    ]

    def forward(h):
        for kernel, bias in weights:
            h = jax.nn.relu(numpy.matmul(h, kernel) + bias)
        return h

    h = numpy.ones((1, WIDTH))
    traced = jax.jit(forward)
    yield "100 layers", least(lambda: ready(forward(h)))
    yield "100 layers as tf.function", least(lambda: ready(traced(h)))
    yield "tracing 100 layers", least(lambda: jax.make_jaxpr(lambda h: forward(h))(h))
    rows, sequence = numpy.ones((4, 8)), numpy.ones((2, 4, 8))
    yield (
        "tf.map_fn, 4 rows",
        least(lambda: ready(jax.lax.map(lambda row: row + 1.0, rows))),
    )
    yield (
        "tf.vectorized_map, 4 rows",
        least(lambda: ready(jax.vmap(lambda row: row + 1.0)(rows))),
    )
    yield "tf.tensordot, 4 by 8 by 8", least(lambda: ready(numpy.tensordot(rows, m, 1)))
    yield "tf.einsum, 4 by 8 by 8", least(lambda: ready(numpy.einsum("ij,jk->ik", rows, m)))
    yield (
        "tf.einsum, abc,cd->abd",
        least(lambda: ready(numpy.einsum("abc,cd->abd", sequence, m))),
    )


# ---- The whole


def import_microseconds(python, statement):
    """What a statement takes once NumPy is imported, the least of some."""
    code = f"import time, numpy\nbegin = time.process_time()\n{statement}\n"
    code += "print(time.process_time() - begin)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    run = [python, "-c", code]
    times = [
        float(subprocess.run(run, check=True, stdout=subprocess.PIPE, env=environment).stdout)
        for _ in range(9)
    ]
    return min(times[1:]) * 1e6  # the first one writes the bytecode


IMPORTS = {
    "rheos": "import rheos as tf; tf.constant(1.0)",
    "tensorflow": "import tensorflow as tf; tf.constant(1.0)",
    "torch": "import torch; torch.tensor(1.0)",
    "jax": "import jax; jax.numpy.asarray(1.0)",
}
# XLA's threads would count as time of the process.
ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def measure(name, only=""):
    """Prints the rows of one module, a line of JSON each."""
    module = importlib.import_module(name)
    others = {"torch": of_torch, "jax": of_jax}
    rows = others[name](module) if name in others else of_tensorflow(module, only)
    for row, value in rows:
        print(json.dumps([row, value]), flush=True)


def rows_of(python, name):
    """{row: value} of a module as that Python has it; empty without one."""
    if python is None:
        return {}
    environment = {**os.environ, **(ONE_THREAD if name == "jax" else {})}
    command = [python, os.path.abspath(__file__), name]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=False, env=environment
    )
    if done.returncode:
        print(f"bench_eager: {name} ended with status {done.returncode}", file=sys.stderr)
    rows = dict(json.loads(line) for line in done.stdout.splitlines())
    rows["import, then tf.constant, beyond NumPy"] = import_microseconds(python, IMPORTS[name])
    return rows


def main():
    if len(sys.argv) > 1:
        measure(*sys.argv[1:])
        return
    tensorflow = interpreter_of("tensorflow", os.environ.get("RHEOS_TENSORFLOW_PYTHON"))
    peers = {
        "TensorFlow": rows_of(tensorflow, "tensorflow"),
        "PyTorch": rows_of(interpreter_of("torch"), "torch"),
        "JAX": rows_of(interpreter_of("jax"), "jax"),
    }
    for row, value in rows_of(sys.executable, "rheos").items():
        line = {"row": row, "unit": "us", "rheos": value}
        if row in GOALS:
            line["goal"] = GOALS[row]
        others = {peer: rows[row] for peer, rows in peers.items() if row in rows}
        if others:
            line["peers"] = others
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
