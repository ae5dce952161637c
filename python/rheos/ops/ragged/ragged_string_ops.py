"""Strings taken apart into ragged rows, and rows joined."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list
from rheos.framework.ragged import handles
from rheos.framework.sparse_tensor import SparseTensor
from rheos.ops.array import array_ops
from rheos.ops.io.string_ops import as_string, regex_replace, string_join, unsorted_segment_join
from rheos.ops.math import math_ops
from rheos.ops.ragged.ragged_ops import reduced_segments
from rheos.ops.ragged.ragged_tensor import (
    RaggedTensor,
    _axis_of,
    convert_to_tensor_or_ragged_tensor,
    segment_ids_to_row_splits,
)


def _of_each(rows_of, input):
    """rows_of a vector of strings, for strings of any shape: one ragged dimension more than it has.

    rows_of gives a RaggedTensor, or a tuple of them. A scalar gives its row.
    """
    if isinstance(input, RaggedTensor):
        return _each(_of_each(rows_of, input.flat_values), input.with_flat_values)
    ndims = input.shape.ndims
    if ndims is None:
        raise ValueError("the rank of the strings must be statically known")
    if ndims == 1:
        return rows_of(input)
    if ndims == 0:
        return _each(rows_of(array_ops.expand_dims(input, 0)), lambda rows: rows.values)
    return _of_each(rows_of, RaggedTensor.from_tensor(input, ragged_rank=ndims - 1))


def _each(result, function):
    return tuple(function(r) for r in result) if isinstance(result, tuple) else function(result)


def _rows_of_sparse(indices, values, dense_shape):
    """The rows of a sparse matrix whose elements lie in order."""
    splits = segment_ids_to_row_splits(indices[:, 0], dense_shape[0])
    return RaggedTensor(values, splits, internal=True)


def split(op_type, input, sep, **attrs):
    """The parts of each string, by StringSplit or StringSplitV2, as ragged rows."""
    return _of_each(
        lambda strings: _rows_of_sparse(*op_list(op_type, None, strings, sep, **attrs)), input
    )


def string_bytes_split(input, name=None):
    """The bytes of each string, each a string: one dimension more than `input`."""
    with name_scope(name, "StringsByteSplit", [] if isinstance(input, RaggedTensor) else [input]):
        input = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
        return split("StringSplit", input, "", skip_empty=False)


def _decoded(input, encoding, errors, replacement_char, replace_control_characters, offsets):
    def rows_of(strings):
        op = "UnicodeDecodeWithOffsets" if offsets else "UnicodeDecode"
        splits, *values = op_list(
            op,
            None,
            strings,
            input_encoding=encoding,
            errors=errors,
            replacement_char=replacement_char,
            replace_control_characters=replace_control_characters,
        )
        rows = tuple(RaggedTensor(v, splits, internal=True) for v in values)
        return rows if offsets else rows[0]

    input = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
    return _of_each(rows_of, input)


def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """The code points (int32) of each string: one dimension more than `input`, ragged."""
    with name_scope(name, "UnicodeDecode", []):
        return _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, False
        )


def unicode_decode_with_offsets(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """The code points of each string, and at which byte (int64) each starts."""
    with name_scope(name, "UnicodeDecodeWithOffsets", []):
        return _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, True
        )


def _characters(codes, encoding, errors, replacement_char):
    """Each code point as a string."""
    flat = codes.flat_values if isinstance(codes, RaggedTensor) else codes
    count = array_ops.shape(flat, out_type=dtypes.int64)[0]
    strings = op1(
        "UnicodeEncode",
        None,
        flat,
        math_ops.range(count + 1),
        output_encoding=encoding,
        errors=errors,
        replacement_char=replacement_char,
    )
    return codes.with_flat_values(strings) if isinstance(codes, RaggedTensor) else strings


def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """The characters of each string, each a string: one dimension more than `input`, ragged."""
    with name_scope(name, "UnicodeSplit", []):
        codes = _decoded(input, input_encoding, errors, replacement_char, False, False)
        return _characters(codes, input_encoding, errors, replacement_char)


def unicode_split_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533, name=None
):
    """The characters of each string, and at which byte (int64) each starts."""
    with name_scope(name, "UnicodeSplitWithOffsets", []):
        codes, starts = _decoded(input, input_encoding, errors, replacement_char, False, True)
        return _characters(codes, input_encoding, errors, replacement_char), starts


def _encoded_rows(input, output_encoding, errors, replacement_char):
    """The strings of ragged rows of code points."""
    if isinstance(input.values, RaggedTensor):
        inner = _encoded_rows(input.values, output_encoding, errors, replacement_char)
        return input.with_values(inner)
    if input.values.shape.ndims not in (None, 1):  # the strings are of the last dimension
        encoded = unicode_encode(input.values, output_encoding, errors, replacement_char)
        return input.with_values(encoded)
    return op1(
        "UnicodeEncode",
        None,
        input.values,
        input.row_splits,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
    )


def ngrams(
    data,
    ngram_width,
    separator=" ",
    pad_values=None,
    padding_width=None,
    preserve_short_sequences=False,
    name=None,
):
    """Each run of `ngram_width` strings of the last dimension, joined.

    data: strings, dense or ragged. ngram_width: a number, or several. pad_values: a string, or one
    for the left and one for the right, of which padding_width (as many as fit, by default) are put
    around each row. preserve_short_sequences: a row too short for any width is joined as a whole.
    """
    with name_scope(name, "StringNGrams", []):
        data = convert_to_tensor_or_ragged_tensor(data, dtypes.string, name="data")
        widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
        if pad_values is None:
            left, right, width = "", "", 0
        else:
            left, right = (
                (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else pad_values
            )
            width = -1 if padding_width is None else padding_width
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        if any(w < 1 for w in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        if padding_width is not None and padding_width < 0:
            raise ValueError("padding_width must be greater than 0.")

        def rows_of(rows):
            strings, splits = op_list(
                "StringNGrams",
                None,
                rows.values,
                rows.row_splits,
                separator=separator,
                ngram_widths=widths,
                left_pad=left,
                right_pad=right,
                pad_width=width,
                preserve_short_sequences=preserve_short_sequences,
            )
            return RaggedTensor(strings, splits, internal=True)

        dense = not isinstance(data, RaggedTensor)
        ndims = data.shape.ndims
        if ndims is None or ndims == 0:
            raise ValueError("data must have a known rank of at least 1")
        if dense and ndims == 1:
            return rows_of(RaggedTensor.from_tensor(array_ops.expand_dims(data, 0))).values
        if dense:
            data = RaggedTensor.from_tensor(data, ragged_rank=ndims - 1)
        result = _innermost(data, rows_of)
        return result.to_tensor("") if dense else result


def _innermost(data, rows_of):
    if isinstance(data.values, RaggedTensor):
        return data.with_values(_innermost(data.values, rows_of))
    return rows_of(data)


@handles
def reduce_join_of(
    function,
    inputs,
    axis=None,
    keep_dims=None,
    separator="",
    name=None,
    reduction_indices=None,
    keepdims=None,
):
    """tf.strings.reduce_join of ragged strings."""
    keepdims = keepdims or keep_dims
    axis = reduction_indices if axis is None else axis
    with name_scope(name, "RaggedReduceJoin", []):
        inputs = convert_to_tensor_or_ragged_tensor(inputs)
        ndims = inputs.shape.ndims
        if axis is None:
            found = function(inputs.flat_values, separator=separator)
            return array_ops.reshape(found, [1] * ndims) if keepdims else found
        axes = axis if isinstance(axis, (list, tuple)) else [axis]
        for one in sorted({_axis_of(one, ndims) for one in axes}, reverse=True):
            inputs = _joined(function, inputs, one, separator)
            if keepdims:
                inputs = array_ops.expand_dims(inputs, one)
        return inputs


def _joined(function, value, axis, separator):
    if not isinstance(value, RaggedTensor):
        return function(value, axis, separator=separator)
    if axis > 1:
        return value.with_values(_joined(function, value.values, axis - 1, separator))
    return segment_join(value, axis, separator)


def segment_join(value, axis, separator):
    """The strings of each row (axis 1), or at each place of all rows (axis 0), joined."""
    rows = value.value_rowids()
    if axis == 1:
        segments, count = rows, value.nrows()
    else:
        places = math_ops.range(
            value.values.nrows()
            if isinstance(value.values, RaggedTensor)
            else array_ops.shape(value.values, out_type=rows.dtype)[0]
        )
        segments = places - array_ops.gather(value.row_starts(), rows)
        count = value.bounding_shape(axis=1)
    return _segments_joined(value.values, segments, count, separator)


def _segments_joined(values, segments, count, separator):
    """The strings of each segment joined; of ragged rows, column by column."""

    def join(strings, at, number):
        return unsorted_segment_join(strings, at, number, separator)

    return reduced_segments(join, values, segments, count)


def string_split(
    source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None
):
    """The parts of each string between bytes of `sep` (a blank), as a SparseTensor of rank 2.

    source: a vector. With sep "" each byte is a part. skip_empty: whether empty parts are left out.
    delimiter: another name of sep. result_type: "RaggedTensor" for ragged rows.
    """
    if delimiter is not None:
        if sep is not None:
            raise ValueError("Cannot specify both 'sep' and 'delimiter'")
        sep = delimiter
    with name_scope(name, "StringSplit", [source]):
        sep = convert_to_tensor(" " if sep is None else sep, dtype=dtypes.string)
        source = convert_to_tensor(source, dtype=dtypes.string)
        if _gives_ragged(result_type):
            return split("StringSplit", source, sep, skip_empty=skip_empty)
        return SparseTensor(*op_list("StringSplit", None, source, sep, skip_empty=skip_empty))


def _gives_ragged(result_type):
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    return result_type == "RaggedTensor"


def string_split_v2(
    input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None
):
    """The parts of each string between `sep`, as Python's str.split, as a SparseTensor of rank 2.

    sep: None or "" splits at white space. maxsplit: at most so many cuts, -1 for all. result_type:
    "RaggedTensor" for ragged rows, one dimension more than `input`, which may be ragged too.
    """
    if input is None:
        input = source
    if _gives_ragged(result_type):
        with name_scope(name, "StringSplit", []):
            input = convert_to_tensor_or_ragged_tensor(input, dtypes.string, name="input")
            sep = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
            return split("StringSplitV2", input, sep, maxsplit=maxsplit)
    with name_scope(name, "StringSplit", [input]):
        input = convert_to_tensor(input, dtype=dtypes.string, name="input")
        if input.shape.ndims == 0:
            input = array_ops.expand_dims(input, 0)
        sep = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
        return SparseTensor(*op_list("StringSplitV2", None, input, sep, maxsplit=maxsplit))


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Code points (..., n), int32, as strings (...) in "UTF-8", "UTF-16-BE" or "UTF-32-BE".

    errors: what becomes of numbers that are no characters, as in unicode_transcode. input may be
    ragged.
    """
    if isinstance(input, RaggedTensor):
        with name_scope(name, "UnicodeEncode", []):
            return _encoded_rows(input, output_encoding, errors, replacement_char)
    with name_scope(name, "UnicodeEncode", [input]):
        input = convert_to_tensor(input, dtypes.int32)
        shape = array_ops.shape(input)
        width = shape[-1]
        rows = math_ops.reduce_prod(shape[:-1])
        splits = math_ops.range(rows + 1) * width
        strings = op1(
            "UnicodeEncode",
            None,
            array_ops.reshape(input, [-1]),
            splits,
            output_encoding=output_encoding,
            errors=errors,
            replacement_char=replacement_char,
        )
        return array_ops.reshape(strings, shape[:-1])


