"""Bijectors: functions with an inverse whose Jacobian's determinant is known; elementwise ones.

A bijector takes x to y by forward() and back by inverse(). The logarithm of the determinant is over
`event_ndims` dimensions, the last ones, at least those that the bijector mixes.
"""

import math
import re

import numpy as np

from rheos.contrib.distribution_util import softplus_inverse
from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies, name_scope
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import nn_ops


def _snake(name):
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", name).lower()


class Bijector:
    """A function with an inverse.

    Subclasses compute _forward(x), _inverse(y), and one of _inverse_log_det_jacobian(y) and
    _forward_log_det_jacobian(x), over the dimensions that they mix at least. What goes one way is
    remembered: the inverse of what forward() gave is the tensor that it was given.
    ValueError if neither `forward_min_event_ndims` nor `inverse_min_event_ndims` is given.
    """

    def __init__(
        self,
        graph_parents=None,
        is_constant_jacobian=False,
        validate_args=False,
        dtype=None,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name=None,
    ):
        self._graph_parents = list(graph_parents or [])
        for i, parent in enumerate(self._graph_parents):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and "
                "`inverse_min_event_ndims`."
            )
        if inverse_min_event_ndims is None:
            inverse_min_event_ndims = forward_min_event_ndims
        if forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        for argument, least in (
            ("forward_min_event_ndims", forward_min_event_ndims),
            ("inverse_min_event_ndims", inverse_min_event_ndims),
        ):
            if not isinstance(least, (int, np.integer)):
                raise TypeError(f"Expected {argument} to be of type int, got {type(least)}")
            if least < 0:
                raise ValueError(f"{argument} must be a non-negative integer.")
        self._forward_min_event_ndims = forward_min_event_ndims
        self._inverse_min_event_ndims = inverse_min_event_ndims
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = None if dtype is None else dtypes.as_dtype(dtype)
        self._constant_determinants = {}
        self._to_y, self._to_x, self._determinants = {}, {}, {}
        self._name = name or _snake(type(self).__name__.lstrip("_"))

    @property
    def graph_parents(self):
        """The tensors that it was made of."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self):
        """How many of the last dimensions forward() mixes."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self):
        """How many of the last dimensions inverse() mixes."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self):
        """Whether the Jacobian is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self):
        return True

    @property
    def validate_args(self):
        """Whether wrong values are errors when it runs."""
        return self._validate_args

    @property
    def dtype(self):
        """The dtype of what it takes; None for any."""
        return self._dtype

    @property
    def name(self):
        """The name of its scope."""
        return self._name

    # ---- Shapes

    def _forward_event_shape(self, input_shape):
        return input_shape

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape

    def _inverse_event_shape(self, output_shape):
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape):
        return output_shape

    def forward_event_shape(self, input_shape):
        """The static event shape of forward() of this event shape."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape):
        """The static event shape of inverse() of this event shape."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape, name="forward_event_shape_tensor"):
        """forward_event_shape(), a vector."""
        with name_scope(self._name), name_scope(name):
            shape = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
            return self._forward_event_shape_tensor(shape)

    def inverse_event_shape_tensor(self, output_shape, name="inverse_event_shape_tensor"):
        """inverse_event_shape(), a vector."""
        with name_scope(self._name), name_scope(name):
            shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
            return self._inverse_event_shape_tensor(shape)

    # ---- Values

    def _forward(self, x):
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y):
        raise NotImplementedError("inverse not implemented")

    def _inverse_log_det_jacobian(self, y):
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_log_det_jacobian(self, x):
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _taken(self, value, name):
        value = convert_to_tensor(value, name=name)
        if self._dtype is not None and value.dtype.base_dtype != self._dtype:
            raise TypeError(f"Input had dtype {value.dtype.base_dtype} but expected {self._dtype}.")
        return value

    @staticmethod
    def _key(value, conditions):
        return id(value), tuple(sorted((name, id(c)) for name, c in conditions.items()))

    def _remember(self, x, y, conditions):
        # Both are kept with the key, so that no other tensor gets their identity.
        self._to_y[self._key(x, conditions)] = x, y, conditions
        self._to_x[self._key(y, conditions)] = y, x, conditions

    def _call_forward(self, x, name, **conditions):
        with name_scope(self._name), name_scope(name):
            x = self._taken(x, "x")
            if not self._is_injective:
                return self._forward(x, **conditions)
            known = self._to_y.get(self._key(x, conditions))
            if known is None:
                self._remember(x, self._forward(x, **conditions), conditions)
                known = self._to_y[self._key(x, conditions)]
            return known[1]

    def _call_inverse(self, y, name, **conditions):
        with name_scope(self._name), name_scope(name):
            y = self._taken(y, "y")
            if not self._is_injective:
                return self._inverse(y, **conditions)
            known = self._to_x.get(self._key(y, conditions))
            if known is None:
                self._remember(self._inverse(y, **conditions), y, conditions)
                known = self._to_x[self._key(y, conditions)]
            return known[1]

    def forward(self, x, name="forward"):
        """y of x. TypeError if x is not of the bijector's dtype."""
        return self._call_forward(x, name)

    def inverse(self, y, name="inverse"):
        """x of y; of a bijector that takes several values to one, a tuple of them."""
        return self._call_inverse(y, name)

    # ---- Determinants

    def _checked_event_ndims(self, event_ndims, least):
        """The number if it is known; assertions that it is large enough."""
        known = constant_value(convert_to_tensor(event_ndims, dtypes.int32))
        if known is not None and known.ndim:
            raise ValueError(f"Expected a scalar, got shape {known.shape} for event_ndims")
        if known is None:
            if not self._validate_args:
                return event_ndims, []
            return event_ndims, [check_ops.assert_greater_equal(event_ndims, least)]
        if known < least:
            raise ValueError(
                f"event_ndims ({int(known)}) must be larger than min_event_ndims ({least})"
            )
        return int(known), []

    def _summed(self, value, determinant, least, event_ndims):
        """A determinant over `least` dimensions of `value`, over `event_ndims` ones."""
        if isinstance(event_ndims, int):
            over = list(range(least - event_ndims, 0))
        else:
            over = math_ops.range(least - event_ndims, 0)
        rank = value.shape.ndims
        rank = array_ops.rank(value) if rank is None else rank
        # A determinant that is the same everywhere counts once for each.
        each = array_ops.shape(value)[rank - event_ndims : rank - least]
        ones = array_ops.ones(each, determinant.dtype)
        summed = math_ops.reduce_sum(ones * determinant, over)
        if (
            isinstance(event_ndims, int)
            and value.shape.ndims is not None
            and (determinant.shape.ndims is not None)
        ):
            static = array_ops.broadcast_static_shape(
                determinant.shape, value.shape[rank - event_ndims : rank - least]
            )
            summed.set_shape(static[: static.ndims - (event_ndims - least)])
        return summed

    def _call_inverse_log_det_jacobian(self, y, event_ndims, name, **conditions):
        with name_scope(self._name), name_scope(name):
            y = self._taken(y, "y")
            number, checks = self._checked_event_ndims(event_ndims, self._inverse_min_event_ndims)
            with control_dependencies(checks):
                if not self._is_injective:
                    return tuple(
                        self._summed(y, one, self._inverse_min_event_ndims, number)
                        for one in self._inverse_log_det_jacobian(y, **conditions)
                    )
                key = (self._key(y, conditions), number if isinstance(number, int) else id(number))
                if key not in self._determinants:
                    made = self._inverse_determinant(y, number, conditions)
                    self._determinants[key] = y, event_ndims, made
                return self._determinants[key][2]

    def _inverse_determinant(self, y, event_ndims, conditions):
        try:
            determinant = self._inverse_log_det_jacobian(y, **conditions)
            return self._summed(y, determinant, self._inverse_min_event_ndims, event_ndims)
        except NotImplementedError as error:
            if type(self)._forward_log_det_jacobian is Bijector._forward_log_det_jacobian:
                raise error
        x = self._call_inverse(y, "inverse", **conditions)
        determinant = -self._forward_log_det_jacobian(x, **conditions)
        return self._summed(x, determinant, self._forward_min_event_ndims, event_ndims)

    def _call_forward_log_det_jacobian(self, x, event_ndims, name, **conditions):
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective transforms."
            )
        with name_scope(self._name), name_scope(name):
            x = self._taken(x, "x")
            number, checks = self._checked_event_ndims(event_ndims, self._forward_min_event_ndims)
            with control_dependencies(checks):
                try:
                    determinant = self._forward_log_det_jacobian(x, **conditions)
                    return self._summed(x, determinant, self._forward_min_event_ndims, number)
                except NotImplementedError as error:
                    kind = type(self)
                    if kind._inverse_log_det_jacobian is Bijector._inverse_log_det_jacobian:
                        raise error
                y = self._call_forward(x, "forward", **conditions)
                determinant = -self._inverse_log_det_jacobian(y, **conditions)
                return self._summed(y, determinant, self._inverse_min_event_ndims, number)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian"):
        """log |det dx/dy| at y, over the last `event_ndims` dimensions.

        ValueError for fewer than the bijector mixes. Of one that takes several values to one, a
        tuple.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian"):
        """log |det dy/dx| at x, over the last `event_ndims` dimensions."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)


