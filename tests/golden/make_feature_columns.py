#!/usr/bin/env python3
"""Records what feature columns and canned estimators of TensorFlow 1.15 give.

python tests/golden/make_feature_columns.py, from the root of the repository, with 1.15.
Writes feature_columns.json; test_feature_columns.py runs the same programs, which are
here. A program gets the module and an empty folder; what it gives is compared: numbers nearly,
errors by their class.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def features(tf):
    return {
        "a": tf.constant([1.0, 2.0, 3.0]),
        "b": tf.constant([[1.0, 20.0], [5.0, 6.0], [-7.0, 8.0]]),
        "n": tf.constant([[3], [0], [7]], tf.int64),
        "s": tf.constant(["x", "y", "zz"]),
        "t": tf.constant([["x", ""], ["y", "x"], ["", ""]]),
        "i": tf.constant([0, 1, 3]),
        "m": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["x", "q", "y"], [3, 2]),
        "w": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1.0, 0.5, 2.0], [3, 2]),
        "q": tf.SparseTensor(
            [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]], [2, 0, 1, 3, 3, 1], [3, 3]
        ),
        "z": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 1.5, 2.5], [3, 2]),
    }


def listed(value):
    value = np.asarray(value)
    if value.dtype.kind in "OS":
        return [x.decode() for x in value.ravel()]
    return value.tolist()


def rows(tf, shift=0.0):
    """Initializer of a table whose numbers tell where they stand."""
    return lambda shape, dtype=None, partition_info=None: tf.reshape(
        tf.range(shape[0] * shape[1], dtype=tf.float32) / 8 + shift, shape
    )


def evaluated(tf, build):
    """What `build` makes of the features, and its variables."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = build(tf.feature_column, features(tf))
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        values = [listed(x) for x in session.run(tf.contrib.framework.nest.flatten(made))]
        names = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
        trained = [v.op.name for v in tf.trainable_variables()]
        model = [v.op.name for v in tf.model_variables()]
    return {"values": values, "variables": names, "trained": trained, "model": model}


def refused(tf, build):
    try:
        evaluated(tf, build)
    except Exception as error:
        return type(error).__name__
    return "nothing"


def inputs(**columns):
    """Programs: each the input layer of columns."""
    for name, make in columns.items():

        def run(tf, folder, make=make):
            return evaluated(tf, lambda fc, f: fc.input_layer(f, make(tf, fc)))

        PROGRAMS["input_" + name] = run


def models(**columns):
    """Programs: each a linear model of columns, whose weights a step has moved."""
    for name, make in columns.items():

        def run(tf, folder, make=make):
            def build(fc, f):
                return fc.linear_model(f, make(tf, fc), units=2, sparse_combiner="mean")

            plain = evaluated(tf, build)
            with tf.Graph().as_default(), tf.Session() as session:
                f = features(tf)
                variables = {}
                logits = tf.feature_column.linear_model(
                    f, make(tf, tf.feature_column), cols_to_vars=variables
                )
                loss = tf.reduce_sum(tf.square(logits - [[1.0], [2.0], [-1.0]]))
                step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
                session.run([tf.global_variables_initializer(), tf.tables_initializer()])
                losses = []
                for _ in range(3):
                    losses.append(float(session.run([loss, step])[0]))
                plain["losses"], plain["after"] = losses, listed(session.run(logits))
                plain["of_columns"] = sorted(
                    [getattr(key, "name", key), [v.op.name for v in value]]
                    for key, value in variables.items()
                )
            return plain

        PROGRAMS["linear_" + name] = run


