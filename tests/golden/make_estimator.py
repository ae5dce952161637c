#!/usr/bin/env python3
"""Records what TensorFlow 1.15's estimators make of programs, and what these give.

Usage: python make_estimator.py      (a Python that has TensorFlow 1.15.5)

Writes estimator.json; test_golden_estimator.py runs the same programs, which are here.
A program gets the module and an empty folder, and gives what is compared.
"""

import json
import os
import re
import sys
import tempfile

import numpy as np

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


X = (np.arange(20, dtype=np.float32).reshape(10, 2) / 10).astype(np.float32)
Y = X.sum(axis=1)


def linear(tf, metrics=True):
    def model_fn(features, labels, mode, params=None):
        rate = (params or {}).get("rate", 0.1)
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        y = tf.squeeze(tf.matmul(features["x"], w), 1)
        spec = tf.estimator.EstimatorSpec
        if mode == tf.estimator.ModeKeys.PREDICT:
            return spec(mode, predictions={"y": y, "twice": 2 * y})
        loss = tf.reduce_mean(tf.square(y - labels))
        step = tf.train.get_global_step()
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
        found = {"mae": tf.metrics.mean_absolute_error(labels, y)} if metrics else None
        return spec(mode, loss=loss, train_op=train_op, eval_metric_ops=found)

    return model_fn


def arrays(tf, num_epochs=None, batch_size=4, y=Y):
    return tf.estimator.inputs.numpy_input_fn(
        {"x": X}, y, batch_size=batch_size, num_epochs=num_epochs, shuffle=False
    )


def refused(tf, call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"


@program
def trains_and_evaluates(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), steps=5)
    return [
        estimator.evaluate(arrays(tf, 1)),
        estimator.evaluate(arrays(tf), steps=2),
        estimator.get_variable_names(),
        estimator.get_variable_value("w"),
        sorted(name for name in os.listdir(folder) if "events" not in name),
        os.listdir(os.path.join(folder, "eval"))[0][:6],
    ]


@program
def goes_on_from_the_checkpoint(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), steps=3)
    estimator.train(arrays(tf), steps=3)
    again = tf.estimator.Estimator(linear(tf), folder)
    again.train(arrays(tf), max_steps=7)
    again.train(arrays(tf), max_steps=7)
    return [again.evaluate(arrays(tf, 1)), os.path.basename(again.latest_checkpoint())]


@program
def ends_with_its_input(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf, num_epochs=2, batch_size=3))
    return estimator.evaluate(arrays(tf, 1, 3))


@program
def predicts(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), steps=2)
    features = arrays(tf, 1, y=None)
    rows = list(estimator.predict(features))
    some = list(estimator.predict(features, predict_keys=["twice"]))
    batches = list(estimator.predict(features, yield_single_examples=False))
    return [rows, some[-1], batches]


@program
def takes_datasets(tf, folder):
    def input_fn():
        rows = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
        return rows.repeat(3).batch(5)

    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(input_fn)
    return estimator.evaluate(input_fn, steps=2)


@program
def has_parameters(tf, folder):
    config = tf.estimator.RunConfig(folder, tf_random_seed=3, save_checkpoints_steps=2)
    estimator = tf.estimator.Estimator(linear(tf), config=config, params={"rate": 0.01})

    def input_fn(params, mode):
        assert params == {"rate": 0.01}
        x = tf.constant(X) * (2.0 if mode == tf.estimator.ModeKeys.TRAIN else 1.0)
        return {"x": x}, tf.constant(Y)

    estimator.train(input_fn, steps=5)
    saved = sorted(name for name in os.listdir(folder) if name.endswith("index"))
    return [estimator.evaluate(input_fn, steps=1), saved, estimator.params]


@program
def hooks_are_called(tf, folder):
    seen = []

    class Hook(tf.train.SessionRunHook):
        def begin(self):
            seen.append("begin")

        def after_create_session(self, session, coord):
            seen.append("created")

        def before_run(self, context):
            seen.append("before")
            return tf.train.SessionRunArgs(tf.train.get_global_step())

        def after_run(self, context, values):
            seen.append("after %d" % values.results)
            if values.results >= 2:
                context.request_stop()

        def end(self, session):
            seen.append("end")

    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), hooks=[Hook()], steps=5)
    return seen


@program
def warm_start(tf, folder):
    first = tf.estimator.Estimator(linear(tf), os.path.join(folder, "a"))
    first.train(arrays(tf), steps=4)
    second = tf.estimator.Estimator(
        linear(tf), os.path.join(folder, "b"), warm_start_from=os.path.join(folder, "a")
    )
    second.train(arrays(tf), steps=1)
    return [second.get_variable_value("w"), second.evaluate(arrays(tf, 1))]


