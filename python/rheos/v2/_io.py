"""Records, examples and raw bytes in TensorFlow 2's form."""

from rheos.framework.op_call import op1
from rheos.ops.array import sparse_ops
from rheos.ops.io import io_ops, parsing_ops
from rheos.v2._forms import form

decode_csv = form(
    io_ops.decode_csv,
    "records, record_defaults, field_delim=',', use_quote_delim=True, na_value='', "
    "select_cols=None, name=None",
)
_EXAMPLES = "serialized, features, example_names=None, name=None"
parse_example = form(parsing_ops.parse_example, _EXAMPLES)
parse_single_example = form(parsing_ops.parse_single_example, _EXAMPLES)
_SPARSE = "sp_input, out_type='string', name=None"
serialize_sparse = form(sparse_ops.serialize_sparse, _SPARSE)
serialize_many_sparse = form(sparse_ops.serialize_many_sparse, _SPARSE)


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """The bytes of strings as numbers of a dtype, in one more dimension.

    fixed_length: how many bytes of each string, which is cut or padded with zeros to that; by
    default all strings are equally long.

    >>> print(tf.io.decode_raw(b"\\x01\\x00\\x02\\x00", tf.int16).numpy())
    [1 2]
    """
    if fixed_length is None:
        return io_ops.decode_raw(input_bytes, out_type, little_endian, name)
    return op1(
        "DecodePaddedRaw",
        name,
        input_bytes,
        fixed_length,
        out_type=out_type,
        little_endian=little_endian,
    )