class ConditionalBijector(Bijector):
    """A bijector whose methods take more, which goes to _forward() and the others."""

    def forward(self, x, name="forward", **condition_kwargs):
        """y of x."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y, name="inverse", **condition_kwargs):
        """x of y."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self, y, event_ndims, name="inverse_log_det_jacobian", **condition_kwargs
    ):
        """log |det dx/dy| at y."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self, x, event_ndims, name="forward_log_det_jacobian", **condition_kwargs
    ):
        """log |det dy/dx| at x."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


class _Elementwise(Bijector):
    def __init__(self, validate_args, name, parents=(), constant=False):
        super().__init__(
            graph_parents=parents, forward_min_event_ndims=0, validate_args=validate_args,
            is_constant_jacobian=constant, name=name,
        )  # fmt: skip

    def _when(self, check, value, message):
        """The value, once it is checked to fit, with validate_args."""
        if not self._validate_args:
            return value
        return control_flow_ops.with_dependencies([check(value, message=message)], value)


def _parameter(value, name):
    return convert_to_tensor(value, name=name)


class Identity(_Elementwise):
    """y = x."""

    def __init__(self, validate_args=False, name="identity"):
        super().__init__(validate_args, name, constant=True)

    def _forward(self, x):
        return x

    def _inverse(self, y):
        return y

    def _inverse_log_det_jacobian(self, y):
        return constant(0.0, y.dtype)

    def _forward_log_det_jacobian(self, x):
        return constant(0.0, x.dtype)


