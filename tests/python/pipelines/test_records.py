"""tf.python_io: files of records as TensorFlow 1.15 writes and reads them."""

import gzip
import os
import struct

import numpy as np
import pytest
import rheos.v1 as tf

io = tf.python_io
RECORDS = [b"abc" * 50, b"", b"\x00\xff" * 40000, b"last"]

# What TensorFlow 1.15 writes for b"abc" * 50 (and b"" in the first).
ZLIB = "789c9bc600013e9c65be8949c9831099b14edf0675248326f30cf61baf9a160100bc9d4054"
GZIP = "1f8b08000000000000039bc600013e9c65be8949c9831099b14edf0600f1765539a6000000"


@pytest.mark.parametrize("options", [None, "", "ZLIB", "GZIP", io.TFRecordOptions("GZIP")])
def test_records_come_back(tmp_path, options):
    path = tmp_path / "records"
    with io.TFRecordWriter(str(path), options) as writer:
        for record in RECORDS:
            writer.write(record)
    assert list(io.tf_record_iterator(str(path), options)) == RECORDS
    assert list(io.tf_record_iterator(path, options)) == RECORDS


@pytest.mark.parametrize(
    ("kind", "recorded", "records"),
    [("ZLIB", ZLIB, [b"abc" * 50, b""]), ("GZIP", GZIP, [b"abc" * 50])],
)
def test_files_of_tensorflow_are_read(tmp_path, kind, recorded, records):
    path = tmp_path / "records"
    path.write_bytes(bytes.fromhex(recorded))
    assert list(io.tf_record_iterator(str(path), kind)) == records


def test_what_is_written_is_framed(tmp_path):
    path = tmp_path / "records"
    with io.TFRecordWriter(str(path), "GZIP") as writer:
        writer.write(b"abc")
    framed = struct.pack("<QI", 3, 0x0E4999B0) + b"abc" + struct.pack("<I", 0x21F1576E)
    assert gzip.decompress(path.read_bytes()) == framed


def test_files_one_behind_the_other_are_one(tmp_path):
    parts = []
    for record in (b"one", b"two"):
        with io.TFRecordWriter(str(tmp_path / "part"), "GZIP") as writer:
            writer.write(record)
        parts.append((tmp_path / "part").read_bytes())
    (tmp_path / "whole").write_bytes(b"".join(parts))
    assert list(io.tf_record_iterator(str(tmp_path / "whole"), "GZIP")) == [b"one", b"two"]


@pytest.mark.parametrize("kind", ["", "ZLIB", "GZIP"])
def test_flushed_records_are_there(tmp_path, kind):
    path = str(tmp_path / "records")
    writer = io.TFRecordWriter(path, kind)
    writer.write(b"abc")
    writer.flush()
    assert next(io.tf_record_iterator(path, kind)) == b"abc"
    writer.close()


def test_levels(tmp_path):
    sizes = {}
    for level in (1, 9):
        path = tmp_path / str(level)
        options = io.TFRecordOptions("ZLIB", compression_level=level)
        with io.TFRecordWriter(str(path), options) as writer:
            writer.write(bytes(i * i % 251 for i in range(20000)) * 3)
        sizes[level] = path.stat().st_size
    assert sizes[9] < sizes[1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        io.TFRecordWriter(str(tmp_path / "x"), io.TFRecordOptions("ZLIB", compression_level=10))


@pytest.mark.parametrize("kind", ["", "ZLIB", "GZIP"])
def test_damage_is_data_loss(tmp_path, kind):
    path = tmp_path / "records"
    with io.TFRecordWriter(str(path), kind) as writer:
        writer.write(b"some bytes")
    data = path.read_bytes()
    for size in range(1, len(data) - (8 if kind else 0)):
        path.write_bytes(data[:size])
        with pytest.raises(tf.errors.DataLossError):
            list(io.tf_record_iterator(str(path), kind))
    path.write_bytes(b"nothing of the kind, but long enough")
    with pytest.raises(tf.errors.DataLossError):
        list(io.tf_record_iterator(str(path), kind))
    path.write_bytes(b"")
    assert list(io.tf_record_iterator(str(path), kind)) == []


def test_errors(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nothing"):
        list(io.tf_record_iterator(str(tmp_path / "nothing")))
    with pytest.raises(tf.errors.NotFoundError):
        io.TFRecordWriter(str(tmp_path / "no" / "folder"))
    writer = io.TFRecordWriter(str(tmp_path / "records"))
    writer.write("text")
    for wrong in (3, None):
        with pytest.raises(TypeError, match="expected bytes"):
            writer.write(wrong)
    writer.close()
    writer.close()
    for call in (lambda: writer.write(b""), writer.flush):
        with pytest.raises(tf.errors.FailedPreconditionError, match="previously closed"):
            call()
    for call in (io.TFRecordOptions, io.TFRecordOptions.get_compression_type_string):
        with pytest.raises(ValueError, match='Not a valid compression_type: "foo"'):
            call("foo")


def test_options():
    options = io.TFRecordOptions(io.TFRecordCompressionType.ZLIB)
    assert options.compression_type == 1
    string = io.TFRecordOptions.get_compression_type_string
    assert [string(o) for o in (options, None, "GZIP", 2, 0)] == ["ZLIB", "", "GZIP", "GZIP", ""]


def test_compressed_strings_in_graphs():
    texts = [b"hello " * 20, b""]
    with tf.Session() as session:
        got = session.run(tf.io.decode_compressed([gzip.compress(t) for t in texts], "GZIP"))
        assert got.tolist() == texts
        with pytest.raises(tf.errors.DataLossError):
            session.run(tf.decode_compressed([b"no gzip"], "GZIP"))


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_records__zlib_is_told_what_the_options_say(tmp_path, kind):
    rng = np.random.default_rng(1)
    records = [bytes(rng.integers(0, 4, 5000, dtype=np.uint8)) * 3 for _ in range(4)]
    sizes = []
    for options in [
        {},
        {"window_bits": 9},
        {"mem_level": 1},
        {"compression_strategy": 2},
        {"compression_level": 1},
    ]:
        options = tf.python_io.TFRecordOptions(kind, **options)
        path = str(tmp_path / f"{len(sizes)}")
        with tf.python_io.TFRecordWriter(path, options) as writer:
            for record in records:
                writer.write(record)
        assert list(tf.python_io.tf_record_iterator(path, options)) == records
        sizes.append(os.path.getsize(path))
    assert len(set(sizes)) == len(sizes)  # each was heard
    for wrong in [{"window_bits": 3}, {"mem_level": 20}, {"compression_strategy": 9}]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.python_io.TFRecordWriter(path, tf.python_io.TFRecordOptions(kind, **wrong))
