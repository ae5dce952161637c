"""Messages: they have the bytes, names and text of TensorFlow's."""

import copy
import pickle

import pytest
import rheos.v1 as tf
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message import DecodeError
from rheos.framework import messages

train = tf.train


def example(**features):
    made = train.Example()
    for name, values in features.items():
        kind = {int: "int64_list", float: "float_list", bytes: "bytes_list"}[type(values[0])]
        getattr(made.features.feature[name], kind).value.extend(values)
    return made


# ---- Bytes, as TensorFlow writes them

RECORDED = [
    (train.Example(), b""),
    (train.Example(features=train.Features()), b"\n\x00"),
    (example(b=[1, -1]), b"\n\x16\n\x14\n\x01b\x12\x0f\x1a\r\n\x0b\x01" + b"\xff" * 9 + b"\x01"),
    (example(a=[1.0]), b"\n\x0f\n\r\n\x01a\x12\x08\x12\x06\n\x04\x00\x00\x80?"),
    (example(s=[b"x", b""]), b"\n\x0e\n\x0c\n\x01s\x12\x07\n\x05\n\x01x\n\x00"),
    (
        train.Int64List(value=[0, 127, 128, 2**63 - 1]),
        b"\n\x0d\x00\x7f\x80\x01" + b"\xff" * 8 + b"\x7f",
    ),
    (
        tf.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True),
        b"\n\x07\n\x03GPU\x10\x00" + b"8\x01",
    ),
    (tf.OptimizerOptions(opt_level=-1), b"\x18" + b"\xff" * 9 + b"\x01"),
    (tf.GPUOptions(per_process_gpu_memory_fraction=0.5), b"\t\x00\x00\x00\x00\x00\x00\xe0?"),
]


@pytest.mark.parametrize("index", range(len(RECORDED)))
def test_bytes_are_those_of_tensorflow(index):
    message, expected = RECORDED[index]
    assert message.SerializeToString() == expected and message.ByteSize() == len(expected)
    parsed = type(message).FromString(expected)
    assert parsed == message and str(parsed) == str(message)


def test_lists_are_read_packed_and_not_packed():
    assert train.Int64List.FromString(b"\x08\x05\x0a\x02\x06\x07\x08\x08").value == [5, 6, 7, 8]
    one = b"\x00\x00\x80?"
    assert train.FloatList.FromString(b"\x0d" + one + b"\x0a\x08" + one + one).value == [1, 1, 1]


def test_the_last_value_of_a_key_wins_and_the_last_kind():
    first, second = example(a=[1]), example(a=[2.0])
    both = train.Example.FromString(first.SerializeToString() + second.SerializeToString())
    assert both.features.feature["a"].float_list.value == [2.0]
    assert both.features.feature["a"].WhichOneof("kind") == "float_list"


def test_unknown_fields_are_kept():
    data = b"\x12\x03abc" + b"\x1b\x08\x01\x1c" + b"\x25\x01\x02\x03\x04"
    message = train.Example.FromString(data)
    assert message.SerializeToString() == data and message != train.Example()
    message.DiscardUnknownFields()
    assert message.SerializeToString() == b""


# ---- Fields


def test_nested_messages_are_set_when_something_in_them_is():
    message = train.Example()
    assert message.features.feature is message.features.feature
    assert not message.HasField("features") and message.ByteSize() == 0
    value = message.features.feature["x"].int64_list.value
    assert message.HasField("features") and message.features.feature["x"].WhichOneof("kind") is None
    value.append(3)
    assert message.features.feature["x"].WhichOneof("kind") == "int64_list"
    message.features.feature["x"].float_list.value.extend([1, 2])
    assert message.features.feature["x"].WhichOneof("kind") == "float_list"
    assert not message.features.feature["x"].HasField("int64_list")
    value.append(4)  # it is no longer part of the message
    assert list(message.features.feature["x"].int64_list.value) == []
    message.ClearField("features")
    assert message == train.Example()
    message.features.SetInParent()
    assert message.HasField("features")


def test_enums_have_names():
    options = tf.RunOptions(trace_level="FULL_TRACE")
    assert options.trace_level == tf.RunOptions.FULL_TRACE == 3
    assert tf.RunOptions.TraceLevel.Name(3) == "FULL_TRACE"
    assert tf.RunOptions.TraceLevel.Value("NO_TRACE") == 0 == tf.RunOptions().trace_level
    assert str(options) == "trace_level: FULL_TRACE\n"
    assert str(tf.RunOptions(trace_level=7)) == "trace_level: 7\n"


def test_text_is_that_of_protobuf(debians_protobuf):
    message = example(b=[1, -1], a=[0.1], c=[b"a\xff\n\"'\\"])
    assert str(message) == (
        "features {\n"
        '  feature {\n    key: "a"\n    value {\n      float_list {\n'
        "        value: 0.10000000149011612\n      }\n    }\n  }\n"
        '  feature {\n    key: "b"\n    value {\n      int64_list {\n'
        "        value: 1\n        value: -1\n      }\n    }\n  }\n"
        '  feature {\n    key: "c"\n    value {\n      bytes_list {\n'
        '        value: "a\\377\\n\\"\\\'\\\\"\n      }\n    }\n  }\n'
        "}\n"
    )
    assert str(tf.ConfigProto(device_count={"CPU": 2})) == (
        'device_count {\n  key: "CPU"\n  value: 2\n}\n'
    )


def test_messages_are_copied_and_pickled():
    message = example(a=[1], b=[2.0])
    for copied in (copy.deepcopy(message), pickle.loads(pickle.dumps(message))):
        assert copied == message
        copied.features.feature["a"].int64_list.value.append(2)
        assert copied != message


def test_wrong_bytes_and_fields_raise():
    with pytest.raises(DecodeError):
        train.Example.FromString(example(a=[1]).SerializeToString()[:-1])
    with pytest.raises(ValueError, match='has no "foo" field'):
        train.Feature(foo=1)


def test_types_of_the_same_name_elsewhere_do_not_clash():
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(
        descriptor_pb2.FileDescriptorProto(
            name="elsewhere.proto", package="tensorflow", message_type=[{"name": "Example"}]
        ).SerializeToString()
    )
    theirs = pool.FindMessageTypeByName("tensorflow.Example")
    assert theirs is not train.Example.DESCRIPTOR and not theirs.fields


def test_every_type_has_a_class():
    names = [name for name in dir(tf) if hasattr(getattr(tf, name), "DESCRIPTOR")]
    assert {"ConfigProto", "MetaGraphDef", "Summary"} <= set(names)
    for name in names:
        assert getattr(tf, name).DESCRIPTOR.full_name == f"tensorflow.{name}"
    with pytest.raises(AttributeError, match="no message type Nonsense"):
        messages.Nonsense


def test_enums_beside_messages_are_there():
    assert messages.DT_FLOAT == 1 and messages.DataType.Name(7) == "DT_STRING"
    assert messages.NOT_FOUND == 5
