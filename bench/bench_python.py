"""What a step and a node cost from Python: one JSON object a line, peers measured in the same run.

Rows of TensorFlow and PyTorch appear where these are installed.
"""

import importlib.util
import json
import statistics
import subprocess
import sys
import time

import numpy as np

CHAIN = 1_000_000


def report(row, unit, rheos, goal=None, peers=None):
    line = {"row": row, "unit": unit, "rheos": rheos}
    if goal is not None:
        line["goal"] = goal
    if peers:
        line["peers"] = peers
    print(json.dumps(line), flush=True)


def seconds(body, calls, repeats=7):
    """Seconds a call of body(), the median of `repeats` rounds."""
    for _ in range(calls // 10 + 1):
        body()
    rounds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(calls):
            body()
        rounds.append((time.perf_counter() - begin) / calls)
    return statistics.median(rounds)


# ---- Programs that Rheos and TensorFlow share: `tf` is the module


def scalar_add(tf, calls):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        y = x + 1.0
        with tf.Session() as session:
            return seconds(lambda: session.run(y, {x: 2.0}), calls)


def linear_regression(tf, calls):
    with tf.Graph().as_default():
        m = tf.get_variable("m", [], initializer=tf.constant_initializer(0.0))
        b = tf.get_variable("b", [], initializer=tf.constant_initializer(0.0))
        init = tf.global_variables_initializer()
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        loss = tf.square(y - (m * x + b))
        train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
        with tf.Session() as session:
            session.run(init)
            return seconds(lambda: session.run([loss, train], {x: 0.5, y: 1.75}), calls)


def chain(tf, length):
    """Seconds to build, for the first run, for a later run."""
    with tf.Graph().as_default():
        x = tf.Variable(0.0)
        init = tf.global_variables_initializer()
        begin = time.perf_counter()
        for _ in range(length):
            x = x + 1
        built = time.perf_counter() - begin
        with tf.Session() as session:
            session.run(init)
            begin = time.perf_counter()
            value = session.run(x)
            first = time.perf_counter() - begin
            begin = time.perf_counter()
            session.run(x)
            later = time.perf_counter() - begin
        assert value == length
    return built, first, later


# ---- NumPy and PyTorch


def numpy_regression():
    m = b = np.float32(0)
    x, y, rate = np.float32(0.5), np.float32(1.75), np.float32(1e-3)

    def step():
        nonlocal m, b
        difference = y - (m * x + b)
        slope = np.float32(-2) * difference * rate
        m, b = m - slope * x, b - slope
        return difference * difference

    return seconds(step, 5000)


def numpy_chain(length):
    x, one = np.zeros((), np.float32), np.ones((), np.float32)
    begin = time.perf_counter()
    for _ in range(length):
        x = np.add(x, one)
    return time.perf_counter() - begin


def torch_regression(torch):
    m = torch.zeros((), requires_grad=True)
    b = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([m, b], lr=1e-3)

    def step():
        loss = torch.square(torch.tensor(1.75) - (m * torch.tensor(0.5) + b))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return seconds(step, 1000, 5)


def import_seconds(statement):
    rounds = []
    for _ in range(7):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        rounds.append(time.perf_counter() - begin)
    return statistics.median(rounds)


def optional(name):
    """A module, or None: a peer that is broken is a peer that is not there."""
    if importlib.util.find_spec(name) is None:
        return None
    try:
        return importlib.import_module(name)
    except Exception as error:  # noqa: BLE001
        print(f"bench_python: {name} cannot be imported: {error}", file=sys.stderr)
        return None


def main():
    import rheos.v1 as rheos

    torch = optional("torch")
    tensorflow = optional("tensorflow")
    tf = tensorflow and tensorflow.compat.v1
    if tf:
        tf.disable_v2_behavior()

    one, x = np.float32(1), np.float32(2)
    peers = {"NumPy x + 1": seconds(lambda: np.add(x, one), 100000) * 1e6}
    if tf:
        peers["TensorFlow Session.run"] = scalar_add(tf, 2000) * 1e6
    if torch:
        t = torch.tensor(2.0)
        peers["PyTorch x + 1"] = seconds(lambda: t + 1, 20000) * 1e6
    report("one scalar add, Session.run, Python", "us", scalar_add(rheos, 20000) * 1e6, 4, peers)

    peers = {"NumPy by hand": numpy_regression() * 1e6}
    if tf:
        peers["TensorFlow Session.run"] = linear_regression(tf, 2000) * 1e6
    if torch:
        peers["PyTorch"] = torch_regression(torch) * 1e6
    report("linear regression step, Python", "us", linear_regression(rheos, 20000) * 1e6, 6, peers)

    built, first, later = chain(rheos, CHAIN)
    run = {"NumPy, a call an add": numpy_chain(CHAIN) * 1e3}
    build = {}
    if tf:  # a hundredth of the chain: the whole takes it minutes
        tf_built, tf_first, tf_later = chain(tf, CHAIN // 100)
        build["TensorFlow, 10k times 100"] = tf_built * 1e5
        run["TensorFlow, 10k times 100"] = tf_later * 1e5
    report("1M x = x + 1 from Python: build", "ms", built * 1e3, 4000, build)
    report("1M x = x + 1 from Python: first run", "ms", first * 1e3, 2000,
           {"TensorFlow, 10k times 100": tf_first * 1e5} if tf else None)
    report("1M x = x + 1 from Python: later runs", "ms", later * 1e3, None, run)

    numpy_import = import_seconds("import numpy")
    rheos_import = import_seconds("import numpy, rheos.v1")
    peers = {"import numpy": numpy_import * 1e3}
    if tf:
        peers["TensorFlow"] = (import_seconds("import numpy, tensorflow") - numpy_import) * 1e3
    if torch:
        peers["PyTorch"] = (import_seconds("import numpy, torch") - numpy_import) * 1e3
    report("import rheos.v1, beyond NumPy", "ms", (rheos_import - numpy_import) * 1e3, 200, peers)


if __name__ == "__main__":
    main()
