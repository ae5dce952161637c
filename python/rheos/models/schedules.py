"""Learning rates that depend on the number of steps."""

import math

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.models import objects
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops

_schedule = objects.known("learning rate schedule")


class LearningRateSchedule:
    """What every schedule is: called with the number of steps, it gives a learning rate."""

    def __call__(self, step):
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self):
        """What makes a schedule like this."""
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config):
        """A schedule like the one whose get_config() this was."""
        return cls(**config)


def _floats(first, *others):
    """A tensor of the first number, and the others cast to its dtype."""
    first = convert_to_tensor(first, name="initial_learning_rate")
    return (first, *(math_ops.cast(x, first.dtype) for x in others))


class _Rates(LearningRateSchedule):
    """A schedule whose configuration is its arguments, which are attributes."""

    _ARGUMENTS = ()

    def get_config(self):
        return {name: getattr(self, name) for name in self._ARGUMENTS}


@_schedule
class ExponentialDecay(_Rates):
    """initial_learning_rate * decay_rate ^ (step / decay_steps), whole powers if `staircase`."""

    _ARGUMENTS = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "ExponentialDecay"):
            rate, steps, decay, at = _floats(
                self.initial_learning_rate, self.decay_steps, self.decay_rate, step
            )
            power = at / steps
            if self.staircase:
                power = math_ops.floor(power)
            return math_ops.multiply(rate, math_ops.pow(decay, power))


@_schedule
class PiecewiseConstantDecay(_Rates):
    """values[i] up to and with boundaries[i], the last of them afterwards."""

    _ARGUMENTS = ("boundaries", "values", "name")

    def __init__(self, boundaries, values, name=None):
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "PiecewiseConstant"):
            step = convert_to_tensor(step)
            result = convert_to_tensor(self.values[-1], dtypes.float32)
            for boundary, value in zip(reversed(self.boundaries), reversed(self.values[:-1])):
                is_before = math_ops.less_equal(step, math_ops.cast(boundary, step.dtype))
                result = array_ops.where(
                    is_before, convert_to_tensor(value, dtypes.float32), result
                )
            return result


@_schedule
class PolynomialDecay(_Rates):
    """From the initial to the end learning rate, by a power of the share of steps left."""

    _ARGUMENTS = (
        "initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name"
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        end_learning_rate=0.0001,
        power=1.0,
        cycle=False,
        name=None,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "PolynomialDecay"):
            rate, end, power, at, steps = _floats(
                self.initial_learning_rate,
                self.end_learning_rate,
                self.power,
                step,
                self.decay_steps,
            )
            if self.cycle:
                times = math_ops.maximum(1.0, math_ops.ceil(at / self.decay_steps))
                steps = steps * times
            else:
                at = math_ops.minimum(at, steps)
            return (rate - end) * math_ops.pow(1 - at / steps, power) + end


@_schedule
class InverseTimeDecay(_Rates):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps)."""

    _ARGUMENTS = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "InverseTimeDecay"):
            rate, steps, decay, at = _floats(
                self.initial_learning_rate, self.decay_steps, self.decay_rate, step
            )
            share = at / steps
            if self.staircase:
                share = math_ops.floor(share)
            return rate / (1.0 + decay * share)


@_schedule
class CosineDecay(_Rates):
    """Half a cosine from the initial learning rate (after a warmup) to `alpha` times that."""

    _ARGUMENTS = (
        "initial_learning_rate", "decay_steps", "alpha", "name", "warmup_target", "warmup_steps"
    )  # fmt: skip

    def __init__(
        self,
        initial_learning_rate,
        decay_steps,
        alpha=0.0,
        name="CosineDecay",
        warmup_target=None,
        warmup_steps=0,
    ):
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name
        self.warmup_target = warmup_target
        self.warmup_steps = warmup_steps

    def _decayed(self, at, steps, rate):
        done = math_ops.minimum(at, steps) / steps
        cosine = 0.5 * (1.0 + math_ops.cos(math.pi * done))
        return rate * ((1 - self.alpha) * cosine + self.alpha)

    def __call__(self, step):
        with name_scope(self.name or "CosineDecay"):
            rate, steps, at = _floats(self.initial_learning_rate, self.decay_steps, step)
            if self.warmup_target is None:
                return self._decayed(at, steps, rate)
            warmup = math_ops.cast(self.warmup_steps, rate.dtype)
            target = math_ops.cast(self.warmup_target, rate.dtype)
            rising = rate + (target - rate) * at / warmup
            return control_flow_ops.cond(
                at < warmup,
                lambda: array_ops.identity(rising),
                lambda: self._decayed(at - warmup, steps, target),
            )


@_schedule
class CosineDecayRestarts(_Rates):
    """Cosines one after the other, each `t_mul` as long and `m_mul` as high as the one before."""

    _ARGUMENTS = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate,
        first_decay_steps,
        t_mul=2.0,
        m_mul=1.0,
        alpha=0.0,
        name="SGDRDecay",
    ):
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self.t_mul, self.m_mul, self.alpha = t_mul, m_mul, alpha
        self.name = name

    def __call__(self, step):
        with name_scope(self.name or "SGDRDecay"):
            rate, first, at = _floats(self.initial_learning_rate, self.first_decay_steps, step)
            done = at / first
            if self.t_mul == 1.0:
                restarts = math_ops.floor(done)
                done = done - restarts
            else:
                grown = math_ops.log(1.0 - done * (1.0 - self.t_mul)) / math.log(self.t_mul)
                restarts = math_ops.floor(grown)
                length = math_ops.pow(math_ops.cast(self.t_mul, rate.dtype), restarts)
                done = (done - (1.0 - length) / (1.0 - self.t_mul)) / length
            height = math_ops.pow(math_ops.cast(self.m_mul, rate.dtype), restarts)
            cosine = 0.5 * height * (1.0 + math_ops.cos(math.pi * done))
            return rate * ((1 - self.alpha) * cosine + self.alpha)


def serialize(learning_rate_schedule):
    """What stands for a schedule."""
    return objects.serialize(learning_rate_schedule)


def deserialize(config, custom_objects=None):
    """The schedule that a configuration stands for."""
    return objects.deserialize("learning rate schedule", config, custom_objects)