@program
def trains_and_evaluates_in_turn(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    train = tf.estimator.TrainSpec(arrays(tf), max_steps=6)
    found = tf.estimator.train_and_evaluate(
        estimator, train, tf.estimator.EvalSpec(arrays(tf, 1), steps=None)
    )
    return found[0]


@program
def several_features_and_targets(tf, folder):
    def model_fn(features, labels, mode):
        names = sorted(features), sorted(labels)
        total = tf.reduce_sum(features["a"]) + tf.reduce_sum(tf.cast(features["b"], tf.float32))
        seen.append([names, str(features["b"].dtype), features["a"].shape.as_list()])
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.square(w * total - tf.reduce_sum(labels["t"]))
        train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    seen = []
    input_fn = tf.estimator.inputs.numpy_input_fn(
        {"b": np.arange(6), "a": X[:6]}, {"t": Y[:6]}, batch_size=3, num_epochs=1, shuffle=False
    )
    estimator = tf.estimator.Estimator(model_fn, folder)
    estimator.train(input_fn)
    return [seen, estimator.evaluate(input_fn)]


@program
def one_array(tf, folder):
    input_fn = tf.estimator.inputs.numpy_input_fn(X, batch_size=3, num_epochs=2, shuffle=False)
    with tf.Graph().as_default():
        batch = input_fn()
        with tf.Session() as session:
            coord = tf.train.Coordinator()
            tf.train.start_queue_runners(session, coord)
            found = []
            try:
                while True:
                    found.append(session.run(batch))
            except tf.errors.OutOfRangeError:
                pass
            coord.request_stop()
            return found


@program
def shuffled_rows_come_once(tf, folder):
    input_fn = tf.estimator.inputs.numpy_input_fn(
        {"x": np.arange(50)}, batch_size=8, num_epochs=1, shuffle=True
    )
    with tf.Graph().as_default():
        batch = input_fn()["x"]
        with tf.Session() as session:
            coord = tf.train.Coordinator()
            tf.train.start_queue_runners(session, coord)
            found = []
            try:
                while True:
                    found += session.run(batch).tolist()
            except tf.errors.OutOfRangeError:
                pass
            coord.request_stop()
            return sorted(found)


@program
def exports(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), steps=2)

    def receiver_fn():
        x = tf.placeholder(tf.float32, [None, 2], name="x_in")
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    path = estimator.export_saved_model(os.path.join(folder, "export"), receiver_fn)
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.load(session, ["serve"], path.decode())
        found = {}
        for key in sorted(model.signature_def):
            signature = model.signature_def[key]
            ins = {k: v.name for k, v in signature.inputs.items()}
            outs = {k: v.name for k, v in signature.outputs.items()}
            found[key] = [ins, outs, signature.method_name]
        y = session.run(outs["y"], {ins["x"]: X[:2]})
        return [found, y]


@program
def exports_of_examples(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), steps=2)
    spec = {"x": tf.FixedLenFeature([2], tf.float32)}
    receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    path = estimator.export_saved_model(os.path.join(folder, "export"), receiver_fn)
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.extend([1.0, 2.0])
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.load(session, ["serve"], path.decode())
        signature = model.signature_def["serving_default"]
        feed = {signature.inputs["examples"].name: [example.SerializeToString()]}
        return session.run(signature.outputs["twice"].name, feed)


@program
def what_is_refused(tf, folder):
    e = tf.estimator
    loss, op = tf.constant(1.0), tf.no_op()
    estimator = e.Estimator(linear(tf), folder)
    calls = [
        lambda: e.EstimatorSpec(e.ModeKeys.TRAIN, loss=loss),
        lambda: e.EstimatorSpec(e.ModeKeys.TRAIN, train_op=op),
        lambda: e.EstimatorSpec(e.ModeKeys.EVAL),
        lambda: e.EstimatorSpec(e.ModeKeys.PREDICT),
        lambda: e.EstimatorSpec(e.ModeKeys.TRAIN, loss=tf.constant([1.0, 2.0]), train_op=op),
        lambda: e.EstimatorSpec(e.ModeKeys.EVAL, loss=loss, eval_metric_ops={"a": loss}),
        lambda: e.EstimatorSpec(e.ModeKeys.EVAL, loss=loss, evaluation_hooks=[3]),
        lambda: e.Estimator(None),
        lambda: e.Estimator(lambda x: x),
        lambda: e.Estimator(lambda features: 1, params={"a": 1}),
        lambda: e.Estimator(linear(tf), config=3),
        lambda: e.Estimator(linear(tf), folder, e.RunConfig("/elsewhere")),
        lambda: e.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1),
        lambda: estimator.train(arrays(tf), steps=1, max_steps=2),
        lambda: estimator.train(arrays(tf), steps=0),
        lambda: estimator.train(arrays(tf), hooks=[1]),
        lambda: estimator.evaluate(arrays(tf), steps=-1),
        lambda: estimator.train(lambda: (1, 2, 3)),
        lambda: estimator.get_variable_value("w"),
        lambda: e.inputs.numpy_input_fn({"x": X}),
        lambda: e.inputs.numpy_input_fn({"x": X}, Y[:3], shuffle=False)(),
        lambda: e.inputs.numpy_input_fn({"x": X}, {"x": Y}, shuffle=False)(),
        lambda: e.inputs.numpy_input_fn({}, shuffle=False)(),
        lambda: e.TrainSpec(arrays(tf), max_steps=0),
        lambda: e.EvalSpec(arrays(tf), steps=0),
        lambda: e.train_and_evaluate(estimator, 1, 2),
    ]
    return [refused(tf, call) for call in calls]


# The names of what sessions need, which do not belong to the model.
APART = re.compile(r"(init|group_deps|report_|concat|save|Merge)")


@program
def nodes_of_training(tf, folder):
    estimator = tf.estimator.Estimator(linear(tf), folder)
    estimator.train(arrays(tf), steps=1)
    path = tf.train.latest_checkpoint(folder) + ".meta"
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(path)
        nodes = graph.as_graph_def().node
        return [[n.name, n.op, list(n.input)] for n in nodes if not APART.match(n.name)]


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float("%.5g" % value)
    return value


def answer(tf, name):
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return plain(PROGRAMS[name](tf, folder))


def main():
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    rows = ["%s: %s" % (json.dumps(name), json.dumps(answer(tf, name))) for name in PROGRAMS]
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "estimator.json"), "w") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