inputs(
    numeric=lambda tf, fc: [fc.numeric_column("a")],
    numeric_of_two=lambda tf, fc: [fc.numeric_column("b", 2), fc.numeric_column("a")],
    normalized=lambda tf, fc: [fc.numeric_column("a", normalizer_fn=lambda x: (x - 1) / 2)],
    whole_numbers=lambda tf, fc: [fc.numeric_column("n", dtype=tf.int64)],
    bucketized=lambda tf, fc: [
        fc.bucketized_column(fc.numeric_column("b", 2), [0, 5.0, 10]),
        fc.numeric_column("a"),
    ],
    indicator_list=lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("m", ["x", "y", "z"]))
    ],
    indicator_oov=lambda tf, fc: [
        fc.indicator_column(
            fc.categorical_column_with_vocabulary_list("t", ["x"], num_oov_buckets=2)
        )
    ],
    indicator_default=lambda tf, fc: [
        fc.indicator_column(
            fc.categorical_column_with_vocabulary_list("m", ["x", "y"], default_value=1)
        )
    ],
    indicator_of_integers=lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("i", [3, 1]))
    ],
    indicator_hash=lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_hash_bucket("s", 5)),
        fc.indicator_column(fc.categorical_column_with_hash_bucket("n", 4, tf.int64)),
    ],
    indicator_identity=lambda tf, fc: [
        fc.indicator_column(fc.categorical_column_with_identity("i", 4)),
        fc.indicator_column(fc.categorical_column_with_identity("n", 4, default_value=2)),
    ],
    indicator_weighted=lambda tf, fc: [
        fc.indicator_column(
            fc.weighted_categorical_column(
                fc.categorical_column_with_vocabulary_list("m", ["x", "q", "y"]), "w"
            )
        )
    ],
    indicator_crossed=lambda tf, fc: [
        fc.indicator_column(fc.crossed_column(["s", "t"], 7)),
        fc.indicator_column(
            fc.crossed_column(
                [fc.bucketized_column(fc.numeric_column("a"), [1.5]), "m"], 5, hash_key=17
            )
        ),
    ],
    indicator_file=lambda tf, fc: [
        fc.indicator_column(
            fc.categorical_column_with_vocabulary_file(
                "t", "tests/golden/datasets/files/more.txt", num_oov_buckets=1
            )
        )
    ],
    embedding=lambda tf, fc: [
        fc.embedding_column(
            fc.categorical_column_with_vocabulary_list("m", ["x", "q", "y"]),
            2,
            initializer=rows(tf),
        ),
        fc.numeric_column("a"),
    ],
    embedding_sum=lambda tf, fc: [
        fc.embedding_column(
            fc.categorical_column_with_hash_bucket("t", 4), 3, "sum", rows(tf), trainable=False
        )
    ],
    embedding_norm=lambda tf, fc: [
        fc.embedding_column(
            fc.categorical_column_with_identity("i", 4), 2, "sqrtn", rows(tf), max_norm=1.0
        )
    ],
    embedding_weighted=lambda tf, fc: [
        fc.embedding_column(
            fc.weighted_categorical_column(
                fc.categorical_column_with_vocabulary_list("m", ["x", "q", "y"]), "w"
            ),
            2,
            initializer=rows(tf),
        )
    ],
    embedding_of_buckets=lambda tf, fc: [
        fc.embedding_column(
            fc.bucketized_column(fc.numeric_column("b", 2), [0.0, 6.0]), 2, initializer=rows(tf)
        )
    ],
    shared=lambda tf, fc: fc.shared_embedding_columns(
        [
            fc.categorical_column_with_vocabulary_list("m", ["x", "y"]),
            fc.categorical_column_with_vocabulary_list("s", ["y", "zz"]),
        ],
        2,
        initializer=rows(tf),
    ),
    shared_named=lambda tf, fc: fc.shared_embedding_columns(
        [
            fc.categorical_column_with_identity("i", 4),
            fc.categorical_column_with_identity("n", 4, 0),
        ],
        3,
        "sum",
        rows(tf),
        "table",
        max_norm=2.0,
    ),
)
models(
    numeric=lambda tf, fc: [fc.numeric_column("a"), fc.numeric_column("b", 2)],
    categories=lambda tf, fc: [
        fc.categorical_column_with_vocabulary_list("m", ["x", "q", "y"]),
        fc.categorical_column_with_hash_bucket("s", 5),
        fc.categorical_column_with_identity("i", 4),
    ],
    weighted=lambda tf, fc: [
        fc.weighted_categorical_column(
            fc.categorical_column_with_vocabulary_list("m", ["x", "q", "y"]), "w"
        )
    ],
    mixed=lambda tf, fc: [
        fc.bucketized_column(fc.numeric_column("b", 2), [0, 5.0]),
        fc.crossed_column(["s", "t"], 6),
        fc.embedding_column(fc.categorical_column_with_identity("i", 4), 2, initializer=rows(tf)),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("t", ["x", "y"])),
    ],
)


