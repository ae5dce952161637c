"""Dtypes, and casts between them."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.dtypes import (
    QUANTIZED_DTYPES,
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from rheos.ops.math_ops import cast, saturate_cast
from rheos.ops.special_math_ops import complex
from rheos.ops.string_ops import as_string

__getattr__ = _attribute_of("tensorflow.dtypes")
