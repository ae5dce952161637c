"""tf.experimental's functions that give functions of TensorFlow meanings for a program's types."""

import operator
import sys

from rheos import v2
from rheos.framework import dispatch

_UNARY = """
    zeros_like ones_like debugging.check_numerics math.abs math.softplus math.sign math.real
    math.imag math.angle math.round cast dtypes.saturate_cast math.sigmoid math.log_sigmoid
    math.conj math.reciprocal_no_nan math.erfinv math.ndtri math.erfcinv math.ceil math.sqrt
    math.exp math.rsqrt math.acos math.floor bitwise.invert math.acosh math.asin math.asinh
    math.atan math.atanh math.cos math.cosh math.digamma math.erf math.erfc math.expm1
    math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p math.logical_not
    math.negative math.nextafter math.reciprocal math.rint math.sin math.sinh math.square math.tan
    math.tanh nn.relu6 nn.leaky_relu nn.gelu nn.log_softmax nn.elu nn.relu nn.selu nn.softsign
    strings.regex_full_match strings.regex_replace strings.length strings.substr strings.to_number
    strings.to_hash_bucket strings.as_string io.decode_base64 io.encode_base64 strings.lower
    strings.upper strings.unicode_transcode strings.strip strings.to_hash_bucket_fast
    strings.to_hash_bucket_strong strings.unicode_script math.special.dawsn math.special.expint
    math.special.fresnel_cos math.special.fresnel_sin math.special.spence math.bessel_i0
    math.bessel_i0e math.bessel_i1 math.bessel_i1e math.special.bessel_k0 math.special.bessel_k0e
    math.special.bessel_k1 math.special.bessel_k1e math.special.bessel_j0 math.special.bessel_j1
    math.special.bessel_y0 math.special.bessel_y1 clip_by_value nn.silu image.random_brightness
    image.stateless_random_brightness image.adjust_brightness image.adjust_gamma
    image.convert_image_dtype io.decode_compressed
"""
_BINARY = """
    math.divide math.multiply math.subtract math.scalar_mul math.pow dtypes.complex math.truediv
    math.divide_no_nan math.multiply_no_nan math.floordiv math.logical_xor math.equal
    math.not_equal math.add math.xdivy math.xlog1py bitwise.bitwise_and bitwise.bitwise_or
    bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift math.atan2 math.floormod
    math.greater math.greater_equal math.less math.less_equal math.logical_and math.logical_or
    math.maximum math.minimum realdiv math.squared_difference truncatediv truncatemod math.xlogy
    math.zeta nn.sigmoid_cross_entropy_with_logits
"""
_ASSERTIONS = """
    debugging.assert_equal debugging.assert_none_equal debugging.assert_near debugging.assert_less
    debugging.assert_less_equal debugging.assert_greater debugging.assert_greater_equal
"""


def _functions(names):
    found = []
    for name in names.split():
        try:
            found.append(operator.attrgetter(name)(v2))
        except AttributeError:  # not in Rheos
            continue
    return found


def _publish(function, wrapper, is_used=True):
    """Shows the wrapper wherever the face shows the function, or else the function again."""
    shown, hidden = (wrapper, function) if is_used else (function, wrapper)
    v2._replaced[id(function)] = shown
    for name, module in list(sys.modules.items()):
        if name == "rheos" or name == v2.__name__ or name.startswith(v2.__name__ + "."):
            for key, value in list(vars(module).items()):
                if value is hidden and not key.startswith("_"):
                    setattr(module, key, shown)


def dispatch_for_api(api, *signatures):
    """A decorator: calls of `api` with arguments of certain types are calls of the function.

    signatures: {parameter or its position: type}; by default the annotations of the function,
    whose parameters are those of `api`; it may lack `name`. A function that returns
    NotImplemented leaves the call to `api`. ValueError for other parameters.
    """

    def decorate(target):
        dispatch.add(api, target, signatures, _publish)
        return target

    return decorate


def _for_elementwise(names, kinds):
    def decorate(handler):
        for function in _functions(names):
            dispatch.add_elementwise(function, handler, kinds, _publish)
        return handler

    return decorate


def dispatch_for_unary_elementwise_apis(x_type):
    """A decorator: the function, called with an API and its operand, does the work of all
    functions of one operand's elements where that is of a type."""
    return _for_elementwise(_UNARY, [x_type])


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """A decorator: the function, called with an API and its operands, does the work of all
    functions of two operands' elements where these are of the types."""
    return _for_elementwise(_BINARY, [x_type, y_type])


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """A decorator: the function, called with an API and its operands, does the work of all
    assertions about two operands' elements where these are of the types."""
    return _for_elementwise(_ASSERTIONS, [x_type, y_type])


def unregister_dispatch_for(dispatch_target):
    """Takes back what a function was made the target of; ValueError if it is none."""
    dispatch.remove(dispatch_target, _publish)


def unary_elementwise_apis():
    """The functions of one operand's elements."""
    return tuple(_functions(_UNARY))


def binary_elementwise_apis():
    """The functions of two operands' elements."""
    return tuple(_functions(_BINARY))