class PowerTransform(_Elementwise):
    """y = (1 + x c)^(1 / c), exp(x) for a `power` c of 0; ValueError for c below 0."""

    def __init__(self, power=0.0, validate_args=False, name="power_transform"):
        known = constant_value(convert_to_tensor(power, name="power"))
        if known is None or known < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = power
        super().__init__(validate_args, name)

    @property
    def power(self):
        """c."""
        return self._power

    def _forward(self, x):
        x = self._when(
            lambda v, message: check_ops.assert_non_negative(
                1.0 + v * self._power, message=message
            ),
            x,
            "Forward transformation input must be at least -1 / power.",
        )
        if self._power == 0.0:
            return math_ops.exp(x)
        return math_ops.exp(math_ops.log1p(x * self._power) / self._power)

    def _positive(self, y):
        message = "Inverse transformation input must be greater than 0."
        return self._when(check_ops.assert_positive, y, message)

    def _inverse(self, y):
        y = self._positive(y)
        if self._power == 0.0:
            return math_ops.log(y)
        return math_ops.expm1(math_ops.log(y) * self._power) / self._power

    def _inverse_log_det_jacobian(self, y):
        return (self._power - 1.0) * math_ops.log(self._positive(y))

    def _forward_log_det_jacobian(self, x):
        if self._power == 0.0:
            return x
        return (1.0 / self._power - 1.0) * math_ops.log1p(x * self._power)


