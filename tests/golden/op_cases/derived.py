"""Cases made from those of the other families: an op's smallest case with every dtype that no case
has, with no elements, with NaN and infinities among its numbers, and where it has a gradient."""
import importlib
import os

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from .common import *  # noqa: F403

# Where docs/ops.md says what is answered instead, and where TensorFlow's answer is that of
# uninitialised memory, of a way of computing (a padding of zeros times an infinity), or of an order
# that NaN does not have.
OTHER_ANSWERS = {
    ("DepthwiseConv2dNativeBackpropFilter", "without_first"), ("EuclideanNorm", "T_int8"),
    ("ResizeNearestNeighborGrad", "without_last"), ("ScaleAndTranslateGrad", "without_last"),
    ("Round", "T_int32"), ("Round", "T_int64"),
    *((op, "without_" + which) for which in ("first", "last")
      for op in ("RFFT", "RFFT2D", "RFFT3D", "IRFFT", "IRFFT2D", "IRFFT3D")),
    *((op, "not_finite") for op in (
        "Bitcast", "Conv2DBackpropFilter", "Conv3DBackpropFilter", "Conv3DBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2dNativeBackpropInput",
        "ExtractGlimpse", "ExtractGlimpseV2", "NthElement", "Qr", "QuantizeV2", "RFFT", "RFFT2D",
        "RFFT3D")),
}
QUANTIZED = {"qint8": QI8, "quint8": QU8, "qint16": QI16, "quint16": QU16, "qint32": QI32}
NAMES = {F32: "float", F64: "double", F16: "half", np.bool_: "bool"}
# What ends TensorFlow's process, or takes it for ever.
PROCESS_ENDS = {
    ("BlockLSTMGrad", "without_first"), ("BlockLSTMGradV2", "without_first"),
    ("CropAndResizeGradBoxes", "not_finite"), ("CropAndResizeGradImage", "not_finite"),
    ("SplitV", "Tlen_int8"), ("StatelessRandomPoisson", "not_finite"), ("_FusedConv2D", "T_qint8"),
}


def name_of(dtype):
    return dtype.names[0] if dtype.names else NAMES.get(dtype.type, dtype.name)


def dtype_of(name):
    return np.dtype(QUANTIZED.get(name) or (BFLOAT16 if name == "bfloat16" else
                                            tf.as_dtype(name).as_numpy_dtype))


def other_families():
    for name in sorted(os.listdir(os.path.dirname(__file__))):
        if name.endswith(".py") and name not in ("__init__.py", "common.py", "derived.py"):
            module = importlib.import_module("op_cases." + name[:-3])
            if getattr(module, "TENSORFLOW", "2.") == "2.":
                yield module


def cases_by_op():
    ops = {}
    for module in other_families():
        for case in module.cases():
            if op_def_registry.get(case.op) is not None:
                ops.setdefault(case.op, []).append(case)
    return ops


def is_plain(case):
    """Whether all of its inputs are values that can be taken for others."""
    items = flat(case.inputs)
    return (not case.tag.startswith("bad_") and case.images is None and not case.instead and
            bool(items) and not any(isinstance(x, (Node, Uninitialized)) for x in items))


def flat(inputs):
    return [x for item in inputs for x in (item if isinstance(item, list) else [item])]


def value_of(item):
    return item.value if isinstance(item, (Const, Variable)) else item


def size_of(case):
    return sum(value_of(x).size for x in flat(case.inputs))


def with_values(item, change):
    """The input with `change` made to its values."""
    if isinstance(item, list):
        return [with_values(x, change) for x in item]
    if isinstance(item, Const):
        return Const(change(item.value))
    if isinstance(item, Variable):
        return type(item)(change(item.value), item.any_shape)
    return change(item)


def add(t, case, tag, inputs, attrs, g=False):
    if (case.op, tag) not in PROCESS_ENDS | OTHER_ANSWERS:
        t.add(case.op, tag, *inputs, g=g, producer=case.producer, tol=case.tolerance,
              first=case.first, last=case.last, fetched=case.fetched, **attrs)


# ---- Dtypes


def type_attrs(op_def):
    """Attributes that are one of several dtypes, and those, each once."""
    for attr in op_def.attr:
        if attr.type == "type" and len(attr.allowed_values.list.type) > 1:
            yield attr.name, dict.fromkeys(attr.allowed_values.list.type)


def has_attr(arg, name):
    return arg.type_attr == name


def dtypes_with(case, op_def, name):
    found = {dtype_name_of(case.attrs[name])} if name in case.attrs else set()
    for arg, item in zip(op_def.input_arg, case.inputs):
        if has_attr(arg, name):
            found |= {name_of(value_of(x).dtype) for x in flat([item])
                      if not isinstance(x, (Node, Uninitialized)) and value_of(x).dtype != object}
    return found


def dtype_name_of(value):
    name = tf.as_dtype(value).name
    return {"float32": "float", "float64": "double", "float16": "half"}.get(name, name)


def to_dtype(values, dtype):
    if dtype.names:
        return np.abs(values).astype(dtype[0]).view(dtype)
    if dtype.kind in "iu":
        return np.abs(values).astype(dtype) if dtype.kind == "u" else values.astype(dtype)
    return values.astype(dtype)


