"""The optimizers, by name too."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.op_call import apply_op
from rheos.layers import values
from rheos.models import objects
from rheos.models.initializers import Constant
from rheos.models.optimizer import Optimizer, Parts
from rheos.ops.array import segment_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.state import state_ops
from rheos.ops.state.variables import Variable
from rheos.training.optimizers import Optimizer as TrainingOptimizer

_optimizer = objects.known("optimizer")


def _cast(step, var, *names):
    return [math_ops.cast(step[name], var.dtype.base_dtype) for name in names]


class _Rated(Optimizer):
    """An optimizer with a learning rate."""

    _NUMBERS = ()  # the other hyperparameters
    _OPTIONS = ()  # arguments that are no hyperparameters

    def __init__(self, learning_rate, name, **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)

    def get_config(self):
        config = super().get_config()
        for key in ("learning_rate", "decay", *self._NUMBERS):
            config[key] = self._number(key)
        config.update({key: getattr(self, key) for key in self._OPTIONS})
        return config


@_optimizer("sgd")
class SGD(_Rated):
    """Subtracts the gradient times the learning rate, with momentum if there is one."""

    _GROUPS = (("momentum",),)
    _NUMBERS = ("momentum",)
    _OPTIONS = ("nesterov",)

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, name="SGD", **kwargs):
        super().__init__(learning_rate, name, **kwargs)
        if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self._has_momentum = callable(momentum) or momentum > 0
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._has_momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def _prepare(self, dtype):
        return {**super()._prepare(dtype), "momentum": self._value("momentum", dtype)}

    def _update_dense(self, step, grad, var):
        rate, momentum = _cast(step, var, "lr", "momentum")
        if not self._has_momentum:
            return apply_op("ResourceApplyGradientDescent", None, var.handle, rate, grad)
        slot = self.get_slot(var, "momentum")
        return apply_op(
            "ResourceApplyKerasMomentum", None, var.handle, slot.handle, rate, grad, momentum,
            use_nesterov=self.nesterov,
        )  # fmt: skip

    def _update_sparse(self, step, grad, var):
        if not self._has_momentum:
            return super()._update_sparse(step, grad, var)
        rate, momentum = _cast(step, var, "lr", "momentum")
        slot = self.get_slot(var, "momentum")
        return apply_op(
            "ResourceSparseApplyKerasMomentum", None, var.handle, slot.handle, rate,
            *_summed(grad), momentum, use_nesterov=self.nesterov,
        )  # fmt: skip


def _summed(grad):
    """(values, indices) of IndexedSlices in which no index is there twice."""
    unique = apply_op("Unique", None, grad.indices)
    rows = segment_ops.unsorted_segment_sum(
        grad.values, unique.outputs[1], apply_op("Size", None, unique.outputs[0]).outputs[0]
    )
    return rows, unique.outputs[0]


@_optimizer("rmsprop")
class RMSprop(_Rated):
    """Divides by the root of a running mean of squared gradients."""

    _GROUPS = (("rms",), ("momentum",), ("mg",))
    _NUMBERS = ("rho", "momentum")
    _OPTIONS = ("epsilon", "centered")

    def __init__(
        self,
        learning_rate=0.001,
        rho=0.9,
        momentum=0.0,
        epsilon=1e-7,
        centered=False,
        name="RMSprop",
        **kwargs,
    ):
        super().__init__(learning_rate, name, **kwargs)
        self._set_hyper("rho", rho)
        self._has_momentum = callable(momentum) or momentum > 0
        self._set_hyper("momentum", momentum)
        self.epsilon = 1e-7 if epsilon is None else epsilon
        self.centered = centered

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "rms")
        if self._has_momentum:
            for var in var_list:
                self.add_slot(var, "momentum")
        if self.centered:
            for var in var_list:
                self.add_slot(var, "mg")

    def _prepare(self, dtype):
        numbers = {name: self._value(name, dtype) for name in self._NUMBERS}
        return {**super()._prepare(dtype), **numbers}

    def _update_dense(self, step, grad, var):
        rate, rho, momentum = _cast(step, var, "lr", "rho", "momentum")
        rms = self.get_slot(var, "rms")
        if self._has_momentum:
            slots = [self.get_slot(var, "mg")] if self.centered else []
            slots += [rms, self.get_slot(var, "momentum")]
            kind = "ResourceApplyCenteredRMSProp" if self.centered else "ResourceApplyRMSProp"
            handles = [slot.handle for slot in slots]
            epsilon = math_ops.cast(self.epsilon, var.dtype)
            return apply_op(kind, None, var.handle, *handles, rate, rho, momentum, epsilon, grad)
        mean = rho * rms + (1 - rho) * math_ops.square(grad)
        updates = [state_ops.assign(rms, mean)]
        below = mean
        if self.centered:
            mg = self.get_slot(var, "mg")
            average = rho * mg + (1 - rho) * grad
            updates.append(state_ops.assign(mg, average))
            below = mean - math_ops.square(average)
        change = rate * grad / (math_ops.sqrt(below) + self.epsilon)
        updates.append(state_ops.assign_sub(var, change))
        return control_flow_ops.group(*updates)

    _ALWAYS_COMPOSED = True

    def _update_composed(self, step, parts, var):
        rate, rho, momentum = _cast(step, var, "lr", "rho", "momentum")
        rms = self.get_slot(var, "rms")
        below = state_ops.assign(rms, rho * rms + (1 - rho) * parts.square)
        if self.centered:
            mg = self.get_slot(var, "mg")
            average = state_ops.assign(mg, rho * mg + (1 - rho) * parts.whole)
            below = below - math_ops.square(average)
        change = rate * parts.whole / math_ops.sqrt(below + self.epsilon)
        if self._has_momentum:
            slot = self.get_slot(var, "momentum")
            change = state_ops.assign(slot, momentum * slot + change)
        return state_ops.assign_sub(var, change)


@_optimizer("adam")
class Adam(_Rated):
    """Adaptive moments: running means of the gradient and of its square.

    >>> x = tf.Variable(1.0)
    >>> step = tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant(2.0), x)])
    >>> print(x.numpy())
    0.90000015
    """

    _GROUPS = (("m", "v"), ("vhat",))
    _NUMBERS = ("beta_1", "beta_2")
    _OPTIONS = ("epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
        name="Adam",
        **kwargs,
    ):
        super().__init__(learning_rate, name, **kwargs)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = 1e-7 if epsilon is None else epsilon
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        for slot in ("m", "v", "vhat") if self.amsgrad else ("m", "v"):
            for var in var_list:
                self.add_slot(var, slot)

    def _prepare(self, dtype):
        at = math_ops.cast(self.iterations + 1, dtype)
        betas = {name: self._value(name, dtype) for name in self._NUMBERS}
        powers = {f"{name}_power": math_ops.pow(beta, at) for name, beta in betas.items()}
        return {**super()._prepare(dtype), **betas, **powers}

    def _update_dense(self, step, grad, var):
        rate, beta_1, beta_2, power_1, power_2 = _cast(
            step, var, "lr", "beta_1", "beta_2", "beta_1_power", "beta_2_power"
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        epsilon = math_ops.cast(self.epsilon, var.dtype)
        if not self.amsgrad:
            return apply_op(
                "ResourceApplyAdam", None, var.handle, m.handle, v.handle, power_1, power_2,
                rate, beta_1, beta_2, epsilon, grad,
            )  # fmt: skip
        largest = self.get_slot(var, "vhat")
        rate = rate * math_ops.sqrt(1 - power_2) / (1 - power_1)
        mean = m + (grad - m) * (1 - beta_1)
        square = v + (math_ops.square(grad) - v) * (1 - beta_2)
        most = math_ops.maximum(largest, square)
        change = rate * mean / (math_ops.sqrt(most) + epsilon)
        return control_flow_ops.group(
            state_ops.assign(m, mean),
            state_ops.assign(v, square),
            state_ops.assign(largest, most),
            state_ops.assign_sub(var, change),
        )

    def _update_composed(self, step, parts, var):
        rate, beta_1, beta_2, power_1, power_2 = _cast(
            step, var, "lr", "beta_1", "beta_2", "beta_1_power", "beta_2_power"
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = state_ops.assign_add(m, (parts.whole - m) * (1 - beta_1))
        square = state_ops.assign_add(v, (parts.square - v) * (1 - beta_2))
        if self.amsgrad:
            most = self.get_slot(var, "vhat")
            square = state_ops.assign(most, math_ops.maximum(most, square))
        rate = rate * math_ops.sqrt(1 - power_2) / (1 - power_1)
        return state_ops.assign_sub(var, mean * rate / (math_ops.sqrt(square) + self.epsilon))


@_optimizer("adamw")
class AdamW(Adam):
    """Adam with weight decay beside it."""

    def __init__(
        self,
        learning_rate=0.001,
        weight_decay=0.004,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        amsgrad=False,
        name="AdamW",
        **kwargs,
    ):
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, name,
            weight_decay=weight_decay, **kwargs,
        )  # fmt: skip


@_optimizer("adamax")
class Adamax(Adam):
    """Adam with the largest gradient instead of the mean of squares."""

    _OPTIONS = ("epsilon",)

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        name="Adamax",
        **kwargs,
    ):
        super().__init__(learning_rate, beta_1, beta_2, epsilon, False, name, **kwargs)

    def _update_dense(self, step, grad, var):
        rate, beta_1, beta_2, power = _cast(step, var, "lr", "beta_1", "beta_2", "beta_1_power")
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        epsilon = math_ops.cast(self.epsilon, var.dtype)
        return apply_op(
            "ResourceApplyAdaMax", None, var.handle, m.handle, v.handle, power,
            rate, beta_1, beta_2, epsilon, grad,
        )  # fmt: skip

    def _update_composed(self, step, parts, var):
        rate, beta_1, beta_2, power = _cast(step, var, "lr", "beta_1", "beta_2", "beta_1_power")
        m, u = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = state_ops.assign_add(m, (parts.whole - m) * (1 - beta_1))
        most = state_ops.assign(u, math_ops.maximum(beta_2 * u, parts.of(math_ops.abs)))
        return state_ops.assign_sub(var, rate * mean / ((1 - power) * (most + self.epsilon)))


@_optimizer("nadam")
class Nadam(_Rated):
    """Adam with Nesterov's momentum, on a schedule of its own."""

    _GROUPS = (("m", "v"),)
    _NUMBERS = ("beta_1", "beta_2")
    _OPTIONS = ("epsilon",)

    def __init__(
        self,
        learning_rate=0.001,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-7,
        name="Nadam",
        **kwargs,
    ):
        own_decay = 0.004 if values.runs_in_session() else 1.0
        kwargs["decay"] = kwargs.pop("schedule_decay", own_decay)
        super().__init__(learning_rate, name, **kwargs)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = 1e-7 if epsilon is None else epsilon
        self._product = None

    def _create_slots(self, var_list):
        if self._product is None:
            self._product = self._scalar("momentum_cache")
        for slot in ("m", "v"):
            for var in var_list:
                self.add_slot(var, slot)

    def keras3_variables(self):
        """The variables in the order of Keras 3's files."""
        found = super().keras3_variables()
        return found if self._product is None else [*found, self._product]

    def _scalar(self, name):
        variable = Variable(
            initial_value=lambda: convert_to_tensor(1.0, dtypes.float32),
            name=name,
            trainable=False,
            use_resource=True,
        )
        self._weights.append(variable)
        return variable

    def _prepare(self, dtype):
        at = math_ops.cast(self.iterations + 1, dtype)
        beta_1, beta_2 = self._value("beta_1", dtype), self._value("beta_2", dtype)
        decay = self._value("decay", dtype)
        base = math_ops.cast(0.96, dtype)
        now = beta_1 * (1.0 - 0.5 * math_ops.pow(base, decay * at))
        following = beta_1 * (1.0 - 0.5 * math_ops.pow(base, decay * (at + 1)))
        product = self._product * now
        with control_dependencies([product]):
            moved = state_ops.assign(self._product, product)
        with control_dependencies([moved]):
            product = product * 1.0
        return {
            "lr": self._value("learning_rate", dtype),
            "beta_1": beta_1,
            "beta_2": beta_2,
            "now": now,
            "next": following,
            "product": product,
            "next_product": product * following,
            "power": math_ops.pow(beta_2, at),
        }

    def _update_dense(self, step, grad, var):
        return self._update_composed(step, Parts(grad), var)

    def _update_composed(self, step, parts, var):
        grad = parts.whole
        names = ("lr", "beta_1", "beta_2", "now", "next", "product", "next_product", "power")
        rate, beta_1, beta_2, now, following, product, next_product, power = _cast(
            step, var, *names
        )
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        mean = beta_1 * m + (1 - beta_1) * grad
        square = beta_2 * v + (1 - beta_2) * parts.square
        ahead = (1.0 - now) * (grad / (1.0 - product)) + following * (mean / (1.0 - next_product))
        below = math_ops.sqrt(square / (1.0 - power)) + self.epsilon
        return control_flow_ops.group(
            state_ops.assign(m, mean),
            state_ops.assign(v, square),
            state_ops.assign_sub(var, rate * ahead / below),
        )


