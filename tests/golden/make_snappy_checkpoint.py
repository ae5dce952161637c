#!/usr/bin/env python3
"""Writes checkpoints/snappy.*: `dtypes` with the blocks of its index compressed, with TensorFlow 2.

    python make_snappy_checkpoint.py [folder]

TensorFlow has written such files and reads them, but its ops ask for plain blocks now. So each
block is compressed by TensorFlow (CompressElement) and put in place of the plain one, and
TensorFlow is made to read the result.
"""

import os
import shutil
import struct
import sys
import tempfile

import numpy as np
import tensorflow as tf

FOOTER_BYTES = 48


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def handle(data, at):
    offset, at = read_varint(data, at)
    size, at = read_varint(data, at)
    return (offset, size), at


def snappy(block):
    """The bytes, compressed: they are in the file of a variable that holds them."""
    made = tf.raw_ops.CompressElement(components=[tf.constant(block)])
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "v")
        tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["v"], shape_and_slices=[""], tensors=[made])
        with open(prefix + ".data-00000-of-00001", "rb") as file:
            data = file.read()
    # The size of a VariantTensorDataProto, its field 1, then field 2 with a CompressedElement,
    # whose field 1 holds the bytes.
    at = read_varint(data, 0)[1]
    for field in (b"\x0a", b"\x12", b"\x0a"):
        assert data[at:at + 1] == field
        size, at = read_varint(data, at + 1)
        if field == b"\x0a" and data[at:at + 10] == b"tensorflow":
            at += size
    return data[at:at + size]


def masked_crc(data):
    """What a record of those bytes has behind them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r")
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(data)
        with open(path, "rb") as file:
            return file.read()[-4:]


def entries(block):
    """(key, value) of a block, whose restart offsets stand at its end."""
    (restarts,) = struct.unpack("<I", block[-4:])
    at, end, key = 0, len(block) - 4 * (restarts + 1), b""
    while at < end:
        shared, at = read_varint(block, at)
        rest, at = read_varint(block, at)
        size, at = read_varint(block, at)
        key = key[:shared] + block[at:at + rest]
        yield key, block[at + rest:at + rest + size]
        at += rest + size


def index_block(blocks):
    """One entry a restart, as TensorFlow writes it."""
    out, offsets = b"", []
    for key, (offset, size) in blocks:
        value = varint(offset) + varint(size)
        offsets.append(len(out))
        out += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    return out + struct.pack(f"<{len(offsets) + 1}I", *offsets, len(offsets))


def compress_table(data):
    out = b""

    def put(block, packed):
        nonlocal out
        content = (snappy(block) if packed else block) + (b"\1" if packed else b"\0")
        place = len(out), len(content) - 1
        out += content + masked_crc(content)
        return place

    (meta_at, meta_size), at = handle(data, len(data) - FOOTER_BYTES)
    (index_at, index_size), _ = handle(data, at)
    blocks = []
    for key, value in entries(data[index_at:index_at + index_size]):
        (offset, size), _ = handle(value, 0)
        blocks.append((key, put(data[offset:offset + size], True)))
    meta = put(data[meta_at:meta_at + meta_size], False)
    index = put(index_block(blocks), True)
    footer = b"".join(varint(number) for number in (*meta, *index))
    return out + footer.ljust(40, b"\0") + data[-8:]


def main():
    here = os.path.join(os.path.dirname(__file__), "checkpoints")
    folder = sys.argv[1] if len(sys.argv) > 1 else here
    with open(os.path.join(here, "dtypes.index"), "rb") as file:
        packed = compress_table(file.read())
    prefix = os.path.join(folder, "snappy")
    with open(prefix + ".index", "wb") as file:
        file.write(packed)
    shutil.copy(os.path.join(here, "dtypes.data-00000-of-00001"), prefix + ".data-00000-of-00001")
    plain, made = (tf.train.load_checkpoint(p) for p in (os.path.join(here, "dtypes"), prefix))
    assert made.get_variable_to_shape_map() == plain.get_variable_to_shape_map()
    for name, dtype in plain.get_variable_to_dtype_map().items():
        if not dtype.is_quantized:
            np.testing.assert_array_equal(made.get_tensor(name), plain.get_tensor(name))


if __name__ == "__main__":
    main()
