"""Quantized numbers, and training that imitates them."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.quantize_ops import (
    dequantize,
    fake_quant_with_min_max_args,
    fake_quant_with_min_max_args_gradient,
    fake_quant_with_min_max_vars,
    fake_quant_with_min_max_vars_gradient,
    fake_quant_with_min_max_vars_per_channel,
    fake_quant_with_min_max_vars_per_channel_gradient,
    quantize,
    quantize_and_dequantize,
    quantized_concat,
)

__getattr__ = _attribute_of("tensorflow.quantization")