@program
def sequences(tf, folder):
    def build(fc, f):
        columns = [
            fc.embedding_column(
                fc.sequence_categorical_column_with_identity("q", 4), 2, initializer=rows(tf)
            ),
            fc.indicator_column(fc.sequence_categorical_column_with_identity("q", 4)),
        ]
        return tf.contrib.feature_column.sequence_input_layer(f, columns)

    return evaluated(tf, build)


@program
def sequences_of_numbers(tf, folder):
    def build(fc, f):
        column = fc.sequence_numeric_column("z", default_value=-1.0)
        return tf.keras.experimental.SequenceFeatures([column])(f)

    return evaluated(tf, build)


@program
def two_layers(tf, folder):
    def build(fc, f):
        column = fc.embedding_column(
            fc.categorical_column_with_identity("i", 4), 2, initializer=rows(tf)
        )
        first = fc.input_layer(f, [column])
        with tf.variable_scope("deep"):
            return first, fc.input_layer(f, [column]), fc.input_layer(f, [column])

    return evaluated(tf, build)


@program
def dense_features(tf, folder):
    def build(fc, f):
        columns = [
            fc.numeric_column("b", 2),
            fc.embedding_column(
                fc.categorical_column_with_vocabulary_list("m", ["x", "y"]), 2, initializer=rows(tf)
            ),
        ]
        layer = tf.keras.layers.DenseFeatures(columns)
        return layer(f), layer(f)

    return evaluated(tf, build)


@program
def parse_specs(tf, folder):
    fc = tf.feature_column
    spec = fc.make_parse_example_spec(
        [
            fc.numeric_column("x", 2, default_value=1.5),
            fc.numeric_column("k", dtype=tf.int64),
            fc.bucketized_column(fc.numeric_column("y"), [1]),
            fc.embedding_column(fc.categorical_column_with_hash_bucket("s", 3), 2),
            fc.weighted_categorical_column(fc.categorical_column_with_identity("i", 3), "w"),
            fc.crossed_column(["s", "u"], 4),
        ]
    )
    return {key: repr(value) for key, value in sorted(spec.items())}


@program
def names(tf, folder):
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("s", ["a", "b"])
    made = [
        fc.numeric_column("x"),
        fc.bucketized_column(fc.numeric_column("y"), [1, 2]),
        words,
        fc.indicator_column(words),
        fc.embedding_column(words, 3),
        fc.weighted_categorical_column(words, "w"),
        fc.crossed_column(["u", words], 10),
        *fc.shared_embedding_columns([words], 2),
    ]
    return [column.name for column in made]