class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)


class AbsoluteValue(_Elementwise):
    """y = |x|, whose inverse is (-y, y)."""

    def __init__(self, validate_args=False, name="absolute_value"):
        super().__init__(validate_args, name)

    @property
    def _is_injective(self):
        return False

    def _checked(self, y):
        return self._when(check_ops.assert_non_negative, y, "Argument y was negative")

    def _forward(self, x):
        return math_ops.abs(x)

    def _inverse(self, y):
        y = self._checked(y)
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        zeros = constant(0.0, self._checked(y).dtype)
        return zeros, zeros


class Square(_Elementwise):
    """y = x^2, of x at least 0."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args, name)

    def _checked(self, x):
        message = "All elements must be non-negative."
        return self._when(check_ops.assert_non_negative, x, message)

    def _forward(self, x):
        return math_ops.square(self._checked(x))

    def _inverse(self, y):
        return math_ops.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x):
        return math.log(2.0) + math_ops.log(self._checked(x))


class Sigmoid(_Elementwise):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return math_ops.sigmoid(x)

    def _inverse(self, y):
        return math_ops.log(y) - math_ops.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -math_ops.log(y) - math_ops.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -nn_ops.softplus(-x) - nn_ops.softplus(x)


class Softsign(_Elementwise):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args, name)

    def _checked(self, y):
        if not self._validate_args:
            return y
        message = "Inverse transformation input must be in (-1, 1)."
        checks = [
            check_ops.assert_greater(y, constant(-1, y.dtype), message=message),
            check_ops.assert_less(y, constant(1, y.dtype), message=message),
        ]
        return control_flow_ops.with_dependencies(checks, y)

    def _forward(self, x):
        return x / (1.0 + math_ops.abs(x))

    def _inverse(self, y):
        y = self._checked(y)
        return y / (1.0 - math_ops.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * math_ops.log1p(math_ops.abs(x))

    def _inverse_log_det_jacobian(self, y):
        return -2.0 * math_ops.log1p(-math_ops.abs(self._checked(y)))


class Softplus(_Elementwise):
    """y = h log(1 + exp(x / h)), h: `hinge_softness`, 1 by default, not 0."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        self._hinge_softness = None
        if hinge_softness is not None:
            self._hinge_softness = _parameter(hinge_softness, "hinge_softness")
            if validate_args:
                zero = array_ops.zeros([], self._hinge_softness.dtype)
                check = check_ops.assert_none_equal(self._hinge_softness, zero)
                self._hinge_softness = control_flow_ops.with_dependencies(
                    [check], self._hinge_softness
                )
        super().__init__(validate_args, name)

    @property
    def hinge_softness(self):
        """h, None for 1."""
        return self._hinge_softness

    def _scaled(self, function, value):
        if self._hinge_softness is None:
            return function(value)
        h = math_ops.cast(self._hinge_softness, value.dtype)
        return h * function(value / h)

    def _forward(self, x):
        return self._scaled(nn_ops.softplus, x)

    def _inverse(self, y):
        return self._scaled(softplus_inverse, y)

    def _inverse_log_det_jacobian(self, y):
        if self._hinge_softness is not None:
            y = y / math_ops.cast(self._hinge_softness, y.dtype)
        return -math_ops.log(-math_ops.expm1(-y))

    def _forward_log_det_jacobian(self, x):
        if self._hinge_softness is not None:
            x = x / math_ops.cast(self._hinge_softness, x.dtype)
        return -nn_ops.softplus(-x)


