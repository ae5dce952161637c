"""Writes contrib_distributions.json: what tf.contrib.distributions of TensorFlow 1.15 answers.

    python tests/golden/make_contrib_distributions.py

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
    """{name: (a function that makes a distribution, values for its methods)}."""
    d = tf.contrib.distributions
    b = d.bijectors
    loc, wide = [[1.0, 2.0, -1.0], [0.0, 3.0, 0.5]], [[0.5, 2.0, 1.5], [1.0, 0.25, 3.0]]
    tril = [[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.25, 1.0]]
    covariance = [[4.0, 1.0, -2.0], [1.0, 2.5, 0.25], [-2.0, 0.25, 3.0]]
    factor = [[1.0, 0.5], [0.0, 2.0], [-1.0, 0.25]]
    vectors = [[0.5, 1.0, 2.0], [-1.0, 0.25, 1.0]]
    spd = [[3.0, 0.5], [0.5, 2.0]]
    mean3 = [1.0, 2.0, 3.0]
    made = {
        "diag": (lambda: d.MultivariateNormalDiag(loc, wide), vectors),
        "diag identity": (lambda: d.MultivariateNormalDiag(mean3), vectors),
        "diag times": (
            lambda: d.MultivariateNormalDiag(mean3, scale_identity_multiplier=2.0), vectors),
        "diag both": (
            lambda: d.MultivariateNormalDiag(None, [1.0, 2.0, 3.0], 0.5), vectors),
        "diag softplus": (
            lambda: d.MultivariateNormalDiagWithSoftplusScale([0.0, 1.0, 2.0], wide), vectors),
        "tril": (lambda: d.MultivariateNormalTriL(mean3, tril), vectors),
        "tril batch": (lambda: d.MultivariateNormalTriL(loc, [tril, tril]), vectors),
        "tril none": (lambda: d.MultivariateNormalTriL(mean3), vectors),
        "full": (lambda: d.MultivariateNormalFullCovariance(mean3, covariance), vectors),
        "low rank": (
            lambda: d.MultivariateNormalDiagPlusLowRank(
                mean3, [1.0, 2.0, 1.5], scale_perturb_factor=factor,
                scale_perturb_diag=[1.0, 0.5]), vectors),
        "low rank plain": (
            lambda: d.MultivariateNormalDiagPlusLowRank(
                None, [1.0, 2.0, 1.5], 0.5, scale_perturb_factor=factor), vectors),
        "vector laplace": (lambda: d.VectorLaplaceDiag(mean3, [1.0, 0.5, 2.0]), vectors),
        "vector exponential": (
            lambda: d.VectorExponentialDiag([-1.0, 0.0, -2.0], [1.0, 0.5, 2.0]), [0.5, 1.0, 2.0]),
        "vector bent": (
            lambda: d.VectorSinhArcsinhDiag(
                mean3, [1.0, 0.5, 2.0], skewness=[0.5, 0.0, -0.5], tailweight=[1.0, 1.5, 0.5]),
            vectors),
        "wishart": (lambda: d.WishartFull(4.0, spd), [[2.0, 0.5], [0.5, 1.0]]),
        "wishart factor": (
            lambda: d.WishartCholesky(3.5, [[1.5, 0.0], [0.5, 1.0]]),
            [[2.0, 0.5], [0.5, 1.0]]),
        "wishart factored": (
            lambda: d.WishartCholesky(4.0, [[1.5, 0.0], [0.5, 1.0]], True),
            [[2.0, 0.0], [0.5, 1.0]]),
        "cauchy": (lambda: d.Cauchy([0.0, 1.0], [1.0, 2.0]), [0.5, -3.0]),
        "logistic": (lambda: d.Logistic([0.0, 1.0], [[1.0], [2.0]]), [0.5, -3.0]),
        "half normal": (lambda: d.HalfNormal([1.0, 2.0]), [0.5, 3.0]),
        "inverse gamma": (
            lambda: d.InverseGamma([0.5, 1.5, 3.0], [1.0, 2.0, 3.0]), [0.5, 1.0, 2.0]),
        "chi2": (lambda: d.Chi2([1.0, 3.0]), [0.5, 2.0]),
        "chi2 abs": (lambda: d.Chi2WithAbsDf([-1.5, 3.2]), [0.5, 2.0]),
        "beta softplus": (lambda: d.BetaWithSoftplusConcentration([0.5, 2.0], 1.0), [0.25, 0.5]),
        "exponential softplus": (lambda: d.ExponentialWithSoftplusRate([-1.0, 2.0]), [0.5, 1.0]),
        "gamma softplus": (
            lambda: d.GammaWithSoftplusConcentrationRate([0.5, 2.0], 1.0), [0.5, 1.0]),
        "inverse gamma softplus": (
            lambda: d.InverseGammaWithSoftplusConcentrationRate([0.5, 4.0], 1.0), [0.5, 1.0]),
        "laplace softplus": (lambda: d.LaplaceWithSoftplusScale(1.0, [0.5, 2.0]), [0.5, 1.5]),
        "normal softplus": (lambda: d.NormalWithSoftplusScale(1.0, [0.5, 2.0]), [0.5, 1.5]),
        "student softplus": (
            lambda: d.StudentTWithAbsDfSoftplusScale([3.5, -5.2], 1.0, [0.5, 2.0]), [0.5, 1.5]),
        "poisson": (lambda: d.Poisson([0.5, 3.0]), [0.0, 4.0]),
        "poisson log": (lambda: d.Poisson(log_rate=[-1.0, 1.0]), [1.0, 2.0]),
        "geometric": (lambda: d.Geometric(probs=[0.25, 0.75]), [0.0, 3.0]),
        "geometric logits": (lambda: d.Geometric(logits=[-1.0, 1.0]), [1.0, 2.0]),
        "negative binomial": (lambda: d.NegativeBinomial([2.0, 5.0], probs=0.25), [0.0, 3.0]),
        "binomial": (lambda: d.Binomial([4.0, 5.0], probs=[0.25, 0.5]), [1.0, 5.0]),
        "binomial logits": (lambda: d.Binomial(3.0, logits=[-1.0, 1.0]), [1.0, 2.0]),
        "deterministic": (lambda: d.Deterministic([1.0, 2.0]), [1.0, 1.5]),
        "deterministic near": (lambda: d.Deterministic([1.0, 2.0], 0.1, 0.1), [1.15, 2.4]),
        "vector deterministic": (lambda: d.VectorDeterministic(vectors), vectors[0]),
        "one hot": (lambda: d.OneHotCategorical(logits=loc), [0, 1, 0]),
        "one hot probs": (
            lambda: d.OneHotCategorical(probs=[0.25, 0.75], dtype=tf.float32), [1.0, 0.0]),
        "relaxed": (lambda: d.RelaxedOneHotCategorical(0.5, logits=loc), [0.25, 0.25, 0.5]),
        "relaxed exp": (
            lambda: d.ExpRelaxedOneHotCategorical([0.5, 2.0], probs=[[0.25, 0.75], [0.5, 0.5]]),
            [-1.0, -0.459]),
        "relaxed coin": (lambda: d.RelaxedBernoulli(0.5, logits=[-1.0, 2.0]), [0.25, 0.75]),
        "relaxed coin probs": (lambda: d.RelaxedBernoulli([0.5, 2.0], probs=0.75), [0.25, 0.75]),
        "kumaraswamy": (lambda: d.Kumaraswamy([1.5, 2.0], [3.0, 0.5]), [0.25, 0.5]),
        "bent": (lambda: d.SinhArcsinh([0.0, 1.0], 2.0, 0.5, [0.5, 1.5]), [0.5, -2.0]),
        "mixture": (
            lambda: d.Mixture(
                d.Categorical(probs=[0.25, 0.75]), [d.Normal(0.0, 1.0), d.Normal(3.0, 0.5)]),
            [0.5, 2.5]),
        "mixture of vectors": (
            lambda: d.Mixture(
                d.Categorical(logits=[[0.0, 1.0], [1.0, -1.0]]),
                [d.MultivariateNormalDiag(loc, wide),
                 d.MultivariateNormalDiag(wide, loc_scale(wide))]),
            vectors),
        "mixture same": (
            lambda: d.MixtureSameFamily(
                d.Categorical(probs=[0.25, 0.75]), d.Normal([0.0, 3.0], [1.0, 0.5])), [0.5, 2.5]),
        "mixture same vectors": (
            lambda: d.MixtureSameFamily(
                d.Categorical(probs=[0.25, 0.75]), d.MultivariateNormalDiag(loc, wide)),
            vectors),
        "independent": (lambda: d.Independent(d.Normal(loc, wide)), vectors),
        "independent all": (
            lambda: d.Independent(d.Bernoulli(logits=loc), 2), [[0, 1, 0], [1, 1, 0]]),
        "batch reshape": (
            lambda: d.BatchReshape(d.Normal([1.0, 2.0, 3.0, 4.0], 1.0), [2, -1]),
            [[0.5, 1.0], [2.0, 3.0]]),
        "quantized": (lambda: d.QuantizedDistribution(d.Normal([0.0, 2.0], 2.0)), [1.0, 2.0]),
        "quantized ends": (
            lambda: d.QuantizedDistribution(d.Normal(1.0, 2.0), low=0.0, high=4.0),
            [0.0, 2.0, 4.0]),
        "log normal": (lambda: d.TransformedDistribution(d.Normal([0.0, 1.0], 1.0), b.Exp()),
                       [0.5, 2.0]),
        "affine": (
            lambda: d.TransformedDistribution(
                d.Normal([0.0, 1.0], 1.0), b.AffineScalar(1.0, -2.0)), [0.5, 2.0]),
        "transformed event": (
            lambda: d.TransformedDistribution(
                d.Normal(0.0, 1.0), b.Affine(mean3, scale_tril=tril), event_shape=[3]), vectors),
        "transformed rotated": (
            lambda: d.TransformedDistribution(
                d.Normal([0.0, 1.0], 1.0), b.Identity(), event_shape=[3]), vectors),
        "folded": (
            lambda: d.TransformedDistribution(d.Normal(1.0, 2.0), b.AbsoluteValue()), [0.5, 2.0]),
        "softmax": (
            lambda: d.TransformedDistribution(
                d.MultivariateNormalDiag([1.0, 0.0], [1.0, 2.0]), b.SoftmaxCentered()),
            [0.25, 0.25, 0.5]),
        "gumbel": (
            lambda: d.TransformedDistribution(
                d.Uniform(0.0, 1.0), b.Invert(b.Gumbel([0.0, 1.0], 2.0))), [0.5, 2.0]),
        "autoregressive": (
            lambda: d.Autoregressive(
                lambda x=None: d.Independent(
                    d.Normal([0.0, 1.0] if x is None else x * [0.0, 0.0] + [0.0, 1.0],
                             [1.0, 2.0]))), [0.5, 2.0]),
    }  # fmt: skip
    return made


def loc_scale(x):
    return [[abs(v) + 0.5 for v in row] for row in x]


def bijectors(tf):
    """{name: (a bijector, x, event_ndims of x, of y)}."""
    b = tf.contrib.distributions.bijectors
    x = [[0.5, 1.0, 2.0], [0.25, 1.5, 3.0]]
    tril = [[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.25, 1.0]]
    factor = [[1.0, 0.5], [0.0, 2.0], [-1.0, 0.25]]
    shares = [[0.25, 0.5, 0.75]]

    def moved(y, depth=None):
        if depth is None:
            shift = tf.cumsum(y, axis=-1, exclusive=True)
            return shift, 0.1 * shift
        return tf.tile(y[..., :1], [1, depth]), tf.tile(0.5 * y[..., :1], [1, depth])

    return {
        "identity": (lambda: b.Identity(), x, 0, 0),
        "exp": (lambda: b.Exp(), x, 1, 1),
        "power": (lambda: b.PowerTransform(0.5), x, 0, 0),
        "sigmoid": (lambda: b.Sigmoid(), x, 0, 0),
        "softsign": (lambda: b.Softsign(), x, 1, 1),
        "softplus": (lambda: b.Softplus(), x, 0, 0),
        "softplus hinge": (lambda: b.Softplus([0.5, 1.0, 2.0]), x, 1, 1),
        "square": (lambda: b.Square(), x, 0, 0),
        "affine scalar": (lambda: b.AffineScalar([1.0, 2.0, 3.0], 2.0), x, 1, 1),
        "affine scalar min": (lambda: b.AffineScalar(1.0, -2.0), x, 0, 0),
        "affine": (lambda: b.Affine([1.0, 2.0, 3.0], scale_diag=[1.0, -2.0, 3.0]), x, 1, 1),
        "affine multiplier": (lambda: b.Affine([1.0, 2.0, 3.0], 2.0), x, 1, 1),
        "affine tril": (lambda: b.Affine(scale_tril=tril, scale_diag=[1.0, 1.0, 1.0]), x, 1, 1),
        "affine low rank": (
            lambda: b.Affine([1.0, 2.0, 3.0], scale_identity_multiplier=2.0,
                             scale_perturb_factor=factor, scale_perturb_diag=[1.0, 0.5]), x, 1, 1),
        "affine shift": (lambda: b.Affine([1.0, 2.0, 3.0]), x, 1, 1),
        "operator": (
            lambda: b.AffineLinearOperator(
                [1.0, 2.0, 3.0], tf.linalg.LinearOperatorLowerTriangular(tril)), x, 1, 1),
        "chain": (lambda: b.Chain([b.Exp(), b.AffineScalar(1.0, 2.0), b.Softplus()]), x, 0, 0),
        "chain of vectors": (
            lambda: b.Chain([b.Softplus(), b.Affine(scale_tril=tril), b.Exp()]), x, 1, 1),
        "chain of none": (lambda: b.Chain([]), x, 0, 0),
        "invert": (lambda: b.Invert(b.Exp()), x, 1, 1),
        "invert fill": (lambda: b.Invert(b.FillTriangular()), [tril, tril], 2, 1),
        "gumbel": (lambda: b.Gumbel(0.5, 2.0), x, 0, 0),
        "kumaraswamy": (lambda: b.Kumaraswamy(2.0, 3.0), shares, 0, 0),
        "bent": (lambda: b.SinhArcsinh(0.5, 1.5), x, 0, 0),
        "fill": (lambda: b.FillTriangular(), [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], 1, 2),
        "fill upper": (lambda: b.FillTriangular(upper=True), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1, 2),
        "cholesky": (lambda: b.CholeskyOuterProduct(), [[2.0, 0.0], [0.5, 1.5]], 2, 2),
        "inverse tril": (lambda: b.MatrixInverseTriL(), tril, 2, 2),
        "diagonal": (lambda: b.TransformDiagonal(b.Exp()), tril, 2, 2),
        "scale tril": (lambda: b.ScaleTriL(), [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], 1, 2),
        "ordered": (lambda: b.Ordered(), x, 1, 1),
        "permute": (lambda: b.Permute([2, 0, 1]), x, 1, 1),
        "reshape": (lambda: b.Reshape([3, 1], [3]), x, 1, 2),
        "reshape free": (lambda: b.Reshape([3, -1]), [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], 1, 2),
        "softmax": (lambda: b.SoftmaxCentered(), x, 1, 1),
        "inline": (
            lambda: b.Inline(
                forward_fn=tf.exp, inverse_fn=tf.log, forward_min_event_ndims=0,
                inverse_log_det_jacobian_fn=lambda y: -tf.log(y)), x, 0, 0),
        "autoregressive": (lambda: b.MaskedAutoregressiveFlow(moved), x, 1, 1),
        "autoregressive unrolled": (
            lambda: b.MaskedAutoregressiveFlow(moved, unroll_loop=True), x, 1, 1),
        "real nvp": (lambda: b.RealNVP(1, moved), x, 1, 1),
    }  # fmt: skip


def helpers(tf):
    """{name: a function of the tensors that helpers give}."""
    d = tf.contrib.distributions
    x = [[1.0, 5.0, 2.0, 4.0, 3.0, 6.0], [0.5, -1.0, 2.5, 3.5, 8.0, -2.0]]
    square = [[1.0, 2.0], [3.0, 4.0]]
    made = {
        "softplus_inverse": lambda: d.softplus_inverse([1e-9, 0.5, 3.0, 100.0]),
        "matrix_diag_transform": lambda: d.matrix_diag_transform(square, tf.exp),
        "tridiag": lambda: d.tridiag([1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]),
        "tridiag below": lambda: d.tridiag(below=[1.0, 2.0]),
        "weighted": lambda: d.reduce_weighted_logsumexp(x, [1.0, -0.5, 1.0, 1.0, 1.0, -1.0], 1),
        "weighted sign": lambda: d.reduce_weighted_logsumexp(
            [-1.0, 2.0], [1.0, -1.0], return_sign=True)[1],
        "auto_correlation": lambda: d.auto_correlation(x, max_lags=3),
        "auto_correlation plain": lambda: d.auto_correlation(
            x, axis=0, center=False, normalize=False),
        "posterior": lambda: d.normal_conjugates_known_scale_posterior(
            d.Normal(1.0, 2.0), 0.5, tf.constant(7.0), 4).log_prob(1.5),
        "predictive": lambda: d.normal_conjugates_known_scale_predictive(
            d.Normal(1.0, 2.0), 0.5, tf.constant(7.0), 4).log_prob(1.5),
    }  # fmt: skip
    for how in ("nearest", "lower", "higher"):
        for q in (0.0, 30.0, 50.0, 75.0, 100.0):
            made[f"percentile {how} {q}"] = functools.partial(
                d.percentile, x, q=q, interpolation=how, axis=[1]
            )
    made["percentile of all"] = lambda: d.percentile(x, 40.0)
    made["percentile kept"] = lambda: d.percentile(x, 40.0, axis=0, keep_dims=True)
    return made


PAIRS = (
    ("diag", "diag"), ("diag", "diag identity"), ("diag identity", "tril"), ("tril", "full"),
    ("low rank", "tril"), ("tril batch", "diag"), ("independent", "independent"),
    ("one hot", "one hot"), ("chi2", "chi2 abs"),
    ("poisson", "poisson"), ("logistic", "cauchy"),
)  # fmt: skip


def asked_of(tf, name, made):
    """{key: a function of a tensor} of one distribution."""
    make, values = made[name]
    one = make()
    found = {
        f"{name} {method}": functools.partial(
            getattr(one, method), 0.25 if method == "quantile" else values
        )
        for method in METHODS
    }
    found.update({f"{name} {method}": getattr(one, method) for method in STATISTICS})
    found[name + " sample"] = functools.partial(one.sample, [2, 3], seed=7)
    found[name + " batch_shape"] = one.batch_shape_tensor
    found[name + " event_shape"] = one.event_shape_tensor
    return found


def asked_of_bijector(tf, name, made):
    """{key: a function of a tensor} of one bijector."""
    make, x, of_x, of_y = made[name]
    one, x = make(), tf.constant(x)
    y = tf.identity(one.forward(x))  # another tensor: nothing is remembered of it
    key = "bijector " + name
    return {
        key + " forward": lambda: y,
        key + " inverse": lambda: one.inverse(y),
        key + " ildj": lambda: one.inverse_log_det_jacobian(y, of_y),
        key + " fldj": lambda: one.forward_log_det_jacobian(x, of_x),
    }


def answers(tf, ask):
    """{key: [dtype, static shape, value]}, or the name of an exception, in a graph of its own."""
    kinds = (NotImplementedError, ValueError, TypeError, tf.errors.InvalidArgumentError)
    found, tensors = {}, {}
    with tf.Graph().as_default(), tf.Session() as session:
        for key, function in ask().items():
            try:
                tensors[key] = tf.convert_to_tensor(function())
            except kinds as error:
                found[key] = type(error).__name__
        for key, value in session.run(tensors).items():
            found[key] = [tensors[key].dtype.name, str(tensors[key].shape), value.tolist()]
    return found


def build(tf):
    """The answers of all distributions, of pairs of them, of bijectors and of helpers."""
    found = {}
    for name in distributions(tf):
        found.update(answers(tf, lambda name=name: asked_of(tf, name, distributions(tf))))
    for name in bijectors(tf):
        found.update(answers(tf, lambda name=name: asked_of_bijector(tf, name, bijectors(tf))))

    def pairs():
        made = distributions(tf)
        return {
            f"{a} {b} kl": lambda a=a, b=b: made[a][0]().kl_divergence(made[b][0]())
            for a, b in PAIRS
        }

    found.update(answers(tf, pairs))
    found.update(
        answers(tf, lambda: {"helper " + key: one for key, one in helpers(tf).items()})
    )
    return found


if __name__ == "__main__":
    import tensorflow

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contrib_distributions.json")
    with open(path, "w") as out:
        lines = [json.dumps(item) for item in sorted(build(tensorflow).items())]
        out.write("[\n" + ",\n".join(lines) + "\n]\n")
