"""Optimizers that are one op a variable: what they keep, their numbers, the op's inputs."""

from rheos.framework import dtypes
from rheos.framework.graph import colocate_with, convert_to_tensor
from rheos.framework.op_call import op1
from rheos.ops import array_ops, init_ops, math_ops
from rheos.ops.constant_op import constant
from rheos.v1._optimizers import Optimizer, _call


class _OneOpOptimizer(Optimizer):
    """Its op is called Apply_OP for dense gradients and SparseApply_OP for rows.

    `_INPUTS` are the inputs behind the variable: slots, numbers and "grad", in the op's order.
    """

    _OP = ""
    _INPUTS = ()

    def __init__(self, use_locking, name, **numbers):
        super().__init__(use_locking, name)
        self._numbers = numbers  # by the names of their nodes
        self._tensors = {}

    def _prepare(self):
        for key, number in self._numbers.items():
            self._tensors[key] = convert_to_tensor(_call(number), name=key)

    def _op(self):
        return self._OP

    def _inputs(self):
        return self._INPUTS

    def _number(self, key, var):
        return math_ops.cast(self._tensors[key], var.dtype.base_dtype)

    def _apply(self, prefix, gradient, var):
        inputs = []
        for key in self._inputs():
            slot = self.get_slot(var, key)
            if key == "grad":
                inputs += gradient
            else:
                inputs.append(slot if slot is not None else self._number(key, var))
        return op1(prefix + self._op(), None, var, *inputs, use_locking=self._use_locking).op

    def _apply_dense(self, grad, var):
        return self._apply("Apply", [grad], var)

    def _apply_sparse(self, grad, var):
        return self._apply("SparseApply", [grad.values, grad.indices], var)

    def _filled_slot(self, var, value, slot_name, op_name=None):
        with colocate_with(var):
            filled = constant(value, dtype=var.dtype.base_dtype, shape=var.shape)
        self._get_or_make_slot(var, filled, slot_name, op_name or self._name)


class RMSPropOptimizer(_OneOpOptimizer):
    """Divides by the root of a running mean of the squared gradient.

    centered: by its standard deviation, the mean of the gradient taken off.
    """

    def __init__(
        self,
        learning_rate,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        name="RMSProp",
    ):
        # The slot "momentum" and the number of that name are two things.
        super().__init__(
            use_locking, name, learning_rate=learning_rate, decay=decay, momentum=momentum,
            epsilon=epsilon,
        )
        self._centered = centered

    def _create_slots(self, var_list):
        for v in var_list:
            self._get_or_make_slot_with_initializer(
                v, init_ops.ones_initializer(), v.shape, v.dtype.base_dtype, "rms", self._name
            )
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _apply(self, prefix, gradient, var):
        slots = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        numbers = ("learning_rate", "decay", "momentum", "epsilon")
        return op1(
            prefix + ("CenteredRMSProp" if self._centered else "RMSProp"),
            None,
            var,
            *(self.get_slot(var, s) for s in slots),
            *(self._number(n, var) for n in numbers),
            *gradient,
            use_locking=self._use_locking,
        ).op


class AdadeltaOptimizer(_OneOpOptimizer):
    """Steps as large as past steps were, divided by the size of past gradients."""

    _OP = "Adadelta"
    _INPUTS = ("accum", "accum_update", "lr", "rho", "epsilon", "grad")

    def __init__(
        self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"
    ):
        super().__init__(use_locking, name, lr=learning_rate, rho=rho, epsilon=epsilon)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)


class FtrlOptimizer(_OneOpOptimizer):
    """Follows the regularized leader: for sparse linear models.

    l1_regularization_strength, l2_regularization_strength: at least 0; the L2 penalty on the sum
    of steps. l2_shrinkage_regularization_strength: at least 0; the L2 penalty on the variable.
    """

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
    ):
        _check_at_least_0("initial_accumulator_value", initial_accumulator_value)
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power} needs to be negative or zero"
            )
        _check_at_least_0("l1_regularization_strength", l1_regularization_strength)
        _check_at_least_0("l2_regularization_strength", l2_regularization_strength)
        _check_at_least_0(
            "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength
        )
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            l2_shrinkage_regularization_strength=l2_shrinkage_regularization_strength,
            learning_rate_power=learning_rate_power,
        )
        self._shrinks = l2_shrinkage_regularization_strength > 0
        self._initial_accumulator_value = initial_accumulator_value
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, var_list):
        for v in var_list:
            self._filled_slot(v, self._initial_accumulator_value, "accum", self._accum_name)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _op(self):
        return "FtrlV2" if self._shrinks else "Ftrl"

    def _inputs(self):
        shrinkage = ("l2_shrinkage_regularization_strength",) if self._shrinks else ()
        return (
            "accum",
            "linear",
            "grad",
            "learning_rate",
            "l1_regularization_strength",
            "l2_regularization_strength",
            *shrinkage,
            "learning_rate_power",
        )


class ProximalGradientDescentOptimizer(_OneOpOptimizer):
    """Gradient descent that draws variables to 0 by L1 and L2 penalties."""

    _OP = "ProximalGradientDescent"
    _INPUTS = ("learning_rate", "l1_regularization_strength", "l2_regularization_strength", "grad")

    def __init__(
        self,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalGradientDescent",
    ):
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )


class ProximalAdagradOptimizer(_OneOpOptimizer):
    """Adagrad that draws variables to 0 by L1 and L2 penalties."""

    _OP = "ProximalAdagrad"
    _INPUTS = ("accumulator", *ProximalGradientDescentOptimizer._INPUTS)

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        _check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list):
        for v in var_list:
            self._filled_slot(v, self._initial_accumulator_value, "accumulator")


class AdagradDAOptimizer(_OneOpOptimizer):
    """Adagrad by dual averaging: variables follow from the sums of all gradients.

    global_step: the variable that counts the steps.
    """

    _OP = "AdagradDA"
    _INPUTS = (
        "gradient_accumulator",
        "gradient_squared_accumulator",
        "grad",
        "learning_rate",
        "l1",
        "l2",
        "step",
    )

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        _check_positive(
            "initial_gradient_squared_accumulator_value",
            initial_gradient_squared_accumulator_value,
        )
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._initial_value = initial_gradient_squared_accumulator_value
        self._strengths = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        self._global_step = global_step

    def _create_slots(self, var_list):
        for v in var_list:
            with colocate_with(v):
                sums = [
                    constant(value, dtype=v.dtype.base_dtype, shape=v.shape)
                    for value in (0.0, self._initial_value)
                ]
            self._get_or_make_slot(v, sums[0], "gradient_accumulator", self._name)
            self._get_or_make_slot(v, sums[1], "gradient_squared_accumulator", self._name)

    def _prepare(self):
        super()._prepare()
        with colocate_with(self._tensors["learning_rate"]):
            self._next_step = array_ops.identity(self._global_step) + 1

    def _apply(self, prefix, gradient, var):
        self._step = array_ops.identity(self._next_step)
        return super()._apply(prefix, gradient, var)

    def _number(self, key, var):
        if key == "step":
            return math_ops.cast(self._step, dtypes.int64)
        if key in self._strengths:
            return math_ops.cast(self._strengths[key], var.dtype.base_dtype)
        return super()._number(key, var)


def _check_at_least_0(name, value):
    if value < 0.0:
        raise ValueError(f"{name} {value} needs to be positive or zero")


def _check_positive(name, value):
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