class AffineScalar(_Elementwise):
    """y = scale x + shift; each may be None."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        self._shift = None if shift is None else _parameter(shift, "shift")
        self._scale = None
        if scale is not None:
            self._scale = _parameter(scale, "scale")
            if validate_args:
                zero = array_ops.zeros([], self._scale.dtype)
                check = check_ops.assert_none_equal(self._scale, zero)
                self._scale = control_flow_ops.with_dependencies([check], self._scale)
        super().__init__(validate_args, name, constant=True)

    @property
    def shift(self):
        """What is added."""
        return self._shift

    @property
    def scale(self):
        """What x is multiplied with."""
        return self._scale

    def _forward(self, x):
        y = array_ops.identity(x)
        if self._scale is not None:
            y *= self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = array_ops.identity(y)
        if self._shift is not None:
            x -= self._shift
        return x if self._scale is None else x / self._scale

    def _forward_log_det_jacobian(self, x):
        if self._scale is None:
            return constant(0.0, x.dtype.base_dtype)
        return math_ops.log(math_ops.abs(self._scale))


class Gumbel(_Elementwise):
    """y = exp(-exp(-(x - loc) / scale)), a distribution function."""

    def __init__(self, loc=0.0, scale=1.0, validate_args=False, name="gumbel"):
        self._loc, self._scale = _parameter(loc, "loc"), _parameter(scale, "scale")
        check_ops.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(validate_args, name)
        message = "Argument scale was not positive"
        self._scale = self._when(check_ops.assert_positive, self._scale, message)

    @property
    def loc(self):
        """The location."""
        return self._loc

    @property
    def scale(self):
        """The scale."""
        return self._scale

    def _forward(self, x):
        z = (x - self._loc) / self._scale
        return math_ops.exp(-math_ops.exp(-z))

    def _inverse(self, y):
        return self._loc - self._scale * math_ops.log(-math_ops.log(y))

    def _inverse_log_det_jacobian(self, y):
        return math_ops.log(self._scale / (-math_ops.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self._loc) / self._scale
        return -z - math_ops.exp(-z) - math_ops.log(self._scale)


class _OfPowers(_Elementwise):
    """A bijector of two positive parameters."""

    def _positive(self, value, name):
        value = _parameter(value, name)
        if not self._validate_args:
            return value
        check = check_ops.assert_positive(value, message=f"Argument {name} was not positive")
        return control_flow_ops.with_dependencies([check], value)


class Kumaraswamy(_OfPowers):
    """y = (1 - (1 - x)^(1 / b))^(1 / a); a, b: concentration1 and concentration0."""

    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, name="kumaraswamy"
    ):
        super().__init__(validate_args, name)
        self._one = self._positive(concentration1, "concentration1")
        self._zero = self._positive(concentration0, "concentration0")

    @property
    def concentration1(self):
        """a."""
        return self._one

    @property
    def concentration0(self):
        """b."""
        return self._zero

    def _forward(self, x):
        inner = -math_ops.expm1(math_ops.log1p(-x) / self._zero)
        return math_ops.exp(math_ops.log(inner) / self._one)

    def _inverse(self, y):
        inner = math_ops.log1p(-(y**self._one))
        return -math_ops.expm1(inner * self._zero)

    def _inverse_log_det_jacobian(self, y):
        a, b = self._one, self._zero
        return (
            math_ops.log(a)
            + math_ops.log(b)
            + math_ops.xlogy(a - 1, y)
            + math_ops.xlogy(b - 1, 1 - y**a)
        )


class Weibull(_OfPowers):
    """y = 1 - exp(-(x / scale)^concentration), a distribution function."""

    def __init__(self, scale=1.0, concentration=1.0, validate_args=False, name="weibull"):
        super().__init__(validate_args, name)
        self._scale = self._positive(scale, "scale")
        self._concentration = self._positive(concentration, "concentration")

    @property
    def scale(self):
        """The scale."""
        return self._scale

    @property
    def concentration(self):
        """The shape parameter."""
        return self._concentration

    def _forward(self, x):
        return -math_ops.expm1(-((x / self._scale) ** self._concentration))

    def _inverse(self, y):
        return self._scale * (-math_ops.log1p(-y)) ** (1 / self._concentration)

    def _inverse_log_det_jacobian(self, y):
        k = self._concentration
        return (
            -math_ops.log1p(-y)
            + (1 / k - 1) * math_ops.log(-math_ops.log1p(-y))
            + math_ops.log(self._scale / k)
        )

    def _forward_log_det_jacobian(self, x):
        z = x / self._scale
        k = self._concentration
        return -(z**k) + (k - 1) * math_ops.log(x) + math_ops.log(k) - k * math_ops.log(self._scale)


class SinhArcsinh(_Elementwise):
    """y = sinh((arcsinh(x) + skewness) tailweight)."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        self._skewness = _parameter(0.0 if skewness is None else skewness, "skewness")
        self._tailweight = _parameter(1.0 if tailweight is None else tailweight, "tailweight")
        check_ops.assert_same_float_dtype([self._skewness, self._tailweight])
        super().__init__(validate_args, name)
        message = "Argument tailweight was not positive"
        self._tailweight = self._when(check_ops.assert_positive, self._tailweight, message)

    @property
    def skewness(self):
        """How much it leans."""
        return self._skewness

    @property
    def tailweight(self):
        """How heavy its tails are."""
        return self._tailweight

    def _forward(self, x):
        return math_ops.sinh((math_ops.asinh(x) + self._skewness) * self._tailweight)

    def _inverse(self, y):
        return math_ops.sinh(math_ops.asinh(y) / self._tailweight - self._skewness)

    def _inverse_log_det_jacobian(self, y):
        inner = math_ops.asinh(y) / self._tailweight - self._skewness
        return math_ops.log(math_ops.cosh(inner)) - _log_root(y) - math_ops.log(self._tailweight)

    def _forward_log_det_jacobian(self, x):
        inner = (math_ops.asinh(x) + self._skewness) * self._tailweight
        return math_ops.log(math_ops.cosh(inner)) - _log_root(x) + math_ops.log(self._tailweight)


