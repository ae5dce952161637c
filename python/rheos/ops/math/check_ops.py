"""Assertions on tensors: at once where the graph tells the values, else when it runs.

Each returns an operation that fails with InvalidArgumentError; computations that shall wait for it
take it as a control dependency.
"""

import numpy as np

from rheos.framework import dtypes, errors, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import colocate_with, control_dependencies, name_scope
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor, _VariableBase
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import math_ops


def _fail_now(data, summarize):
    """InvalidArgumentError, what `data` holds a line each."""
    raise errors.InvalidArgumentError(None, None, "\n".join(_line(d, summarize) for d in data))


def _line(item, summarize):
    """What is said of an item: the first elements of a tensor."""
    known = constant_value(item) if isinstance(item, Tensor) else None
    if known is None or not item._is_eager:
        return str(item if known is None else known)
    if known.ndim == 0:
        return str(known[()])
    count = _num_shown(known.size, summarize)
    return str([str(x) for x in known.reshape(-1)[:count]] + ["..."] * (count < known.size))


def _num_shown(size, summarize):
    """How many of `size` elements a message has: 3 by default, all for a negative number."""
    return size if summarize is not None and summarize < 0 else min(size, summarize or 3)


def _unlike(x, y, holds, sign, summarize):
    """What there is to say of values that do not compare as they should."""
    said = [f"Condition x {sign} y did not hold."]
    if summarize == 0:
        return said
    if x.shape == y.shape and x.ndim > 0:
        places = np.argwhere(~holds)
        count = _num_shown(len(places), summarize)
        said += [f"Indices of first {count} different values:", places[:count]]
        said += ["Corresponding x values:", x[~holds][:count]]
        said += ["Corresponding y values:", y[~holds][:count]]
    for name, values in ("x", x), ("y", y):
        count = _num_shown(values.size, summarize)
        said += [f"First {count} elements of {name}:", values.reshape(-1)[:count]]
    return said


def _prefix(message):
    """What a message of the caller's is before the library's."""
    return f"{message}.  " if message else ""


