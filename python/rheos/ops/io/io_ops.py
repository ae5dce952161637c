"""Files, records and bytes in graphs."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import apply_op, op1, op_list
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variables import Variable


def read_file(filename, name=None):
    """All bytes of a file, a string scalar; NotFoundError if there is none."""
    return op1("ReadFile", name, filename)


def write_file(filename, contents, name=None):
    """An operation that writes a file, and makes the folders above it."""
    return apply_op("WriteFile", name, filename, contents)


def match_filenames_once(pattern, name=None):
    """A local variable of the files that match, as they are when it is initialized."""
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            matching_files(pattern),
            trainable=False,
            validate_shape=False,
            name=scope,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def matching_files(pattern, name=None):
    """The files that patterns (*, ?, [a-z]) describe, sorted: a string vector."""
    return op1("MatchingFiles", name, pattern)


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings, all of one length, as numbers in a last dimension more."""
    if input_bytes is None:
        input_bytes = bytes
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return op1("DecodeRaw", name, input_bytes, out_type=out_type, little_endian=little_endian)


def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    name=None,
    na_value="",
    select_cols=None,
):
    """The fields of records of comma-separated values: a list of tensors, one a column.

    record_defaults: one tensor a column, of its dtype: empty where a field is required, else what
    stands for an empty field. select_cols: rising numbers of the columns to take.
    """
    if not isinstance(record_defaults, (list, tuple)):
        raise TypeError(
            "Expected list for 'record_defaults' argument to 'DecodeCSV' Op, not "
            f"{record_defaults}."
        )
    defaults = [convert_to_tensor(d) for d in record_defaults]
    if any(d.shape.ndims is not None and d.shape.ndims > 1 for d in defaults):
        raise ValueError("record_defaults must be scalars or vectors")
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return op_list(
        "DecodeCSV",
        name,
        records,
        defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols,
    )


def serialize_tensor(tensor, name=None):
    """A tensor as the bytes of a TensorProto message.

    >>> print(tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy())
    [1 2]
    """
    return op1("SerializeTensor", name, tensor)


def parse_tensor(serialized, out_type, name=None):
    """The tensor of dtype out_type in the bytes of a TensorProto message."""
    return op1("ParseTensor", name, serialized, out_type=dtypes.as_dtype(out_type))