@program
def wrong_columns(tf, folder):
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("s", ["a", "b"])
    wrong = [
        lambda fc, f: fc.input_layer(f, [words]),
        lambda fc, f: fc.input_layer(f, []),
        lambda fc, f: fc.input_layer(f, [fc.numeric_column("a"), fc.numeric_column("a")]),
        lambda fc, f: fc.input_layer(f, [fc.numeric_column("missing")]),
        lambda fc, f: fc.input_layer(f, [fc.numeric_column("m")]),
        lambda fc, f: fc.input_layer(f, [fc.numeric_column("s")]),
        lambda fc, f: fc.input_layer(f, [fc.numeric_column("b", 3)]),
        lambda fc, f: fc.input_layer(dict(f, a=tf.constant(1.0)), [fc.numeric_column("a")]),
        lambda fc, f: fc.input_layer(
            f, [fc.indicator_column(fc.categorical_column_with_identity("n", 4))]
        ),
        lambda fc, f: fc.linear_model(f, [fc.categorical_column_with_hash_bucket("a", 4)]),
        lambda fc, f: fc.numeric_column("a", 0),
        lambda fc, f: fc.numeric_column("a", 1.5),
        lambda fc, f: fc.numeric_column("a", dtype=tf.string),
        lambda fc, f: fc.numeric_column("a", default_value="x"),
        lambda fc, f: fc.numeric_column("a", 2, default_value=[1.0]),
        lambda fc, f: fc.numeric_column(3),
        lambda fc, f: fc.bucketized_column(words, [1]),
        lambda fc, f: fc.bucketized_column(fc.numeric_column("a"), [2, 1]),
        lambda fc, f: fc.categorical_column_with_hash_bucket("s", 0),
        lambda fc, f: fc.categorical_column_with_vocabulary_list("s", []),
        lambda fc, f: fc.categorical_column_with_vocabulary_list("s", ["a", "a"]),
        lambda fc, f: fc.categorical_column_with_vocabulary_list("s", [0.5]),
        lambda fc, f: fc.categorical_column_with_vocabulary_file("s", "no such file"),
        lambda fc, f: fc.categorical_column_with_identity("i", 2, 2),
        lambda fc, f: fc.crossed_column(["a"], 3),
        lambda fc, f: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("s", 3)], 3),
        lambda fc, f: fc.embedding_column(words, 0),
        lambda fc, f: fc.embedding_column(words, 2, initializer=3),
        lambda fc, f: fc.embedding_column(words, 2, ckpt_to_load_from="x"),
        lambda fc, f: fc.shared_embedding_columns(
            [words, fc.categorical_column_with_identity("i", 2)], 2
        ),
    ]
    return [refused(tf, build) for build in wrong]


@program
def tables_from_checkpoints(tf, folder):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("table", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, os.path.join(folder, "kept"))
    return evaluated(
        tf,
        lambda fc, f: fc.input_layer(
            f,
            [
                fc.embedding_column(
                    fc.categorical_column_with_identity("i", 4),
                    2,
                    ckpt_to_load_from=path,
                    tensor_name_in_ckpt="table",
                )
            ],
        ),
    )


# ---- Canned estimators

AGES = np.array([18, 25, 33, 41, 52, 60, 22, 37], np.float32)
CITIES = np.array(["oslo", "rome", "oslo", "bern", "rome", "bern", "lima", "oslo"])
RICH = np.array([0, 0, 1, 1, 1, 0, 0, 1])


def table(tf, labels, epochs=None, **more):
    given = {"age": AGES / 50, "city": CITIES, **more}
    return tf.estimator.inputs.numpy_input_fn(
        given, labels, batch_size=4, num_epochs=epochs, shuffle=False
    )


def columns_of_table(tf):
    fc = tf.feature_column
    age = fc.numeric_column("age")
    city = fc.categorical_column_with_vocabulary_list("city", ["oslo", "rome", "bern"])
    buckets = fc.bucketized_column(age, [0.5, 0.8])
    return age, city, buckets


def begun(tf, folder, shapes):
    """A checkpoint of variables whose values tell where they stand, to start from."""
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            values = np.sin(np.arange(size) * 1.7 + len(name)).reshape(shape).astype(np.float32)
            tf.get_variable(name, initializer=values / 2)
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, os.path.join(folder, "begun"))


def lived(tf, made, labels, steps=6, **more):
    """What an estimator tells after some steps."""
    made.train(table(tf, labels, **more), steps=steps)
    found = made.evaluate(table(tf, labels, epochs=1, **more))
    predicted = list(made.predict(table(tf, None, epochs=1, **more)))
    return {
        "metrics": {key: float(value) for key, value in sorted(found.items())},
        "variables": {
            name: listed(made.get_variable_value(name).shape) for name in made.get_variable_names()
        },
        "predictions": {key: [listed(p[key]) for p in predicted[:3]] for key in predicted[0]},
    }


