"""What is not there is said, and can be asked for."""

import subprocess
import sys

import pytest
import rheos.v1 as tf


@pytest.mark.parametrize("module", ["tf", "tf.nn", "tf.math", "tf.linalg", "tf.train"])
def test_a_name_that_is_not_there_is_named(module):
    found = eval(module, {"tf": tf})
    assert not hasattr(found, "no_such_thing")
    with pytest.raises(AttributeError, match=f"{module}.no_such_thing, it is not in Rheos yet"):
        found.no_such_thing


def test_programs_can_ask_which_name_exists():
    assert "concat" in dir(tf) and "no_such_thing" not in dir(tf)
    assert getattr(tf, "no_such_thing", None) is None


@pytest.mark.parametrize(
    "wrong, right",
    [
        ("placehodler", "tf.placeholder"),
        ("layers.dense1", "tf.layers.dense"),
        ("train.AdamOptmizer", "tf.train.AdamOptimizer"),
        ("contrib.learn.RunConfig", "tf.estimator.RunConfig"),
        ("contrib.layers.fully_conected", "tf.contrib.layers.fully_connected"),
        ("raw_ops.MatMull", "tf.raw_ops.MatMul"),
    ],
)
def test_a_misspelt_name_tells_near_ones(wrong, right):
    with pytest.raises(AttributeError, match=f"did you mean .*{right}"):
        eval(f"tf.{wrong}")


def test_what_is_near_is_said_once():
    program = "import rheos.v1 as tf; tf.reduce_meen"
    done = subprocess.run(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert done.stderr.lower().count("did you mean") == 1



@pytest.mark.parametrize(
    "ask, near",
    [
        (lambda: tf.keras.optimizers.get("adm"), "'adam'"),
        (lambda: tf.keras.optimizers.get("SDG"), "'SGD'"),
        (lambda: tf.keras.losses.get("meen_squared_error"), "'mean_squared_error'"),
        (lambda: tf.keras.activations.get("rellu"), "'relu'"),
        (lambda: tf.keras.initializers.get("glorot_unifrom"), "'glorot_uniform'"),
        (lambda: tf.Graph().create_op("MatMull", [], []), "'MatMul'"),
    ],
)
def test_an_unknown_object_or_op_tells_near_ones(ask, near):
    with pytest.raises((ValueError, tf.errors.NotFoundError), match=f"did you mean .*{near}"):
        ask()