def as_dtype(case, op_def, name, dtype):
    """The case's inputs and attributes with `dtype` for the attribute `name`; None: not so."""
    args = list(op_def.input_arg)
    named = [value_of(x).dtype for arg, item in zip(args, case.inputs) if has_attr(arg, name)
             for x in flat([item])]
    if name in case.attrs and not named:
        named = [np.dtype(tf.as_dtype(case.attrs[name]).as_numpy_dtype)]
    if not named or any(x != named[0] or x.kind == "O" or x.names or x.kind == "c" for x in named):
        return None
    inputs = []
    for arg, item in zip(args, case.inputs):
        handle = isinstance(item, Handle) and item.value.dtype == named[0]
        if has_attr(arg, name) or handle:
            item = with_values(item, lambda values: to_dtype(values, dtype))
        inputs.append(item)
    attrs = dict(case.attrs)
    if name in attrs:
        attrs[name] = dtype.names[0] if dtype.names else dtype.type
    return inputs, attrs


def dtypes(t, op_def, cases):
    plain = sorted(filter(is_plain, cases), key=size_of)
    plain = [case for case in plain if size_of(case) > 2] or plain
    for name, allowed in type_attrs(op_def):
        seen = set().union(*(dtypes_with(case, op_def, name) for case in cases))
        for other in allowed:
            other = dtype_name_of(tf.as_dtype(other))
            if other in seen or other in ("string", "variant", "resource", "bool"):
                continue
            for case in plain:
                made = as_dtype(case, op_def, name, dtype_of(other))
                if made:
                    add(t, case, "%s_%s" % (name, other), *made)
                    break


# ---- No elements


def without(axis, count):
    def change(values):
        if values.ndim == 0 or values.shape[axis] != count:
            return values
        return np.take(values, [], axis)
    return change


def empties(t, op_def, cases):
    if any(0 in value_of(x).shape for case in cases for x in flat(case.inputs)
           if not isinstance(x, (Node, Uninitialized))):
        return
    for case in sorted(filter(is_plain, cases), key=size_of)[:1]:
        for axis, tag in ((0, "first"), (-1, "last")):
            items = [value_of(x) for x in flat(case.inputs) if value_of(x).ndim]
            if not items:
                continue
            count = items[0].shape[axis]
            inputs = [x if isinstance(x, Const) else with_values(x, without(axis, count))
                      for x in case.inputs]
            add(t, case, "without_%s" % tag, inputs, dict(case.attrs))


# ---- NaN and infinities


def is_float(values):
    return values.dtype != object and not values.dtype.names and (
        values.dtype.kind == "f" or values.dtype == BFLOAT16)


def spoiled(values):
    if not is_float(values) or values.size == 0:
        return values
    values = values.copy()
    for place, number in ((0, NAN), (values.size // 2, INF), (values.size - 1, -INF)):
        if place > 0 or number != number:
            values.flat[place] = number
    return values


def is_finite(case):
    return all(np.isfinite(value_of(x).astype(F64)).all() for x in flat(case.inputs)
               if not isinstance(x, (Node, Uninitialized)) and is_float(value_of(x)))


def not_finite(t, op_def, cases):
    if not all(map(is_finite, cases)):
        return
    for case in sorted(filter(is_plain, cases), key=lambda case: abs(size_of(case) - 12)):
        if any(is_float(value_of(x)) and value_of(x).size > 1 for x in flat(case.inputs)):
            inputs = [with_values(x, spoiled) for x in case.inputs]
            add(t, case, "not_finite", inputs, dict(case.attrs))
            break


# ---- Points with a gradient


# Smooth ops whose other cases have none.
SMOOTH = {
    "AvgPool3D", "AvgPool3DGrad", "CropAndResize", "FFT", "FFT2D", "FFT3D", "Gather", "IFFT",
    "IFFT2D", "IFFT3D", "IRFFT", "IRFFT2D", "ImageProjectiveTransformV3", "LRN",
    "MatrixExponential", "MatrixLogarithm", "MaxPool3D", "PlaceholderWithDefault", "RFFT",
    "RFFT2D", "ResizeBicubic", "ResizeBilinear", "ResizeBilinearGrad",
}


def smooth(values, phase):
    if values.dtype == object or values.dtype.names or values.dtype.kind not in "fc":
        return values
    result = wave(F64, values.shape, 1.0, phase).astype(values.dtype)
    if values.dtype.kind != "c":
        return result
    return result + 1j * wave(F64, values.shape, 1.0, phase + 1)


def slopes(t, op_def, cases):
    if op_def.name not in SMOOTH:
        return
    plain = [case for case in cases if is_plain(case) and any(
        value_of(x).dtype.kind in "fc" and value_of(x).size > 2 for x in flat(case.inputs))]
    if not plain:
        raise ValueError("no case of %s to take the slope of" % op_def.name)
    case = min(plain, key=lambda case: abs(size_of(case) - 12))
    inputs = [with_values(x, lambda values, k=k: smooth(values, 0.3 + k).astype(values.dtype))
              for k, x in enumerate(case.inputs)]
    add(t, case, "slope", inputs, dict(case.attrs), g=True)


def cases():
    t = Table()
    for op, found in sorted(cases_by_op().items()):
        op_def = op_def_registry.get(op)
        for vary in (dtypes, empties, not_finite, slopes):
            vary(t, op_def, found)
    return t.cases