@program
def linear_classifier(tf, folder):
    age, city, buckets = columns_of_table(tf)
    crossed = tf.feature_column.crossed_column([buckets, "city"], 10)
    return lived(tf, tf.estimator.LinearClassifier([age, city, buckets, crossed], folder), RICH)


@program
def linear_classifier_of_names(tf, folder):
    age, city, _ = columns_of_table(tf)
    names = np.array(["low", "mid", "high", "mid", "low", "low", "high", "mid"])
    made = tf.estimator.LinearClassifier(
        [age, city],
        folder,
        3,
        label_vocabulary=["low", "mid", "high"],
        optimizer=tf.train.GradientDescentOptimizer(0.1),
        sparse_combiner="mean",
        loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    )
    return lived(tf, made, names)


@program
def linear_regressor_of_weights(tf, folder):
    age, city, _ = columns_of_table(tf)
    made = tf.estimator.LinearRegressor([age, city], folder, 2, "w", optimizer="SGD")
    labels = np.stack([AGES / 20, RICH], 1).astype(np.float32)
    return lived(tf, made, labels, w=np.arange(1, 9, dtype=np.float32) / 8)


@program
def binary_of_weights(tf, folder):
    age, city, _ = columns_of_table(tf)
    made = tf.estimator.LinearClassifier([age, city], folder, weight_column="w", optimizer="Adam")
    return lived(tf, made, RICH, w=np.arange(1, 9, dtype=np.float32) / 8)


@program
def baselines(tf, folder):
    first = tf.estimator.BaselineClassifier(os.path.join(folder, "a"), 2)
    second = tf.estimator.BaselineClassifier(os.path.join(folder, "b"), 3)
    third = tf.estimator.BaselineRegressor(os.path.join(folder, "c"), weight_column="w")
    weights = np.arange(1, 9, dtype=np.float32) / 8
    return [
        lived(tf, first, RICH),
        lived(tf, second, RICH * 2),
        lived(tf, third, AGES / 20, w=weights),
    ]


DEEP = {
    "dnn/input_from_feature_columns/input_layer/city_embedding/embedding_weights": [3, 2],
    "dnn/hiddenlayer_0/kernel": [3, 5],
    "dnn/hiddenlayer_0/bias": [5],
    "dnn/hiddenlayer_1/kernel": [5, 4],
    "dnn/hiddenlayer_1/bias": [4],
    "dnn/logits/kernel": [4, 1],
    "dnn/logits/bias": [1],
}


def deep_columns(tf):
    age, city, _ = columns_of_table(tf)
    return [age, tf.feature_column.embedding_column(city, 2)]


@program
def dnn_classifier(tf, folder):
    made = tf.estimator.DNNClassifier(
        [5, 4],
        deep_columns(tf),
        os.path.join(folder, "model"),
        warm_start_from=begun(tf, folder, DEEP),
    )
    return lived(tf, made, RICH)


@program
def dnn_regressor_with_batch_norm(tf, folder):
    made = tf.estimator.DNNRegressor(
        [5, 4],
        deep_columns(tf),
        os.path.join(folder, "model"),
        optimizer="RMSProp",
        activation_fn=tf.tanh,
        batch_norm=True,
        warm_start_from=tf.estimator.WarmStartSettings(
            begun(tf, folder, DEEP), "(?!.*batchnorm).*"
        ),
    )
    return lived(tf, made, AGES / 20)


@program
def wide_and_deep(tf, folder):
    _, city, buckets = columns_of_table(tf)
    made = tf.estimator.DNNLinearCombinedClassifier(
        os.path.join(folder, "model"),
        [city, buckets],
        dnn_feature_columns=deep_columns(tf),
        dnn_hidden_units=[5, 4],
        warm_start_from=tf.estimator.WarmStartSettings(begun(tf, folder, DEEP), "dnn/.*"),
    )
    return lived(tf, made, RICH)