@_optimizer("adagrad")
class Adagrad(_Rated):
    """Divides by the root of the sum of squared gradients so far."""

    _GROUPS = (("accumulator",),)
    _OPTIONS = ("epsilon",)

    def __init__(
        self,
        learning_rate=0.001,
        initial_accumulator_value=0.1,
        epsilon=1e-7,
        name="Adagrad",
        **kwargs,
    ):
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(learning_rate, name, **kwargs)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", Constant(self._initial_accumulator_value))

    def _update_dense(self, step, grad, var):
        (rate,) = _cast(step, var, "lr")
        slot = self.get_slot(var, "accumulator")
        epsilon = math_ops.cast(self.epsilon, var.dtype)
        return apply_op(
            "ResourceApplyAdagradV2", None, var.handle, slot.handle, rate, epsilon, grad
        )

    _ALWAYS_COMPOSED = True

    def _update_composed(self, step, parts, var):
        (rate,) = _cast(step, var, "lr")
        total = state_ops.assign_add(self.get_slot(var, "accumulator"), parts.square)
        change = rate * parts.whole / math_ops.sqrt(total + self.epsilon)
        return state_ops.assign_sub(var, change)

    def get_config(self):
        return {
            **super().get_config(),
            "initial_accumulator_value": self._initial_accumulator_value,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer of a configuration, or a name: in TensorFlow 1 it starts with zeros then."""
        start = {"initial_accumulator_value": 0.0} if values.runs_in_session() else {}
        return super().from_config({**start, **config}, custom_objects)


@_optimizer("adadelta")
class Adadelta(_Rated):
    """Steps as large as the root of a running mean of squared steps."""

    _GROUPS = (("accum_grad", "accum_var"),)
    _NUMBERS = ("rho",)
    _OPTIONS = ("epsilon",)

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, name="Adadelta", **kwargs):
        super().__init__(learning_rate, name, **kwargs)
        self._set_hyper("rho", rho)
        self.epsilon = 1e-7 if epsilon is None else epsilon

    def _create_slots(self, var_list):
        for slot in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, slot)

    def _prepare(self, dtype):
        return {**super()._prepare(dtype), "rho": self._value("rho", dtype)}

    def _arguments(self, step, var):
        handles = [self.get_slot(var, slot).handle for slot in ("accum_grad", "accum_var")]
        epsilon = math_ops.cast(self.epsilon, var.dtype)
        return [var.handle, *handles, *_cast(step, var, "lr", "rho"), epsilon]

    def _update_dense(self, step, grad, var):
        return apply_op("ResourceApplyAdadelta", None, *self._arguments(step, var), grad)

    def _update_sparse(self, step, grad, var):
        arguments = self._arguments(step, var)
        return apply_op("ResourceSparseApplyAdadelta", None, *arguments, *_summed(grad))

    def _update_composed(self, step, parts, var):
        rate, rho = _cast(step, var, "lr", "rho")
        grads, changes = (self.get_slot(var, slot) for slot in ("accum_grad", "accum_var"))
        mean = state_ops.assign(grads, rho * grads + (1 - rho) * parts.square)
        change = parts.whole * math_ops.sqrt(changes + self.epsilon)
        change = change / math_ops.sqrt(mean + self.epsilon)
        done = state_ops.assign(changes, rho * changes + (1 - rho) * math_ops.square(change))
        with control_dependencies(values.operations([done])):
            return state_ops.assign_sub(var, rate * change)


@_optimizer("ftrl")
class Ftrl(_Rated):
    """Follow the regularized leader."""

    _GROUPS = (("accumulator", "linear"),)
    _NUMBERS = (
        "learning_rate_power",
        "l1_regularization_strength",
        "l2_regularization_strength",
    )

    def __init__(
        self,
        learning_rate=0.001,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        name="Ftrl",
        l2_shrinkage_regularization_strength=0.0,
        beta=0.0,
        **kwargs,
    ):
        for what, value, is_wrong in (
            ("initial_accumulator_value", initial_accumulator_value, initial_accumulator_value < 0),
            ("learning_rate_power", learning_rate_power, learning_rate_power > 0),
            ("l1_regularization_strength", l1_regularization_strength,
             l1_regularization_strength < 0),
            ("l2_regularization_strength", l2_regularization_strength,
             l2_regularization_strength < 0),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength,
             l2_shrinkage_regularization_strength < 0),
        ):  # fmt: skip
            if is_wrong:
                sign = "less" if "power" in what else "greater"
                raise ValueError(f"{what} {value} needs to be {sign} than or equal to 0")
        super().__init__(learning_rate, name, **kwargs)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self._initial_accumulator_value = initial_accumulator_value
        self._shrinkage = l2_shrinkage_regularization_strength
        self._beta = beta

    def _create_slots(self, var_list):
        for var in var_list:
            self.add_slot(var, "accumulator", Constant(self._initial_accumulator_value))
            self.add_slot(var, "linear")

    def _prepare(self, dtype):
        numbers = {name: self._value(name, dtype) for name in self._NUMBERS}
        strength = numbers["l2_regularization_strength"] + self._beta / (2.0 * self._rate(dtype))
        return {**super()._prepare(dtype), **numbers, "l2": strength}

    def _apply_kind(self, kind, step, gradient, var):
        handles = [self.get_slot(var, slot).handle for slot in ("accumulator", "linear")]
        rate, l1, l2, power = _cast(
            step, var, "lr", "l1_regularization_strength", "l2", "learning_rate_power"
        )
        before = [var.handle, *handles, *gradient, rate, l1, l2]
        if self._shrinkage <= 0.0:
            return apply_op(kind, None, *before, power)
        shrinkage = math_ops.cast(self._shrinkage, var.dtype)
        return apply_op(f"{kind}V2", None, *before, shrinkage, power)

    def _update_dense(self, step, grad, var):
        return self._apply_kind("ResourceApplyFtrl", step, [grad], var)

    def _update_sparse(self, step, grad, var):
        return self._apply_kind("ResourceSparseApplyFtrl", step, _summed(grad), var)

    _ALWAYS_COMPOSED = True

    def _update_composed(self, step, parts, var):
        rate, l1, l2, power = _cast(
            step, var, "lr", "l1_regularization_strength", "l2", "learning_rate_power"
        )
        total, linear = (self.get_slot(var, slot) for slot in ("accumulator", "linear"))
        grad = parts.whole + 2 * self._shrinkage * var
        after = total + parts.square
        root = math_ops.pow(after, -power)
        moved = grad - (root - math_ops.pow(total, -power)) / rate * var
        moved = state_ops.assign_add(linear, moved)
        quadratic = root / rate + 2 * l2
        clipped = clip_ops.clip_by_value(moved, -l1, l1)
        done = state_ops.assign(var, (clipped - moved) / quadratic)
        with control_dependencies(values.operations([done])):
            return state_ops.assign(total, after)

    def get_config(self):
        return {
            **super().get_config(),
            "initial_accumulator_value": self._initial_accumulator_value,
            "l2_shrinkage_regularization_strength": self._shrinkage,
        }


class TFOptimizer(Optimizer):
    """An optimizer of tf.train among those of models."""

    def __init__(self, optimizer, iterations=None):
        super().__init__(type(optimizer).__name__)
        self.optimizer = optimizer
        if iterations is not None:
            self.iterations = iterations

    def _apply(self, pairs, name):
        with name_scope(self._name):
            return self.optimizer.apply_gradients(pairs, global_step=self.iterations)

    @property
    def weights(self):
        """Not known of an optimizer of tf.train."""
        raise NotImplementedError

    def get_config(self):
        raise NotImplementedError

    def from_config(self, config):
        raise NotImplementedError


def get(identifier):
    """The optimizer of a name, a configuration, or itself; one of tf.train is wrapped."""
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, TrainingOptimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, (dict, str)):
        return deserialize(identifier)
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def serialize(optimizer):
    """What stands for an optimizer."""
    return objects.serialize(optimizer)


def deserialize(config, custom_objects=None):
    """The optimizer that a configuration, or a name, stands for."""
    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    name = config["class_name"]
    known = objects.table("optimizer")
    if name not in known and name.lower() in known:
        config = {**config, "class_name": name.lower()}
    return objects.deserialize("optimizer", config, custom_objects)
