"""Learning rates that change with the step."""

from rheos.framework.graph import convert_to_tensor, name_scope
from rheos.ops import math_ops
from rheos.ops.constant_op import constant


def exponential_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate * decay_rate ** (global_step / decay_steps); whole steps if `staircase`."""
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
            from rheos.ops import array_ops

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


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate * exp(-decay_rate * global_step / decay_steps)"""
    if global_step is None:
        raise ValueError("global_step is required for natural_exp_decay.")
    factor = math_ops.exp(math_ops.negative(decay_rate))
    return exponential_decay(
        learning_rate, global_step, decay_steps, factor, staircase=staircase, name=name
    )


def piecewise_constant(x, boundaries, values, name=None):
    """values[i] while x is at most boundaries[i], the last value beyond."""
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    from rheos.ops import array_ops

    with name_scope(name, "PiecewiseConstant", [x, *boundaries, *values]):
        x = convert_to_tensor(x)
        result = convert_to_tensor(values[-1])
        for boundary, value in zip(reversed(boundaries), reversed(values[:-1])):
            limit = convert_to_tensor(boundary, x.dtype.base_dtype)
            result = array_ops.where(x <= limit, convert_to_tensor(value, result.dtype), result)
        return result
