"""The less common ones of the optimizers that the C library knows."""

from rheos.training.optimizers import _CoreOptimizer


class RMSPropOptimizer(_CoreOptimizer):
    """Divides by the root of a running mean of the squared gradient.

    centered: by its standard deviation, the mean of the gradient taken off.
    """

    _KIND = "RMSProp"

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
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            decay=decay,
            momentum=momentum,
            epsilon=epsilon,
            centered=centered,
        )


class AdadeltaOptimizer(_CoreOptimizer):
    """Steps as large as past steps were, divided by the size of past gradients."""

    _KIND = "Adadelta"
    _ATTRIBUTES = {"learning_rate": "lr", "decay": "rho"}
    _TENSOR = "_t"

    def __init__(
        self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"
    ):
        super().__init__(use_locking, name, learning_rate=learning_rate, decay=rho, epsilon=epsilon)


class FtrlOptimizer(_CoreOptimizer):
    """Follows the regularized leader: for sparse linear models.

    l1_regularization_strength, l2_regularization_strength: at least 0; the L2 penalty on the sum
    of steps. l2_shrinkage_regularization_strength: at least 0; the L2 penalty on the variable.
    """

    _KIND = "Ftrl"

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
            initial_accumulator_value=initial_accumulator_value,
            accum_name=accum_name,
            linear_name=linear_name,
        )


class ProximalGradientDescentOptimizer(_CoreOptimizer):
    """Gradient descent that draws variables to 0 by L1 and L2 penalties."""

    _KIND = "ProximalGradientDescent"

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


class ProximalAdagradOptimizer(_CoreOptimizer):
    """Adagrad that draws variables to 0 by L1 and L2 penalties."""

    _KIND = "ProximalAdagrad"

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
            initial_accumulator_value=initial_accumulator_value,
        )


class AdagradDAOptimizer(_CoreOptimizer):
    """Adagrad by dual averaging: variables follow from the sums of all gradients.

    global_step: the variable that counts the steps.
    """

    _KIND = "AdagradDA"

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
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            initial_accumulator_value=initial_gradient_squared_accumulator_value,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
            global_step=global_step,
        )


def _check_at_least_0(name, value):
    if value < 0.0:
        raise ValueError(f"{name} {value} needs to be positive or zero")


def _check_positive(name, value):
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