@program
def wide_and_deep_numbers(tf, folder):
    _, city, buckets = columns_of_table(tf)
    made = tf.estimator.DNNLinearCombinedRegressor(
        os.path.join(folder, "model"),
        [city, buckets],
        "SGD",
        deep_columns(tf),
        "SGD",
        [5, 4],
        dnn_dropout=0.0,
        warm_start_from=tf.estimator.WarmStartSettings(begun(tf, folder, DEEP), "dnn/.*"),
    )
    return lived(tf, made, AGES / 20)


@program
def exported(tf, folder):
    age, city, _ = columns_of_table(tf)
    made = tf.estimator.LinearClassifier([age, city], os.path.join(folder, "model"))
    made.train(table(tf, RICH), steps=3)
    spec = tf.feature_column.make_parse_example_spec([age, city])
    path = made.export_savedmodel(
        os.path.join(folder, "out"),
        tf.estimator.export.build_parsing_serving_input_receiver_fn(spec),
    )
    example = tf.train.Example()
    example.features.feature["age"].float_list.value.append(0.7)
    example.features.feature["city"].bytes_list.value.append(b"rome")
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], path.decode())
        signatures = loaded.signature_def
        scores = signatures["serving_default"].outputs["scores"].name
        feed = signatures["serving_default"].inputs["inputs"].name
        found = session.run(scores, {feed: [example.SerializeToString()]})
        return {"signatures": sorted(signatures), "scores": listed(found)}


@program
def example_specs(tf, folder):
    age, city, _ = columns_of_table(tf)
    first = tf.estimator.classifier_parse_example_spec([age, city], "label", weight_column="w")
    second = tf.estimator.regressor_parse_example_spec([age], "label", label_dimension=2)
    return [{key: repr(x[key]) for key in sorted(x)} for x in (first, second)]


@program
def wrong_estimators(tf, folder):
    age, city, _ = columns_of_table(tf)
    e, new = tf.estimator, lambda: tempfile.mkdtemp(dir=folder)
    calls = [
        lambda: e.LinearClassifier([age], new(), 1),
        lambda: e.LinearClassifier([age], new(), label_vocabulary="ab"),
        lambda: e.LinearClassifier([age], new(), 3).train(table(tf, RICH / 2), steps=1),
        lambda: e.LinearClassifier([age], new()).train(table(tf, RICH + 1), steps=1),
        lambda: e.LinearClassifier([age], new()).train(table(tf, None), steps=1),
        lambda: e.LinearClassifier([], new()).train(table(tf, RICH), steps=1),
        lambda: e.LinearRegressor([age], new(), 2).train(table(tf, RICH), steps=1),
        lambda: e.LinearRegressor([age], new(), optimizer="None").train(table(tf, RICH), steps=1),
        lambda: e.LinearRegressor([age], new(), weight_column="w").train(table(tf, RICH), steps=1),
        lambda: e.DNNClassifier([3], [city], new()).train(table(tf, RICH), steps=1),
        lambda: e.DNNLinearCombinedClassifier(new()),
        lambda: e.DNNLinearCombinedClassifier(new(), dnn_feature_columns=[age]).train(
            table(tf, RICH), steps=1
        ),
        lambda: e.LinearClassifier([age], new(), loss_reduction="x"),
    ]
    found = []
    for call in calls:
        try:
            call()
            found.append("nothing")
        except Exception as error:
            found.append(type(error).__name__)
    return found


def answer(tf, name):
    with tempfile.TemporaryDirectory() as folder:
        return PROGRAMS[name](tf, folder)


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    path = Path(__file__).resolve().parent / "feature_columns.json"
    known = json.loads(path.read_text()) if path.exists() and sys.argv[1:] else {}
    for name in sys.argv[1:] or list(PROGRAMS):
        known[name] = answer(tensorflow, name)
    lines = [f" {json.dumps(k)}: {json.dumps(known[k])}" for k in PROGRAMS if k in known]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