# ---- What is printed


def _ends_of_rows(rows, summarize):
    """The rows of strings, those of more than twice `summarize` with "..." for what is between."""
    row_ids = rows.value_rowids()
    length = array_ops.gather(rows.row_lengths(), row_ids)
    count = array_ops.shape(row_ids, out_type=row_ids.dtype)[0]
    at = math_ops.range(count) - array_ops.gather(rows.row_starts(), row_ids)
    is_long = length > 2 * summarize
    is_gap = math_ops.logical_and(is_long, math_ops.equal(at, summarize))
    stays = math_ops.logical_not(is_long) | (at <= summarize) | (at >= length - summarize)
    values = array_ops.where(is_gap, array_ops.fill([count], "..."), rows.values)
    kept = [array_ops.boolean_mask(x, stays) for x in (values, row_ids)]
    return RaggedTensor.from_value_rowids(*kept, nrows=rows.nrows())


def _joined_rows(rows, summarize):
    if summarize not in (None, -1):
        rows = _ends_of_rows(rows, summarize)
    return string_join(["[", segment_join(rows, 1, ", "), "]"])


def ragged_tensor_to_string(rt, summarize=None):
    """A string scalar that shows the rows, as tf.print does: numbers by as_string, strings quoted.

    summarize: how many elements are shown at each end of each dimension; None or -1 for all;
    ValueError if it is none of these.
    """
    is_count = isinstance(summarize, int) and summarize > 0
    if not is_count and summarize not in (None, -1):
        raise ValueError(f"Expected summarize to be -1 or a positive int, got {summarize!r}")
    flat = rt.flat_values
    if flat.dtype == dtypes.string:
        flat = string_join(["'", regex_replace(flat, r"'|\\", r"\\\0"), "'"])
    else:
        flat = as_string(flat)
    if flat.shape.ndims is None:
        raise ValueError("the rank of the values must be statically known")
    if flat.shape.ndims > 1:
        flat = RaggedTensor.from_tensor(flat, ragged_rank=flat.shape.ndims - 1)
    rt = rt.with_flat_values(flat)
    splits, text = rt.nested_row_splits, rt.flat_values
    for row_splits in reversed(splits):
        text = _joined_rows(RaggedTensor.from_row_splits(text, row_splits), summarize)
    whole = RaggedTensor.from_row_lengths(text, array_ops.shape(text))
    return _joined_rows(whole, summarize)[0]


@handles
def format_with_rows(function, template, inputs, placeholder="{}", summarize=3, name=None):
    """tf.strings.format where inputs are ragged."""
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    first, *texts = template.split(placeholder)
    if len(texts) != len(inputs):
        raise ValueError(
            f"num placeholders in template and num inputs must match: {len(texts)} vs {len(inputs)}"
        )
    pieces = [first]
    with name_scope(name, "StringFormat", []):
        for value, text in zip(inputs, texts):
            if isinstance(value, RaggedTensor):
                pieces.append(ragged_tensor_to_string(value, summarize))
            else:
                pieces.append(function(placeholder, [value], placeholder, summarize))
            pieces.append(text)
        return string_join(pieces)
