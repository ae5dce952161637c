"""Learning rates that change with the step."""

import functools
import math

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.eager import executing_eagerly
from rheos.framework.graph import count_operations, name_scope
from rheos.framework.operation import Tensor
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.random import random_ops


def _later_where_eager(decay):
    """Where operations run at once the step changes: then a function of nothing gives the rate."""

    @functools.wraps(decay)
    def decayed(*args, **kwargs):
        rate = decay(*args, **kwargs)  # says what is wrong with the arguments now, too
        return functools.partial(decay, *args, **kwargs) if executing_eagerly() else rate

    return decayed


@_later_where_eager
def exponential_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate * decay_rate ** (global_step / decay_steps); whole steps if `staircase`.

    >>> with tf.Session() as session:
    ...     print(session.run(tf.train.exponential_decay(1.0, 20, decay_steps=10, decay_rate=0.5)))
    0.25
    """
    if global_step is None:
        raise ValueError("global_step is required for exponential_decay.")
    with name_scope(
        name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]
    ) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = math_ops.cast(decay_steps, rate.dtype)
        factor = math_ops.cast(decay_rate, rate.dtype)
        progress = math_ops.cast(global_step, rate.dtype) / steps
        if staircase:
            progress = math_ops.floor(progress)
        return math_ops.multiply(rate, math_ops.pow(factor, progress), name=name)


@_later_where_eager
def inverse_time_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate / (1 + decay_rate * global_step / decay_steps)"""
    if global_step is None:
        raise ValueError("global_step is required for inverse_time_decay.")
    with name_scope(
        name, "InverseTimeDecay", [learning_rate, global_step, decay_steps, decay_rate]
    ) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = math_ops.cast(decay_steps, rate.dtype)
        factor = math_ops.cast(decay_rate, rate.dtype)
        progress = math_ops.cast(global_step, rate.dtype) / steps
        if staircase:
            progress = math_ops.floor(progress)
        one = math_ops.cast(constant(1), rate.dtype)
        slower = math_ops.add(one, math_ops.multiply(factor, progress))
        return math_ops.divide(rate, slower, name=name)


@_later_where_eager
def polynomial_decay(
    learning_rate,
    global_step,
    decay_steps,
    end_learning_rate=0.0001,
    power=1.0,
    cycle=False,
    name=None,
):
    """From learning_rate down to end_learning_rate in decay_steps steps."""
    if global_step is None:
        raise ValueError("global_step is required for polynomial_decay.")
    with name_scope(
        name,
        "PolynomialDecay",
        [learning_rate, global_step, decay_steps, end_learning_rate, power],
    ) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        kind = rate.dtype
        end = math_ops.cast(end_learning_rate, kind)
        power = math_ops.cast(power, kind)
        step = math_ops.cast(global_step, kind)
        steps = math_ops.cast(decay_steps, kind)
        if cycle:
            count_operations(6)  # a conditional on the first step
            multiplier = array_ops.where(
                math_ops.equal(step, 0), convert_to_tensor(1.0, kind), math_ops.ceil(step / steps)
            )
            steps = math_ops.multiply(steps, multiplier)
        else:
            step = math_ops.minimum(step, decay_steps)
        part = math_ops.divide(step, steps)
        return math_ops.add(
            math_ops.multiply(rate - end, math_ops.pow(1 - part, power)), end, name=name
        )


@_later_where_eager
def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate * exp(-decay_rate * global_step / decay_steps)"""
    if global_step is None:
        raise ValueError("global_step is required for natural_exp_decay.")
    factor = math_ops.exp(math_ops.negative(decay_rate))
    return exponential_decay.__wrapped__(
        learning_rate, global_step, decay_steps, factor, staircase=staircase, name=name
    )


@_later_where_eager
def piecewise_constant(x, boundaries, values, name=None):
    """values[i] while x is at most boundaries[i], the last value beyond."""
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")

    with name_scope(name, "PiecewiseConstant", [x, *boundaries, *values]):
        x = convert_to_tensor(x)
        values = [convert_to_tensor(value) for value in values]
        _count_cases(x, boundaries)
        result = values[-1]
        for value in values:
            if value.dtype.base_dtype != result.dtype.base_dtype:
                raise ValueError(
                    f"Values must have elements all with the same dtype ("
                    f"{value.dtype.base_dtype} vs {result.dtype.base_dtype})."
                )
        for boundary, value in zip(reversed(boundaries), reversed(values[:-1])):
            limit = _boundary(boundary, x.dtype.base_dtype)
            result = array_ops.where(x <= limit, value, result)
        return result


def _count_cases(x, boundaries):
    """Counts the operations of the case() that TensorFlow 1.15 makes of a piecewise constant."""
    number = len(boundaries)
    if number:
        casts = number if x.dtype.base_dtype == dtypes.int64 else 0
        count_operations(number * number + 8 * number + 25 + casts)


def _boundary(value, dtype):
    """A boundary as a tensor of x's dtype."""
    if not isinstance(value, Tensor):
        own = convert_to_tensor(value).dtype
        if own != dtype and not (own.is_integer and dtype == dtypes.int64):
            raise ValueError(f"Boundaries ({own}) must have the same dtype as x ({dtype}).")
        return convert_to_tensor(value, dtype)
    if value.dtype.base_dtype == dtypes.int32 and dtype == dtypes.int64:
        return math_ops.cast(value, dtype)
    if value.dtype.base_dtype != dtype:
        raise ValueError(
            f"Boundaries ({value.dtype.base_dtype}) must have the same dtype as x ({dtype})."
        )
    return value


