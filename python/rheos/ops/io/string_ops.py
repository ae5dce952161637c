"""Strings: put together, taken apart, matched, hashed, turned into numbers and back."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.ragged import ragged_too
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops

# ---- Together and apart


@ragged_too("elementwise")
def string_join(inputs, separator="", name=None):
    """Joins the strings at the same place of each input; scalars are repeated.

    inputs: a list of string tensors of one shape, or scalars.

    >>> print(tf.strings.join(["a", "b"], separator="-").numpy())
    b'a-b'
    """
    return op1("StringJoin", name, list(inputs), separator=separator)


def _join_axes(x, axis):
    """All dimensions, the last fastest, unless an axis is given."""
    if axis is not None:
        return axis
    if x.shape.ndims is not None:
        return constant(np.arange(x.shape.ndims - 1, -1, -1), dtype=dtypes.int32)
    return math_ops.range(array_ops.rank(x) - 1, -1, -1)


@ragged_too("reduce_join_of")
def reduce_join(
    inputs,
    axis=None,
    keep_dims=None,
    separator="",
    name=None,
    reduction_indices=None,
    keepdims=None,
):
    """Joins the strings along dimensions; the first of `axis` goes fastest, all if it is None.

    >>> print(tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1).numpy())
    [b'ab' b'cd']
    """
    if keepdims is not None:
        keep_dims = keepdims
    if axis is None:
        axis = reduction_indices
    with name_scope(name, "ReduceJoin", [inputs]):
        inputs = convert_to_tensor(inputs, dtypes.string)
        return op1(
            "ReduceJoin",
            None,
            inputs,
            _join_axes(inputs, axis),
            keep_dims=bool(keep_dims),
            separator=separator,
        )


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Joins the strings of each segment in their order."""
    return op1("UnsortedSegmentJoin", name, inputs, segment_ids, num_segments, separator=separator)


# ---- One by one


@ragged_too("elementwise")
def substr(input, pos, len, name=None, unit="BYTE"):
    """`len` bytes (or characters, unit "UTF8_CHAR") from `pos` on; negative counts from the end.

    >>> print(tf.strings.substr("abcdef", 2, 3).numpy())
    b'cde'
    """
    return op1("Substr", name, input, pos, len, unit=unit)


@ragged_too("elementwise")
def string_length(input, name=None, unit="BYTE"):
    """The length of each string in bytes or characters (unit "UTF8_CHAR"), int32.

    >>> print(tf.strings.length(["a", "abc"]).numpy())
    [1 3]
    """
    return op1("StringLength", name, input, unit=unit)


@ragged_too("elementwise")
def string_lower(input, encoding="", name=None):
    """Lower case: of ASCII letters, or of all characters with encoding "utf-8".

    >>> print(tf.strings.lower("ABC").numpy())
    b'abc'
    """
    return op1("StringLower", name, input, encoding=encoding)


@ragged_too("elementwise")
def string_upper(input, encoding="", name=None):
    """Upper case: of ASCII letters, or of all characters with encoding "utf-8"."""
    return op1("StringUpper", name, input, encoding=encoding)


@ragged_too("elementwise")
def string_strip(input, name=None):
    """Without white space at both ends."""
    return op1("StringStrip", name, input)


def _is_text(x):
    return isinstance(x, (str, bytes))


@ragged_too("elementwise")
def regex_full_match(input, pattern, name=None):
    """Whether the regular expression (RE2's syntax) describes all of each string."""
    if _is_text(pattern):
        return op1("StaticRegexFullMatch", name, input, pattern=pattern)
    return op1("RegexFullMatch", name, input, pattern)


@ragged_too("elementwise")
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    r"""Replaces what matches `pattern` by `rewrite`, in which \1 to \9 stand for groups.

    replace_global: False replaces the first match of each string only.

    >>> print(tf.strings.regex_replace("a1b22", "[0-9]+", "#").numpy())
    b'a#b#'
    """
    if _is_text(pattern) and _is_text(rewrite):
        return op1(
            "StaticRegexReplace",
            name,
            input,
            pattern=pattern,
            rewrite=rewrite,
            replace_global=replace_global,
        )
    return op1("RegexReplace", name, input, pattern, rewrite, replace_global=replace_global)


# ---- Numbers


@ragged_too("elementwise")
def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Each element as text, in a field of `width` with `precision` digits.

    >>> print(tf.strings.as_string([1, 20]).numpy())
    [b'1' b'20']
    """
    return op1(
        "AsString",
        name,
        input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=fill,
    )


@ragged_too("elementwise")
def string_to_number(string_tensor=None, out_type=dtypes.float32, name=None, input=None):
    """The number that each string is the text of; InvalidArgumentError if it is none."""
    if string_tensor is None:
        string_tensor = input
    return op1("StringToNumber", name, string_tensor, out_type=out_type)


@ragged_too("format_with_rows")
def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with the values of the inputs, a tensor or a list, in its placeholders."""
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return op1(
        "StringFormat",
        name,
        inputs,
        template=template,
        placeholder=placeholder,
        summarize=summarize,
    )


# ---- Hashes and encodings


@ragged_too("elementwise")
def string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None):
    """A bucket of [0, num_buckets) for each string, by a hash that is kept for old graphs."""
    if string_tensor is None:
        string_tensor = input
    return op1("StringToHashBucket", name, string_tensor, num_buckets=num_buckets)


@ragged_too("elementwise")
def string_to_hash_bucket_fast(input, num_buckets, name=None):
    """A bucket of [0, num_buckets) for each string, by FarmHash's Fingerprint64."""
    return op1("StringToHashBucketFast", name, input, num_buckets=num_buckets)


@ragged_too("elementwise")
def string_to_hash_bucket_strong(input, num_buckets, key, name=None):
    """A bucket of [0, num_buckets) for each string, by SipHash under a key of two integers."""
    return op1("StringToHashBucketStrong", name, input, num_buckets=num_buckets, key=key)


@ragged_too("elementwise")
def encode_base64(input, pad=False, name=None):
    """Web-safe base64; `pad` adds "=" up to whole groups."""
    return op1("EncodeBase64", name, input, pad=pad)


@ragged_too("elementwise")
def decode_base64(input, name=None):
    """What strings of web-safe base64 stand for, padded or not."""
    return op1("DecodeBase64", name, input)


def fingerprint(data, method="farmhash64", name=None):
    """A fingerprint of each row: data (n, ...), returns uint8 (n, 8). method: "farmhash64"."""
    return op1("Fingerprint", name, data, method)


# ---- Unicode


@ragged_too("elementwise")
def unicode_transcode(
    input,
    input_encoding,
    output_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """Strings in one encoding written in another: "UTF-8", "UTF-16-BE" or "UTF-32-BE".

    errors: what becomes of ill-formed bytes: "replace" (by the character replacement_char),
    "ignore", or "strict", an InvalidArgumentError when it runs. replace_control_characters:
    characters below 32 are treated as ill-formed, but not refused.
    """
    return op1(
        "UnicodeTranscode",
        name,
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
    )


@ragged_too("elementwise")
def unicode_script(input, name=None):
    """The number of the script each code point (int32) is written in; -1 for what is none."""
    return op1("UnicodeScript", name, input)
