"""Programs as everyday users of tf.keras write them: see keras_programs.py."""

from keras_programs import numbers, program


def _fitted(tf, optimizer):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3)])
    model.compile(optimizer, "mse")
    model.fit(numbers(4, 2), numbers(4, 3), verbose=0)
    return model.optimizer


@program
def variables_of_optimizers(tf):
    kinds, found = tf.keras.optimizers, {}
    slow = kinds.schedules.ExponentialDecay(0.1, 10, 0.9)
    for name, optimizer in {
        "sgd": kinds.SGD(),
        "momentum": kinds.SGD(0.1, momentum=0.9),
        "adam": kinds.Adam(0.1),
        "amsgrad": kinds.Adam(0.1, amsgrad=True),
        "rmsprop": kinds.RMSprop(momentum=0.1, centered=True),
        "scheduled": kinds.Adam(slow),
        "ftrl": kinds.Ftrl(),
        "lion": kinds.Lion(),
    }.items():
        found[name] = [list(v.shape) for v in _fitted(tf, optimizer).variables]
    return found


@program
def variables_of_an_optimizer_of_a_loop(tf):
    weights = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
    optimizer = tf.keras.optimizers.Adam(0.5)
    with tf.GradientTape() as tape:
        loss = sum(tf.reduce_sum(w * w) for w in weights)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return [v.numpy() for v in optimizer.variables]


def _shown(model):
    lines = []
    model.summary(print_fn=lines.append)
    rows = "\n".join(lines).split("\n")
    return [row.split("\u2502")[2].strip() for row in rows if row.count("\u2502") == 4]


@program
def a_table_after_each_way_to_call(tf):
    class Two(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(8, activation="relu")
            self.last = tf.keras.layers.Dense(3)

        def call(self, x):
            return self.last(self.first(x))

    x, y = numbers(70, 4), numbers(70, 3)
    found = {}
    for way in ("fit", "evaluate", "dataset", "called"):
        model = Two()
        model.compile("sgd", "mse")
        if way == "fit":
            model.fit(x, y, verbose=0)
        elif way == "evaluate":
            model.evaluate(x, y, verbose=0)
        elif way == "dataset":
            data = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
            model.fit(data, verbose=0)
        else:
            model(x)
        found[way] = _shown(model)
    return found