def _progress(global_step, decay_steps, dtype):
    """What fraction of the steps is done, at most 1."""
    steps = math_ops.cast(decay_steps, dtype)
    done = math_ops.minimum(math_ops.cast(global_step, dtype), steps)
    return done / steps


def _half_cosine(angle):
    return 0.5 * (1.0 + math_ops.cos(constant(math.pi) * angle))


@_later_where_eager
def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """From learning_rate down to alpha * learning_rate in decay_steps steps, as half a cosine."""
    if global_step is None:
        raise ValueError("cosine decay requires global_step")
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        decayed = _half_cosine(_progress(global_step, decay_steps, rate.dtype))
        return math_ops.multiply(rate, (1 - alpha) * decayed + alpha)


@_later_where_eager
def cosine_decay_restarts(
    learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None
):
    """cosine_decay() over and over: each time t_mul times as long, from m_mul times as high."""
    if global_step is None:
        raise ValueError("cosine decay restarts requires global_step")
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]):
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = rate.dtype
        longer = math_ops.cast(t_mul, dtype)
        lower = math_ops.cast(m_mul, dtype)
        floor = math_ops.cast(alpha, dtype)
        done = math_ops.cast(global_step, dtype) / math_ops.cast(first_decay_steps, dtype)
        count_operations(29 if t_mul == 1.0 else 13)  # both kinds, in a conditional
        if t_mul == 1.0:
            restart = math_ops.floor(done)
            done -= restart
        else:
            restart = math_ops.floor(
                math_ops.log(1.0 - done * (1.0 - longer)) / math_ops.log(longer)
            )
            before = (1.0 - longer**restart) / (1.0 - longer)
            done = (done - before) / longer**restart
        decayed = (lower**restart) * _half_cosine(done)
        return math_ops.multiply(rate, (1 - floor) * decayed + floor, name=name)


@_later_where_eager
def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None
):
    """learning_rate * ((alpha + linear) * cosine + beta), both falling in decay_steps steps."""
    if global_step is None:
        raise ValueError("linear cosine decay requires global_step")
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        return _linear_cosine(rate, global_step, decay_steps, (num_periods, alpha, beta), name)


def _linear_cosine(rate, global_step, decay_steps, shape, name, noise=()):
    """shape: periods, alpha and beta. noise: the variance at first, and the power it falls by."""
    dtype = rate.dtype
    steps = math_ops.cast(decay_steps, dtype)
    noise = [math_ops.cast(value, dtype) for value in noise]
    periods, alpha, beta = [math_ops.cast(value, dtype) for value in shape]
    done = math_ops.minimum(math_ops.cast(global_step, dtype), steps)
    linear = (steps - done) / steps
    if noise:
        deviation = math_ops.sqrt(noise[0] / math_ops.pow(1.0 + done, noise[1]))
        linear = linear + random_ops.random_normal(linear.shape, stddev=deviation)
    completed = done / steps
    cosine = _half_cosine(2.0 * periods * completed)
    return math_ops.multiply(rate, (alpha + linear) * cosine + beta, name=name)


@_later_where_eager
def noisy_linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    name=None,
):
    """linear_cosine_decay() with normal noise on its linear part, which gets less.

    The variance of the noise is initial_variance / (1 + global_step) ** variance_decay.
    """
    if global_step is None:
        raise ValueError("noisy linear cosine decay requires global_step")
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as name:
        rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        shape, noise = (num_periods, alpha, beta), (initial_variance, variance_decay)
        return _linear_cosine(rate, global_step, decay_steps, shape, name, noise)
