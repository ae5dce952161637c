"""Quantized numbers, and training that imitates them."""

from rheos.framework import dtypes
from rheos.framework.op_call import op1, op_results


def quantize_v2(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    name=None,
    round_mode="HALF_AWAY_FROM_ZERO",
):
    """(output, output_min, output_max): float32 numbers as quantized ones of dtype T.

    min_range, max_range: scalars, the range that the quantized numbers cover. mode:
    "MIN_COMBINED", "MIN_FIRST" or "SCALED".
    """
    return op_results(
        "QuantizeV2", name, input, min_range, max_range, T=dtypes.as_dtype(T), mode=mode,
        round_mode=round_mode,
    )  # fmt: skip


def quantize(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    round_mode="HALF_AWAY_FROM_ZERO",
    name=None,
):
    """quantize_v2 with its last arguments in another order."""
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode)


def dequantize(input, min_range, max_range, mode="MIN_COMBINED", name=None):
    """Quantized numbers as float32; the arguments are those of quantize."""
    return op1("Dequantize", name, input, min_range, max_range, mode=mode)


def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
):
    """Numbers rounded to what a quantized dtype could hold; the shape and dtype stay."""
    return op1(
        "QuantizeAndDequantizeV2", name, input, input_min, input_max, signed_input=signed_input,
        num_bits=num_bits, range_given=range_given, round_mode=round_mode,
        narrow_range=narrow_range,
    )  # fmt: skip


def quantized_concat(concat_dim, values, input_mins, input_maxes, name=None):
    """(output, output_min, output_max): quantized tensors joined along `concat_dim`."""
    return op_results("QuantizedConcat", name, concat_dim, values, input_mins, input_maxes)


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """Numbers clamped to [min, max] and rounded to what `num_bits` could hold of it."""
    return op1(
        "FakeQuantWithMinMaxArgs", name, inputs, min=min, max=max, num_bits=num_bits,
        narrow_range=narrow_range,
    )  # fmt: skip


def fake_quant_with_min_max_args_gradient(
    gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None
):
    """The gradient of fake_quant_with_min_max_args."""
    return op1(
        "FakeQuantWithMinMaxArgsGradient", name, gradients, inputs, min=min, max=max,
        num_bits=num_bits, narrow_range=narrow_range,
    )  # fmt: skip


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """Like fake_quant_with_min_max_args; the ends of the range are scalar tensors."""
    return op1(
        "FakeQuantWithMinMaxVars", name, inputs, min, max, num_bits=num_bits,
        narrow_range=narrow_range,
    )  # fmt: skip


def fake_quant_with_min_max_vars_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of fake_quant_with_min_max_vars to inputs, min and max."""
    kind = "FakeQuantWithMinMaxVarsGradient"
    return op_results(
        kind, name, gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range
    )


def fake_quant_with_min_max_vars_per_channel(
    inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """Like fake_quant_with_min_max_vars, with a range (channels,) for the last dimension."""
    return op1(
        "FakeQuantWithMinMaxVarsPerChannel", name, inputs, min, max, num_bits=num_bits,
        narrow_range=narrow_range,
    )  # fmt: skip


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of fake_quant_with_min_max_vars_per_channel to inputs, min and max."""
    kind = "FakeQuantWithMinMaxVarsPerChannelGradient"
    return op_results(
        kind, name, gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range
    )
