"""Quantized numbers, with the arguments that TensorFlow 2 has."""

from rheos.framework import dtypes
from rheos.framework.op_call import op1, op_results


def _axis(axis):
    return -1 if axis is None else axis


def quantize(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    round_mode="HALF_AWAY_FROM_ZERO",
    name=None,
    narrow_range=False,
    axis=None,
    ensure_minimum_range=0.01,
):
    """(output, output_min, output_max): float32 numbers as quantized ones of dtype T.

    min_range, max_range: the range that the quantized numbers cover, scalars or one for each place
    along `axis`. mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED". narrow_range: leave out the lowest
    number. ensure_minimum_range: how wide the range is made at least.
    """
    if ensure_minimum_range == 0.01:
        ensure_minimum_range = None
    return op_results(
        "QuantizeV2",
        name,
        input,
        min_range,
        max_range,
        T=dtypes.as_dtype(T),
        mode=mode,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=_axis(axis),
        ensure_minimum_range=ensure_minimum_range,
    )


def dequantize(
    input,
    min_range,
    max_range,
    mode="MIN_COMBINED",
    name=None,
    axis=None,
    narrow_range=False,
    dtype=dtypes.float32,
):
    """Quantized numbers as float32 or bfloat16; the other arguments are those of quantize()."""
    return op1(
        "Dequantize",
        name,
        input,
        min_range,
        max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=_axis(axis),
        dtype=dtypes.as_dtype(dtype),
    )


def _there_and_back(op_type):
    def function(
        input,
        input_min,
        input_max,
        signed_input=True,
        num_bits=8,
        range_given=False,
        round_mode="HALF_TO_EVEN",
        name=None,
        narrow_range=False,
        axis=None,
    ):
        return op1(
            op_type,
            name,
            input,
            input_min,
            input_max,
            signed_input=signed_input,
            num_bits=num_bits,
            range_given=range_given,
            round_mode=round_mode,
            narrow_range=narrow_range,
            axis=_axis(axis),
        )

    return function


quantize_and_dequantize = _there_and_back("QuantizeAndDequantizeV2")
quantize_and_dequantize.__doc__ = """Numbers rounded to what a quantized dtype could hold.

input_min, input_max: the range, scalars or one for each place along `axis`; taken of `input` unless
range_given. The gradient goes through as if nothing had been rounded.
"""
quantize_and_dequantize_v2 = _there_and_back("QuantizeAndDequantizeV4")
quantize_and_dequantize_v2.__doc__ = """quantize_and_dequantize() whose gradient is 0 outside of
the range."""
