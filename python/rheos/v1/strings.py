"""Strings."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.ragged_string_ops import (
    ngrams,
    string_bytes_split as bytes_split,
    string_split_v2 as split,
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_split,
    unicode_split_with_offsets,
)
from rheos.ops.string_ops import (
    as_string,
    reduce_join,
    regex_full_match,
    regex_replace,
    string_format as format,
    string_join as join,
    string_length as length,
    string_lower as lower,
    string_strip as strip,
    string_to_hash_bucket as to_hash_bucket,
    string_to_hash_bucket_fast as to_hash_bucket_fast,
    string_to_hash_bucket_strong as to_hash_bucket_strong,
    string_to_number as to_number,
    string_upper as upper,
    substr,
    unicode_script,
    unicode_transcode,
    unsorted_segment_join,
)

__getattr__ = _attribute_of("tensorflow.strings")