def _log_root(x):
    """log(sqrt(x^2 + 1))."""
    size = math_ops.abs(x)
    large = size > 1 / math.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps)
    safe = array_ops.where(large, array_ops.ones_like(x), x)
    logs = math_ops.log(array_ops.where(large, size, array_ops.ones_like(x)))
    return array_ops.where(large, logs, 0.5 * math_ops.log1p(math_ops.square(safe)))


class Inline(Bijector):
    """A bijector of the functions that it is given."""

    def __init__(
        self,
        forward_fn=None,
        inverse_fn=None,
        inverse_log_det_jacobian_fn=None,
        forward_log_det_jacobian_fn=None,
        forward_event_shape_fn=None,
        forward_event_shape_tensor_fn=None,
        inverse_event_shape_fn=None,
        inverse_event_shape_tensor_fn=None,
        is_constant_jacobian=False,
        validate_args=False,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name="inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name,
        )  # fmt: skip
        self._functions = {
            "forward": forward_fn,
            "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
        }
        for method, function in (
            ("_forward_event_shape", forward_event_shape_fn),
            ("_forward_event_shape_tensor", forward_event_shape_tensor_fn),
            ("_inverse_event_shape", inverse_event_shape_fn),
            ("_inverse_event_shape_tensor", inverse_event_shape_tensor_fn),
        ):
            if function is not None:
                setattr(self, method, function)

    def _call(self, which, value, conditions):
        function = self._functions[which]
        if not callable(function):
            raise NotImplementedError(f"{which}_fn is not a callable function.")
        return function(value, **conditions)

    def _forward(self, x, **conditions):
        return self._call("forward", x, conditions)

    def _inverse(self, y, **conditions):
        return self._call("inverse", y, conditions)

    def _inverse_log_det_jacobian(self, y, **conditions):
        return self._call("inverse_log_det_jacobian", y, conditions)

    def _forward_log_det_jacobian(self, x, **conditions):
        return self._call("forward_log_det_jacobian", x, conditions)


