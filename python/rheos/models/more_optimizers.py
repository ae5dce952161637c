"""Optimizers that Keras 3 has beside the older ones."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import init_scope
from rheos.framework.op_call import op1
from rheos.models import objects, optimizers
from rheos.models.optimizer import Optimizer, Parts, slot_key
from rheos.models.optimizers import Adam, _cast, _Rated
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.state import state_ops
from rheos.ops.state.variables import Variable

_optimizer = objects.known("optimizer")


def _root_mean(x):
    return math_ops.sqrt(math_ops.reduce_mean(math_ops.square(x)))


@_optimizer("lion")
class Lion(_Rated):
    """Moves by the sign of the gradient, smoothed by momentum."""

    _GROUPS = (("momentum",),)
    _NUMBERS = ("beta_1", "beta_2")

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.99, name="lion", **kwargs):
        super().__init__(learning_rate, name, **kwargs)
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError(
                "Argument `beta_1` must be in the [0, 1] range. Otherwise, the optimizer "
                f"degenerates to SignSGD. Received: beta_1={beta_1}."
            )
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "momentum")

    def _prepare(self, dtype):
        numbers = {name: self._value(name, dtype) for name in self._NUMBERS}
        return {**super()._prepare(dtype), **numbers}

    def _update_dense(self, step, grad, var):
        return self._update_composed(step, Parts(grad), var)

    def _update_composed(self, step, parts, var):
        rate, beta_1, beta_2 = _cast(step, var, "lr", "beta_1", "beta_2")
        m, grad = self.get_slot(var, "momentum"), parts.whole
        state_ops.assign_sub(var, rate * math_ops.sign(m * beta_1 + grad * (1.0 - beta_1)))
        return state_ops.assign(m, m * beta_2 + grad * (1.0 - beta_2))


@_optimizer("lamb")
class Lamb(Adam):
    """Adam whose steps are as large as the variable they change."""

    _OPTIONS = ("epsilon",)
    _ALWAYS_COMPOSED = True

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="lamb",
                 **kwargs):  # fmt: skip
        super().__init__(learning_rate, beta_1, beta_2, epsilon, False, name, **kwargs)

    def _update_composed(self, step, parts, var):
        rate, beta_1, beta_2, power_1, power_2 = _cast(
            step, var, "lr", "beta_1", "beta_2", "beta_1_power", "beta_2_power"
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = state_ops.assign_add(m, (parts.whole - m) * (1 - beta_1))
        square = state_ops.assign_add(v, (parts.square - v) * (1 - beta_2))
        below = math_ops.sqrt(square / (1.0 - power_2)) + self.epsilon
        change = mean / (1.0 - power_1) / below
        size = math_ops.sqrt(math_ops.reduce_sum(math_ops.square(var)))
        wanted = math_ops.sqrt(math_ops.reduce_sum(math_ops.square(change)))
        is_known = math_ops.logical_and(size > 0, wanted > 0)
        ratio = op1("SelectV2", None, is_known, math_ops.div_no_nan(size, wanted),
                    array_ops.ones_like(size))  # fmt: skip
        return state_ops.assign_sub(var, ratio * rate * change)


@_optimizer("adafactor")
class Adafactor(_Rated):
    """Adam with means of squares of rows and columns instead of elements."""

    _OPTIONS = ("beta_2_decay", "epsilon_1", "epsilon_2", "clip_threshold", "relative_step")
    _GROUPS = (("r", "c", "v"),)

    def __init__(self, learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=1e-3,
                 clip_threshold=1.0, relative_step=True, name="adafactor", **kwargs):  # fmt: skip
        super().__init__(learning_rate, name, **kwargs)
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step

    def _create_slots(self, var_list):
        for var in var_list:
            dims = var.shape.as_list()
            if len(dims) > 1:
                for name, shape in (("r", dims[:-1]), ("c", [*dims[:-2], dims[-1]])):
                    self._add_of_shape(var, name, shape)
            self.add_slot(var, "v")

    def _add_of_shape(self, var, name, shape):
        if slot_key(var, name) not in self._slots:
            with init_scope():
                slot = Variable(
                    initial_value=lambda: array_ops.zeros(shape, var.dtype), name=name,
                    trainable=False, dtype=var.dtype, use_resource=True,
                )  # fmt: skip
            self._slots[slot_key(var, name)] = slot
            self._weights.append(slot)

    def _prepare(self, dtype):
        at = math_ops.cast(self.iterations + 1, dtype)
        return {**super()._prepare(dtype), "at": at}

    def _update_dense(self, step, grad, var):
        return self._update_composed(step, Parts(grad), var)

    def _update_composed(self, step, parts, var):
        rate, at = _cast(step, var, "lr", "at")
        most = math_ops.minimum(rate, 1 / math_ops.sqrt(at))
        least = convert_to_tensor(self.epsilon_2, var.dtype.base_dtype)
        alpha = math_ops.maximum(least, _root_mean(var)) * most
        square = parts.square + self.epsilon_1
        beta = 1 - math_ops.pow(at, self.beta_2_decay)
        v = self.get_slot(var, "v")
        if len(var.shape.as_list()) > 1:
            rows, columns = self.get_slot(var, "r"), self.get_slot(var, "c")
            r = state_ops.assign(rows, beta * rows + (1 - beta) * math_ops.reduce_mean(square, -1))
            c = beta * columns + (1 - beta) * math_ops.reduce_mean(square, -2)
            c = state_ops.assign(columns, c)
            share = r / math_ops.reduce_mean(r, -1, keepdims=True)
            found = array_ops.expand_dims(share, -1) * array_ops.expand_dims(c, -2)
        else:
            found = beta * v + (1 - beta) * square
        change = parts.whole / math_ops.sqrt(state_ops.assign(v, found))
        change = change / math_ops.maximum(1.0, _root_mean(change) / self.clip_threshold)
        return state_ops.assign_sub(var, alpha * change)


@_optimizer("lossscaleoptimizer", "loss_scale_optimizer")
class LossScaleOptimizer(Optimizer):
    """An optimizer for small floats: losses are scaled up, and steps with infinities left out."""

    def __init__(self, inner_optimizer, initial_scale=2.0**15, dynamic_growth_steps=2000,
                 name="loss_scale_optimizer", **kwargs):  # fmt: skip
        if not kwargs.pop("dynamic", True):
            raise ValueError("LossScaleOptimizer no longer supports `dynamic=False`.")
        lost = sorted(k for k, v in kwargs.items() if v not in (None, False, 0.99))
        if lost:
            raise ValueError(f"LossScaleOptimizer does not support arguments: {lost}.")
        super().__init__(name)
        self.inner_optimizer = optimizers.get(inner_optimizer)
        self.initial_scale, self.dynamic_growth_steps = initial_scale, dynamic_growth_steps
        self._scale = None

    def build(self, var_list):
        """Makes the scale, the count of steps, and what the inner optimizer keeps."""
        self._make_state()
        self.inner_optimizer.build(var_list)
        self._built_with = list(var_list)

    def _make_state(self):
        if self._scale is not None:
            return
        with init_scope():
            self.step_counter = Variable(
                initial_value=lambda: convert_to_tensor(0, dtypes.int32), name="step_counter",
                trainable=False, dtype=dtypes.int32, use_resource=True,
            )  # fmt: skip
            self._scale = Variable(
                initial_value=float(self.initial_scale), name="dynamic_scale", trainable=False,
                use_resource=True,
            )  # fmt: skip
        self._weights += [self.step_counter, self._scale]

    @property
    def dynamic_scale(self):
        """What losses are multiplied by, a variable."""
        self._make_state()
        return self._scale

    def scale_loss(self, loss):
        """The loss times the scale."""
        return loss * math_ops.cast(self.dynamic_scale, loss.dtype)

    @property
    def weights(self):
        """Its own variables, then those of the inner optimizer."""
        return [*self._weights, *self.inner_optimizer.weights]

    @property
    def iterations(self):
        """The steps of the inner optimizer."""
        return self.inner_optimizer.iterations

    @property
    def learning_rate(self):
        """That of the inner optimizer."""
        return self.inner_optimizer.learning_rate

    def _apply(self, pairs, name):
        scale = self.dynamic_scale
        whole = [convert_to_tensor(g) for g, _ in pairs]
        is_finite = math_ops.reduce_all(
            array_ops.stack([math_ops.reduce_all(math_ops.is_finite(g)) for g in whole])
        )
        variables = [v for _, v in pairs]
        self.inner_optimizer.build(variables)
        unscaled = [g / math_ops.cast(scale, g.dtype) for g in whole]
        self._step_if(is_finite, list(zip(unscaled, variables)), name)
        counted = self.step_counter + 1
        grows = counted >= self.dynamic_growth_steps
        factor = op1("SelectV2", None, grows, convert_to_tensor(2.0), convert_to_tensor(1.0))
        factor = op1("SelectV2", None, is_finite, factor, convert_to_tensor(0.5))
        is_kept = math_ops.logical_and(is_finite, math_ops.logical_not(grows))
        state_ops.assign(scale, scale * factor)
        state_ops.assign(self.step_counter, counted * math_ops.cast(is_kept, dtypes.int32))
        return self.inner_optimizer.iterations

    def _step_if(self, is_finite, pairs, name):
        """A step of the inner optimizer, undone where a gradient was not finite."""
        inner = self.inner_optimizer
        held = [*(v for _, v in pairs), *inner.weights]
        before = [array_ops.identity(convert_to_tensor(v)) for v in held]
        inner.apply_gradients(pairs, name=name)
        for variable, value in zip(held, before):
            found = op1("SelectV2", None, is_finite, convert_to_tensor(variable), value)
            state_ops.assign(variable, found)

    def get_config(self):
        return {
            "name": self._name,
            "inner_optimizer": objects.serialize(self.inner_optimizer),
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer like the one whose get_config() this was."""
        config = dict(config)
        inner = optimizers.deserialize(config.pop("inner_optimizer"), custom_objects)
        return cls(inner, **config)


def scaled(optimizer):
    """An optimizer that scales losses around another one, unless it is one."""
    return optimizer if isinstance(optimizer, LossScaleOptimizer) else LossScaleOptimizer(optimizer)
