"""Estimators of tf.contrib.tpu without a TPU."""

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.framework import errors

tpu = tf.contrib.tpu


def model_fn(features, labels, mode, params):
    prediction = tf.layers.dense(features, 1, name="line")[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tpu.TPUEstimatorSpec(mode, predictions={"y": prediction})
    loss = tf.reduce_mean(tf.square(prediction - labels))
    optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    rows = tf.fill([params["batch_size"]], 1.0)

    def metrics(rows, errors):
        return {"rows": tf.metrics.mean(tf.size(rows)), "error": tf.metrics.mean(errors)}

    return tpu.TPUEstimatorSpec(
        mode,
        loss=loss,
        train_op=train,
        eval_metrics=(metrics, {"rows": rows, "errors": tf.abs(prediction - labels)}),
        host_call=(lambda x: tf.py_func(seen.append, [x], []), [loss]),
    )


seen = []


def input_fn(params):
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    data = tf.data.Dataset.from_tensor_slices((x, 3 * x[:, 0] + 1)).repeat(8)
    return data.batch(params["batch_size"], drop_remainder=True)


def estimator(folder, **options):
    config = tpu.RunConfig(
        model_dir=str(folder), tpu_config=tpu.TPUConfig(iterations_per_loop=10), tf_random_seed=1
    )
    options = {"use_tpu": False, **options}
    return tpu.TPUEstimator(
        model_fn, config=config, train_batch_size=16, eval_batch_size=8, **options
    )


def test_it_trains_evaluates_and_predicts(tmp_path):
    made = estimator(tmp_path)
    seen.clear()
    made.train(input_fn, max_steps=30)
    assert len(seen) == 30 and seen[-1] < seen[0]
    results = made.evaluate(input_fn, steps=4)
    assert (results["rows"], results["global_step"]) == (8, 30)
    rows = made.predict(lambda params: tf.data.Dataset.from_tensors([[0.0], [1.0]]))
    first, second = (row["y"] for row in rows)
    assert abs(first - 1) < 0.7 and second > first


def test_a_tpu_is_refused(tmp_path):
    with pytest.raises(errors.InvalidArgumentError, match="use_tpu=False"):
        estimator(tmp_path, use_tpu=True).train(input_fn, max_steps=1)


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ({"eval_metrics": 3}, "eval_metrics should be a tuple"),
        ({"host_call": (len, 3)}, r"host_call\[1\] should be a tuple, list or dict"),
        ({"eval_metrics": (len, [3])}, r"eval_metrics\[1\] should have tensors"),
    ],
)
def test_calls_are_functions_with_tensors(calls, message):
    with pytest.raises(ValueError, match=message):
        tpu.TPUEstimatorSpec("eval", **calls)


def test_the_batch_size_is_the_estimators_own(tmp_path):
    with pytest.raises(ValueError, match="reserved keys"):
        estimator(tmp_path, params={"batch_size": 3})