def _compare(x, y, data, summarize, message, name, default_name, sign, compare, compare_known):
    """An assertion that a comparison holds for all elements."""
    with name_scope(name, default_name, [x, y, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        holds = compare(x, y)
        if holds._is_eager:
            known = holds.numpy()
            if np.all(known):
                return None
            data = data or _unlike(x.numpy(), y.numpy(), known, sign, summarize)
            _fail_now(data if message is None else [message, *data], summarize)
        if data is None:
            data = [
                f"Condition x {sign} y did not hold element-wise:",
                f"x ({_name(x)}) = ",
                x,
                f"y ({_name(y)}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = math_ops.reduce_all(holds)
        known_x, known_y = constant_value(x), constant_value(y)
        if known_x is not None and known_y is not None:
            if not np.all(compare_known(known_x, known_y)):
                _fail_now(data, summarize)
        return control_flow_ops.Assert(condition, data, summarize=summarize)


def _comparison(function_name, sign, compare, compare_known, doc):
    def function(x, y, data=None, summarize=None, message=None, name=None):
        return _compare(
            x, y, data, summarize, message, name, function_name, sign, compare, compare_known
        )

    function.__name__ = function.__qualname__ = function_name
    function = ragged_too("assertion_of")(function)
    function.__doc__ = (
        f"An operation that fails unless {doc} for all elements.\n\n"
        "    x, y: tensors of one dtype, whose shapes broadcast. data, message: what the error\n"
        "    says. summarize: how many elements it shows. InvalidArgumentError at once if both\n"
        "    are known.\n"
        "    "
    )
    return function


_assert_equal = _comparison("assert_equal", "==", math_ops.equal, np.equal, "x == y")
assert_none_equal = _comparison(
    "assert_none_equal", "!=", math_ops.not_equal, np.not_equal, "x != y"
)
assert_less = _comparison("assert_less", "<", math_ops.less, np.less, "x < y")
assert_less_equal = _comparison(
    "assert_less_equal", "<=", math_ops.less_equal, np.less_equal, "x <= y"
)
assert_greater = _comparison("assert_greater", ">", math_ops.greater, np.greater, "x > y")
assert_greater_equal = _comparison(
    "assert_greater_equal", ">=", math_ops.greater_equal, np.greater_equal, "x >= y"
)


def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless x == y for all elements.

    x, y: tensors of one dtype, whose shapes broadcast. data, message: what the error says.
    summarize: how many elements it shows. InvalidArgumentError at once if both are known.
    """
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return control_flow_ops.no_op(name)
    return _assert_equal(x, y, data, summarize, message, name)


def _name(tensor):
    """What messages call a tensor."""
    return f"shape={tensor.shape} dtype={tensor.dtype.name}" if tensor._is_eager else tensor.name


def _rank_name(tensor):
    """What messages about ranks call a tensor: values have no name."""
    return "" if tensor._is_eager else tensor.name


def _with_zero(function_name, sign, compare, zero_first):
    def function(x, data=None, summarize=None, message=None, name=None):
        with name_scope(name, function_name, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [
                    _prefix(message),
                    f"Condition x {sign} 0 did not hold element-wise:",
                    f"x ({_name(x)}) = ",
                    x,
                ]
            zero = convert_to_tensor(0, dtype=x.dtype)
            pair = (zero, x) if zero_first else (x, zero)
            return compare(*pair, data=data, summarize=summarize)

    function.__name__ = function.__qualname__ = function_name
    function.__doc__ = (
        f"An operation that fails unless x {sign} 0 for all elements.\n\n"
        "    x: numbers. data, message: what the error says. summarize: how many elements of it.\n"
        "    "
    )
    return function


assert_negative = _with_zero("assert_negative", "<", assert_less, False)
assert_positive = _with_zero("assert_positive", ">", assert_less, True)
assert_non_negative = _with_zero("assert_non_negative", ">=", assert_less_equal, True)
assert_non_positive = _with_zero("assert_non_positive", "<=", assert_less_equal, False)


@ragged_too("assertion_of")
def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless abs(x - y) <= atol + rtol * abs(y) for all elements.

    rtol, atol: 10 times the step of the dtype by default. data, message: what the error says.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        eps = np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = 10 * eps if rtol is None else rtol
        atol = 10 * eps if atol is None else atol
        rtol = convert_to_tensor(rtol, name="rtol", dtype=x.dtype)
        atol = convert_to_tensor(atol, name="atol", dtype=x.dtype)
        if data is None:
            data = [
                _prefix(message),
                "x and y not equal to tolerance rtol = %s, atol = %s" % (rtol, atol),
                f"x ({_name(x)}) = ",
                x,
                f"y ({_name(y)}) = ",
                y,
            ]
        limit = atol + rtol * math_ops.abs(y)
        difference = math_ops.abs(x - y)
        condition = math_ops.reduce_all(math_ops.less(difference, limit))
        return control_flow_ops.Assert(condition, data, summarize=summarize)


def _static_rank(rank, name):
    """A rank that has to be a scalar, as an array if it is known."""
    assert_type(rank, dtypes.int32)
    known = constant_value(rank)
    if known is not None and known.ndim != 0:
        raise ValueError("Rank must be a scalar.")
    return known


def _assert_rank(x, rank, holds, holds_known, sign, data, summarize, message, name, default_name):
    with name_scope(name, default_name, [x, rank, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        rank = convert_to_tensor(rank, name="rank")
        text = _prefix(message)
        if data is None:
            data = [text, f"Tensor {_rank_name(x)} must have rank {sign}".rstrip(), rank]
            data += ["Received shape: ", array_ops.shape(x)]
        known = _static_rank(rank, name)
        if known is not None and x.shape.ndims is not None:
            if not holds_known(x.shape.ndims, int(known)):
                raise ValueError(
                    f"{text}Tensor {_rank_name(x)} must have rank {sign}{int(known)}.  Received "
                    f"rank {x.shape.ndims}, shape {x.shape}"
                )
            return control_flow_ops.no_op(name="static_checks_determined_all_ok")
        condition = holds(array_ops.rank(x), rank)
        return control_flow_ops.Assert(condition, data, summarize=summarize)


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless x has `rank` dimensions; ValueError if that is known."""
    return _assert_rank(
        x,
        rank,
        math_ops.equal,
        lambda a, b: a == b,
        "",
        data,
        summarize,
        message,
        name,
        "assert_rank",
    )


def assert_rank_at_least(x, rank, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless x has at least `rank` dimensions; ValueError if known."""
    return _assert_rank(
        x,
        rank,
        math_ops.greater_equal,
        lambda a, b: a >= b,
        "at least ",
        data,
        summarize,
        message,
        name,
        "assert_rank_at_least",
    )


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless the number of dimensions of x is one of `ranks`.

    ValueError at once if that is known.
    """
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        x = convert_to_tensor(x, name="x")
        ranks = [convert_to_tensor(r, name="rank") for r in ranks]
        text = _prefix(message)
        if data is None:
            data = [text, f"Tensor {_rank_name(x)} must have rank in", *ranks]
            data += ["Received shape: ", array_ops.shape(x)]
        known = [_static_rank(r, name) for r in ranks]
        if x.shape.ndims is not None and all(k is not None for k in known):
            allowed = tuple(int(k) for k in known)
            if x.shape.ndims not in allowed:
                raise ValueError(
                    f"{text}Tensor {_rank_name(x)} must have rank in {allowed}.  Received rank "
                    f"{x.shape.ndims}, shape {x.shape}"
                )
            return control_flow_ops.no_op(name="static_checks_determined_all_ok")
        rank = array_ops.rank(x)
        matches = [math_ops.equal(allowed, rank) for allowed in ranks]
        condition = matches[0]
        for match in matches[1:]:
            condition = math_ops.logical_or(condition, match)
        return control_flow_ops.Assert(condition, data, summarize=summarize)


def assert_integer(x, message=None, name=None):
    """An operation that does nothing; TypeError unless the dtype of x is an integer's."""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{_prefix(message)}Expected "x" to be integer type.  Found: {_name(x)} of dtype '
                f"{x.dtype}"
            )
        return control_flow_ops.no_op("statically_determined_was_integer")


def assert_type(tensor, tf_type, message=None, name=None):
    """An operation that does nothing; TypeError unless the tensor has that dtype."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            named = "tensor" if tensor._is_eager else tensor.name
            raise TypeError(
                f"{_prefix(message)}{named} must be of type {tf_type!r}; got {tensor.dtype!r}"
            )
        return control_flow_ops.no_op("statically_determined_correct_type")


def assert_scalar(tensor, name=None, message=None):
    """The tensor; ValueError if it has dimensions."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError(
                f"{message or ''}Expected scalar shape for {_name(tensor)}, saw shape: "
                f"{tensor.shape}."
            )
        return tensor


def assert_proper_iterable(values):
    """TypeError if `values` is a tensor, array, text or no iterable."""
    if isinstance(values, (Tensor, _VariableBase, np.ndarray, bytes, str)):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors=None, dtype=None):
    """The floating point dtype that all of the tensors have, float32 for none.

    ValueError if they differ, or if `dtype` or theirs is not floating point.
    """
    first = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = tensor.dtype.base_dtype
        if dtype is None:
            dtype, first = found, tensor
        elif dtypes.as_dtype(dtype).base_dtype != found:
            like = "" if first is None else f" as {getattr(first, 'name', first)}"
            wanted = dtypes.as_dtype(dtype).base_dtype
            raise ValueError(
                f"{getattr(tensor, 'name', tensor)}, type={found}, must be of the same type "
                f"({wanted}){like}."
            )
    dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


_NUMBERS = (
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32,
    dtypes.int64, dtypes.uint8, dtypes.qint8, dtypes.qint32, dtypes.quint8, dtypes.complex64,
)  # fmt: skip


def is_numeric_tensor(tensor):
    """Whether this is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in _NUMBERS


def _differences(x):
    """The differences of neighbours in x, flattened."""
    x = array_ops.reshape(x, [-1])
    return x[1:] - x[:-1]


def is_non_decreasing(x, name=None):
    """A scalar: whether no element of x, in row-major order, is below the one before it."""
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _differences(convert_to_tensor(x))
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return math_ops.reduce_all(math_ops.less_equal(zero, steps))


def is_strictly_increasing(x, name=None):
    """A scalar: whether each element of x, in row-major order, is above the one before it."""
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _differences(convert_to_tensor(x))
        zero = convert_to_tensor(0, dtype=steps.dtype)
        return math_ops.reduce_all(math_ops.less(zero, steps))


def _size_asked(symbol):
    """What an entry of a shape in assert_shapes() asks for: a number, a name, None for any size."""
    if symbol is None or (isinstance(symbol, str) and symbol == "."):
        return None
    try:
        return int(symbol)
    except (TypeError, ValueError):
        return symbol


def _named_sizes(tensor, asked, said):
    """(tensor, what each size shall be, whether more dimensions may come first)."""
    if not hasattr(asked, "__iter__") and not hasattr(asked, "__getitem__"):
        raise ValueError(
            f"{said}Tensor {_name(tensor)}.  Specified shape must be an iterable.  "
            "An iterable has the attribute `__iter__` or `__getitem__`.  "
            f"Received specified shape: {asked}"
        )
    asked = tuple(asked)
    more = [i for i, symbol in enumerate(asked) if symbol is Ellipsis or symbol == "*"]
    if any(more):
        raise ValueError(
            f"{said}Tensor {_name(tensor)} specified shape index {more[-1]}.  Symbol `...` or "
            "`*` for a variable number of unspecified dimensions is only allowed as the first entry"
        )
    return tensor, [_size_asked(symbol) for symbol in asked[len(more) :]], bool(more)


def _sizes_of(tensor):
    """The sizes of a tensor, those that are not known as tensors; a scalar counts as one of 1."""
    static = tensor.shape
    if static.ndims is None:
        return None
    if static.ndims == 0:
        return [1]
    shape = None if static.is_fully_defined() else array_ops.shape(tensor)
    return [static.as_list()[i] if shape is None or static.as_list()[i] is not None else shape[i]
            for i in range(static.ndims)]  # fmt: skip


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """An operation that fails unless tensors have shapes that go together.

    shapes: a dictionary, or pairs, of tensors and shapes, whose entries are a size, a name that
    stands for the same size everywhere, or None or "." for any size; "*" or ... as the first
    entry stands for any number of dimensions. A scalar counts as a vector of one element.
    ValueError if the static shapes do not fit already.
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    said = _prefix(message)
    with name_scope(name, "assert_shapes", [shapes, data]):
        asked = [
            _named_sizes(convert_to_tensor(x), sizes, said)
            for x, sizes in pairs
            if sizes is not None
        ]
        checks = []
        arguments = {"data": data, "summarize": summarize, "message": message}
        for tensor, sizes, has_more in asked:
            if len(sizes) > 1:
                check = assert_rank_at_least if has_more else assert_rank
                checks.append(check(tensor, len(sizes), **arguments))
            elif not has_more:
                checks.append(assert_rank_in(tensor, [0, 1], **arguments))
        known = {}
        for tensor, sizes, has_more in asked:
            actual = _sizes_of(tensor)
            sizes = sizes or ([] if has_more else [1])  # a scalar counts as a vector of one
            dynamic = array_ops.shape(tensor) if actual is None else None
            for i, size in enumerate(sizes):
                place = i - len(sizes) if has_more else i
                if size is None:
                    continue
                here = dynamic[place] if actual is None else (actual[place] if actual else 1)
                if isinstance(size, int):
                    wanted, told_by = size, "Specified explicitly"
                elif size in known:
                    wanted, told_by = known[size]
                else:
                    known[size] = (
                        here, f"Specified by tensor {_name(tensor)} dimension {place}"
                    )  # fmt: skip
                    continue
                if isinstance(here, int) and isinstance(wanted, int):
                    if here != wanted:
                        raise ValueError(
                            f"{said}{told_by}.  Tensor {_name(tensor)} dimension {place} must "
                            f"have size {wanted}.  Received size {here}, shape {tensor.shape}"
                        )
                    continue
                shown = data or [
                    said, told_by, f"Tensor {_name(tensor)} dimension", place, "must have size",
                    wanted, "Received shape: ", array_ops.shape(tensor),
                ]  # fmt: skip
                is_same = math_ops.equal(here, wanted)
                checks.append(control_flow_ops.Assert(is_same, shown, summarize=summarize))
        return control_flow_ops.group(*[check for check in checks if check is not None])


def ensure_shape(x, shape, name=None):
    """x, known to have `shape` from here on.

    InvalidArgumentError when it runs and has another; ValueError if that is already known.
    """
    return op1("EnsureShape", name, x, shape=tensor_shape.as_shape(shape))


@ragged_too("elementwise")
def check_numerics(tensor, message, name=None):
    """The tensor; InvalidArgumentError with `message` when it runs and holds NaN or infinity."""
    return op1("CheckNumerics", name, tensor, message=message)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor; InvalidArgumentError with the message when it holds NaN or infinity."""
    x = t if x is None else x
    message = msg if message is None else message
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="t")
        with colocate_with(x):
            check = check_numerics(x, message=message)
            return control_flow_ops.with_dependencies([check], x)


def assert_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """Another name of verify_tensor_all_finite."""
    return verify_tensor_all_finite(t, msg, name, x, message)


def add_check_numerics_ops():
    """One operation that checks every tensor of the default graph with check_numerics().

    Of those that are half, float or double; each is checked after what it is computed from.
    """
    checks = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
                message = f"{_name(op)}:{output.value_index}"
                with control_dependencies(checks):
                    checks = [check_numerics(output, message=message)]
    return control_flow_ops.group(*checks)
