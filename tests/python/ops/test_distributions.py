"""tf.distributions answers what TensorFlow 1.15 answered (tests/golden/distributions.json)."""

import importlib.util
import json
import os

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = os.path.join(os.path.dirname(__file__), "../..", "golden")
# In TensorFlow: several draws in a loop, another order of the same stream; an error of its own; and
# a batch shape that the counts have no part in.
OTHERWISE = {
    "multinomial sample", "urn sample", "urns sample", "dirichlet mode", "urns batch_shape",
}  # fmt: skip


@pytest.fixture(scope="module")
def answers():
    path = os.path.join(GOLDEN, "make_distributions.py")
    spec = importlib.util.spec_from_file_location("make_distributions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build(tf)


def recorded():
    with open(os.path.join(GOLDEN, "distributions.json")) as lines:
        return [(key, expected) for key, expected in json.load(lines) if key not in OTHERWISE]


@pytest.mark.parametrize("key, expected", recorded(), ids=lambda x: x if isinstance(x, str) else "")
def test_a_method_answers_as_tensorflow(key, expected, answers):
    got = answers[key]
    if isinstance(expected, str) or isinstance(got, str):
        assert got == expected
        return
    assert got[:2] == expected[:2]
    np.testing.assert_allclose(got[2], expected[2], rtol=3e-5, atol=1e-6)


def test_counts_are_drawn_with_the_right_sums_and_means(sess):
    d = tf.distributions
    for one in (
        d.Multinomial([4.0, 7.0], probs=[0.25, 0.75]),
        d.DirichletMultinomial([4.0, 7.0], [1.0, 3.0]),
    ):
        drawn = sess.run(one.sample(4000, seed=3))
        assert drawn.shape == (4000, 2, 2)
        assert (drawn.sum(-1) == [4, 7]).all()
        np.testing.assert_allclose(drawn.mean(0), [[1, 3], [1.75, 5.25]], atol=0.2)


def test_gradients_go_through_samples(sess):
    loc = tf.constant([1.0, 2.0])
    sample = tf.distributions.Normal(loc, 1.0).sample(5, seed=1)
    assert sess.run(tf.gradients(sample, loc)[0]).tolist() == [5, 5]


def test_wrong_parameters_are_refused(sess):
    d = tf.distributions
    for both in ({}, {"logits": 1.0, "probs": 0.5}):
        with pytest.raises(ValueError, match="Must pass probs or logits"):
            d.Bernoulli(**both)
    with pytest.raises(ValueError):
        d.Normal(1, 2)
    with pytest.raises(TypeError):
        d.Categorical(logits=[1, 2])
    with pytest.raises(ValueError):
        d.Normal(1.0, 1.0).sample([[2, 3]])
    with pytest.raises(ValueError, match="already been registered"):
        d.RegisterKL(d.Normal, d.Normal)(lambda a, b, name=None: 0)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(d.Normal(0.0, -1.0, validate_args=True).scale)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(d.StudentT(0.5, 0.0, 1.0, allow_nan_stats=False).mean())


def test_a_distribution_tells_what_it_was_made_from():
    one = tf.distributions.Normal(1.0, 2.0)
    other = one.copy(scale=3.0)
    assert sorted(one.parameters) == ["allow_nan_stats", "loc", "name", "scale", "validate_args"]
    assert other.parameters["scale"] == 3.0 and other.parameters["loc"] == 1.0
    assert one.reparameterization_type == tf.distributions.FULLY_REPARAMETERIZED
    assert tf.distributions.Normal.param_static_shapes([2, 3])["loc"].as_list() == [2, 3]


def test_a_subclass_needs_only_what_it_has(sess):
    class Square(tf.distributions.Distribution):
        def __init__(self):
            kind = tf.distributions.NOT_REPARAMETERIZED
            super().__init__(tf.float32, kind, False, True)

        def _cdf(self, x):
            return x * x

    one = Square()
    got = sess.run([one.log_cdf(0.5), one.survival_function(0.5)])
    np.testing.assert_allclose(got, [np.log(0.25), 0.75], rtol=1e-6)
    with pytest.raises(NotImplementedError):
        one.mean()
    with pytest.raises(NotImplementedError):
        one.sample()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal_quantiles_have_finite_slopes(dtype, sess):
    p = tf.constant([0, np.exp(-32), 0.25, 0.5, 1 - np.exp(-32), 1], dtype)
    q = tf.distributions.Normal(dtype(1), dtype(2)).quantile(p)
    (slope,) = tf.gradients(q, p)
    values, slopes = sess.run([q, slope])
    assert values[0] == -np.inf and values[-1] == np.inf and slopes[0] == slopes[-1] == 0
    assert np.isfinite(slopes).all()
    np.testing.assert_allclose(values[2:4], [1 - 2 * 0.67448975, 1], rtol=1e-6)
    np.testing.assert_allclose(slopes[3], 2 * np.sqrt(2 * np.pi), rtol=1e-6)


def test_normal_samples_are_those_of_tensorflow_with_the_same_seed(sess):
    tf.set_random_seed(2)
    loc, scale = tf.constant([[0.5]]), tf.constant([[0.2]])
    normal = tf.distributions.Normal(loc * 2, scale + 0.1)
    drawn = normal.sample(1)
    density = normal.log_prob(0.3)
    entropy = normal.entropy()
    again = tf.clip_by_value(tf.squeeze(normal.sample(1), axis=0), -1, 1)
    found = np.ravel(sess.run([drawn[0], density, entropy, again]))
    np.testing.assert_allclose(found, [1.346849, -2.4371877, 0.2149657, 0.86760294], rtol=1e-6)
    made = [op.name for op in tf.get_default_graph().get_operations()]
    start = made.index("Normal/loc")
    assert made[start : start + 5] == [
        "Normal/loc",
        "Normal/scale",
        "Normal/sample/sample_shape",
        "Normal/sample/sample_shape_1",
        "Normal/batch_shape_tensor/batch_shape",
    ]
    assert "Normal/log_prob/standardize/truediv" in made