class Invert(Bijector):
    """A bijector the other way round."""

    def __init__(self, bijector, validate_args=False, name=None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args,
            dtype=bijector.dtype, name=name or "_".join(["invert", bijector.name]),
        )  # fmt: skip

    @property
    def bijector(self):
        """The one that is turned round."""
        return self._bijector

    def _forward_event_shape(self, input_shape):
        return self._bijector.inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self._bijector.inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape):
        return self._bijector.forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._bijector.forward_event_shape_tensor(output_shape)

    def _forward(self, x, **conditions):
        return self._bijector._call_inverse(x, "inverse", **conditions)

    def _inverse(self, y, **conditions):
        return self._bijector._call_forward(y, "forward", **conditions)

    def _inverse_log_det_jacobian(self, y, **conditions):
        return self._bijector._call_forward_log_det_jacobian(
            y, self._inverse_min_event_ndims, "forward_log_det_jacobian", **conditions
        )

    def _forward_log_det_jacobian(self, x, **conditions):
        return self._bijector._call_inverse_log_det_jacobian(
            x, self._forward_min_event_ndims, "inverse_log_det_jacobian", **conditions
        )


def _least_event_ndims(bijectors, attributes):
    """How many dimensions a chain mixes: (of the first one's input, whether anything is left)."""
    taken, given = attributes
    least = most = 0
    for bijector in bijectors:
        has, needs = getattr(bijector, taken), getattr(bijector, given)
        if has > most:
            least, most = least + has - most, has
        most += needs - has
    return least


def _name_of_chain(bijectors):
    return "_of_".join(["chain", *(one.name for one in bijectors)]) if bijectors else "identity"


class Chain(Bijector):
    """Bijectors one after the other, the last one first: Chain([f, g]) is f(g(x))."""

    def __init__(self, bijectors=None, validate_args=False, name=None):
        bijectors = () if bijectors is None else tuple(bijectors)
        for bijector in bijectors:
            if not bijector._is_injective:
                raise NotImplementedError("Invert is not implemented for non-injective bijector.")
        kinds = {bijector.dtype for bijector in bijectors if bijector.dtype is not None}
        if len(kinds) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(kind.name for kind in kinds)}")
        self._bijectors = bijectors
        forward = ("forward_min_event_ndims", "inverse_min_event_ndims")
        super().__init__(
            graph_parents=[parent for one in bijectors for parent in one.graph_parents],
            forward_min_event_ndims=_least_event_ndims(bijectors[::-1], forward),
            inverse_min_event_ndims=_least_event_ndims(bijectors, forward[::-1]),
            is_constant_jacobian=all(one.is_constant_jacobian for one in bijectors),
            validate_args=validate_args, dtype=next(iter(kinds), None),
            name=name or _name_of_chain(bijectors),
        )  # fmt: skip

    @property
    def bijectors(self):
        """The bijectors, the one that comes last first."""
        return self._bijectors

    def _through(self, bijectors, method, value):
        for bijector in bijectors:
            value = getattr(bijector, method)(value)
        return value

    def _forward_event_shape(self, input_shape):
        return self._through(reversed(self._bijectors), "forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self._through(reversed(self._bijectors), "forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape):
        return self._through(self._bijectors, "inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._through(self._bijectors, "inverse_event_shape_tensor", output_shape)

    def _forward(self, x, **conditions):
        for bijector in reversed(self._bijectors):
            x = bijector._call_forward(x, "forward", **conditions.get(bijector.name, {}))
        return x

    def _inverse(self, y, **conditions):
        for bijector in self._bijectors:
            y = bijector._call_inverse(y, "inverse", **conditions.get(bijector.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y, **conditions):
        total = constant(0.0, y.dtype)
        ndims = self._inverse_min_event_ndims
        for bijector in self._bijectors:
            own = conditions.get(bijector.name, {})
            total += bijector._call_inverse_log_det_jacobian(
                y, ndims, "inverse_log_det_jacobian", **own
            )
            ndims += bijector.forward_min_event_ndims - bijector.inverse_min_event_ndims
            y = bijector._call_inverse(y, "inverse", **own)
        return total

    def _forward_log_det_jacobian(self, x, **conditions):
        total = constant(0.0, x.dtype)
        ndims = self._forward_min_event_ndims
        for bijector in reversed(self._bijectors):
            own = conditions.get(bijector.name, {})
            total += bijector._call_forward_log_det_jacobian(
                x, ndims, "forward_log_det_jacobian", **own
            )
            ndims += bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims
            x = bijector._call_forward(x, "forward", **own)
        return total
