"""Writes distributions.json: what tf.distributions of TensorFlow 1.15 answers.

    python tests/golden/make_distributions.py

run with TensorFlow 1.15. The test calls build() with Rheos as `tf` and compares.
"""

import functools
import json
import os

METHODS = (
    "log_prob", "prob", "log_cdf", "cdf", "log_survival_function", "survival_function", "quantile",
)  # fmt: skip
STATISTICS = ("mean", "mode", "variance", "stddev", "entropy", "covariance")


def distributions(tf):
    """{name: (distribution, values for its methods)}."""
    d = tf.distributions
    rows = [[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]]
    alphas = [[1.0, 2.0, 3.0], [0.5, 0.5, 4.0]]
    far = tf.constant([-30.0, -3.0, 0.0, 1.0, 20.0], tf.float64)
    return {
        "normal": (d.Normal([1.0, 2.0], [[1.0], [3.0]]), [0.5, 0.25]),
        "double": (d.Normal(tf.constant(0.0, tf.float64), tf.constant(2.0, tf.float64)), far),
        "laplace": (d.Laplace([1.0, 2.0], [[1.0], [3.0]]), [0.5, 3.0]),
        "student": (d.StudentT([0.5, 1.5, 3.0], [0.0, 1.0, 2.0], 2.0), [0.5, -3.0, 1.0]),
        "uniform": (d.Uniform([0.0, 1.0], [2.0, 4.0]), [[0.5, 4.0], [-1.0, float("nan")]]),
        "gamma": (d.Gamma([0.5, 2.0], [1.0, 3.0]), [0.5, 3.0]),
        "exponential": (d.Exponential([1.0, 3.0]), [0.5, 3.0]),
        "beta": (d.Beta([0.5, 2.0], [1.0, 3.0]), [0.5, 0.25]),
        "dirichlet": (d.Dirichlet(alphas), [0.25, 0.25, 0.5]),
        "bernoulli": (d.Bernoulli(logits=[-1.0, 2.0]), [0, 1]),
        "coin": (d.Bernoulli(probs=[0.25, 0.75], dtype=tf.float32), [[0.0, 1.0], [1.0, 0.0]]),
        "categorical": (d.Categorical(logits=rows), [0, 2]),
        "dice": (d.Categorical(probs=[0.25, 0.25, 0.5], dtype=tf.int64), [[0, 1], [2, 1]]),
        "multinomial": (d.Multinomial(5.0, logits=rows), [1.0, 2.0, 2.0]),
        "urn": (d.DirichletMultinomial(3.0, alphas), [1.0, 1.0, 1.0]),
        "urns": (d.DirichletMultinomial([[2.0], [3.0]], alphas), [1.0, 1.0, 1.0]),
        "gamma end": (d.Gamma([1.0, 2.0], 1.0), [0.0, 0.0]),
        "exponential end": (d.Exponential(1.0), [0.0, 1.0]),
        "beta end": (d.Beta(1.0, [1.0, 2.0]), 0.0),
        "dirichlet end": (d.Dirichlet([1.0, 1.0, 2.0]), [0.0, 0.5, 0.5]),
    }


def refusals(tf):
    """{name: a function that asks a distribution that validates of a value}."""
    d = tf.distributions
    gamma, beta = d.Gamma(2.0, 1.0, validate_args=True), d.Beta(1.0, 2.0, validate_args=True)
    simplex = d.Dirichlet([1.0, 1.0, 2.0], validate_args=True)
    coin = d.Bernoulli(probs=0.25, validate_args=True)
    dice = d.Categorical(probs=[0.25, 0.75], validate_args=True)
    counts = d.Multinomial(3.0, probs=[0.25, 0.75], validate_args=True)
    urn = d.DirichletMultinomial(3.0, [0.25, 0.75], validate_args=True)
    asked = (
        ("gamma", gamma, ([0.0, 1.0], [0.5, 1.0])),
        ("beta", beta, ([0.0], [0.5], [1.0])),
        ("dirichlet", simplex, ([0.0, 0.5, 0.5], [0.25, 0.25, 0.25], [0.25, 0.25, 0.5])),
        ("bernoulli", coin, ([0, 1], [0, 2], [-1, 0], [0.5, 1.0])),
        ("categorical", dice, ([1, 0], [0.5, 1.0])),
        ("multinomial", counts, ([1.0, 2.0], [1.0, 1.0], [1.5, 1.5], [4.0, -1.0])),
        ("urn", urn, ([1.0, 2.0], [1.0, 1.0], [1.5, 1.5], [4.0, -1.0])),
    )
    return {
        f"{name} of {value}": functools.partial(one.prob, value)
        for name, one, values in asked
        for value in values
    }


PAIRS = (
    ("normal", "normal"), ("gamma", "exponential"), ("beta", "beta"), ("dirichlet", "dirichlet"),
    ("bernoulli", "coin"), ("categorical", "dice"), ("normal", "beta"),
)  # fmt: skip


def build(tf):
    """{"name method": [dtype, static shape, value]}, or the name of an exception."""
    found = {}
    with tf.Graph().as_default(), tf.Session() as session:

        kinds = (NotImplementedError, ValueError, TypeError, tf.errors.InvalidArgumentError)

        def record(key, function):
            try:
                tensor = function()
                value = session.run(tensor)
                found[key] = [tensor.dtype.name, str(tensor.shape), value.tolist()]
            except kinds as error:
                found[key] = type(error).__name__

        made = distributions(tf)
        for name, (one, values) in made.items():
            for method in METHODS:
                asked = [0.125, 0.75] if method == "quantile" else values
                record(name + " " + method, functools.partial(getattr(one, method), asked))
            for method in STATISTICS:
                record(name + " " + method, getattr(one, method))
            record(name + " sample", functools.partial(one.sample, [2, 3], seed=7))
            record(name + " batch_shape", one.batch_shape_tensor)
            record(name + " event_shape", one.event_shape_tensor)
        for key, function in refusals(tf).items():
            record(key, function)
        for a, b in PAIRS:
            for method in ("kl_divergence", "cross_entropy"):
                key = " ".join((a, b, method))
                record(key, functools.partial(getattr(made[a][0], method), made[b][0]))
    return found


if __name__ == "__main__":
    import tensorflow

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions.json")
    with open(path, "w") as out:
        lines = [json.dumps(item) for item in sorted(build(tensorflow).items())]
        out.write("[\n" + ",\n".join(lines) + "\n]\n")
