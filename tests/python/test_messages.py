"""Messages: they behave as TensorFlow 1.15's do with protobuf 3.20, and have its bytes."""

import copy
import pickle
import random

import numpy as np
import pytest

import rheos.v1 as tf
from rheos.framework.message import DecodeError, declare

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


def test_damaged_bytes_raise_or_parse():
    data = example(a=[1, 2, 300], b=[1.5], c=[b"text"]).SerializeToString()
    for size in range(len(data)):
        try:
            train.Example.FromString(data[:size])
        except DecodeError:
            continue
        assert size == 0
    choice = random.Random(0)
    for _ in range(2000):
        damaged = bytearray(data)
        for _ in range(choice.randint(1, 4)):
            damaged[choice.randrange(len(data))] = choice.randrange(256)
        try:
            train.Example.FromString(bytes(damaged)).SerializeToString()
        except DecodeError:
            pass
    nested = b""
    for _ in range(3000):
        nested = b"\x0b" + nested + b"\x0c"
    with pytest.raises(DecodeError, match="tensorflow.Example"):
        train.Example.FromString(nested)


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


def test_constructors_take_messages_dicts_and_none():
    message = train.Example(features={"feature": {"x": train.Feature(int64_list={"value": [1]})}})
    assert message == example(x=[1])
    assert train.Int64List(value=None) == train.Int64List()
    assert train.Feature(int64_list=train.Int64List()).WhichOneof("kind") == "int64_list"
    part = train.Feature(int64_list={"value": [1]})
    whole = train.Features(feature={"x": part})
    part.int64_list.value.append(2)
    assert whole.feature["x"].int64_list.value == [1]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: train.Feature(foo=1), ValueError, 'Feature has no "foo" field.'),
        (lambda: train.BytesList(value=["a"]), TypeError, "'a' has type str, but expected one of"),
        (lambda: train.Int64List(value=[1.5]), TypeError, "type float, but expected one of: int"),
        (lambda: train.Int64List(value=[2**63]), ValueError, "Value out of range: 92233720368547"),
        (lambda: train.Int64List(value=3), TypeError, "Value must be iterable"),
        (lambda: train.FloatList(value=["a"]), TypeError, "expected one of: int, float"),
        (lambda: train.Feature(float_list=train.Int64List()), TypeError,
         "expected tensorflow.FloatList got tensorflow.Int64List."),
        (lambda: train.Features(feature={1: train.Feature()}), TypeError, "bytes, unicode"),
        (lambda: train.Features().feature.__setitem__("x", train.Feature()), ValueError,
         "Direct assignment of submessage not allowed"),
        (lambda: train.Feature().WhichOneof("foo"), ValueError, 'no oneof "foo" field'),
        (lambda: train.Feature().HasField("value"), ValueError, "has no field value"),
        (lambda: train.Int64List().HasField("value"), ValueError, 'no singular "value" field'),
        (lambda: tf.RunOptions().HasField("trace_level"), ValueError, "presence in proto3"),
        (lambda: setattr(tf.ConfigProto(), "gpu_options", tf.GPUOptions()), AttributeError,
         'Assignment not allowed to field "gpu_options"'),
        (lambda: setattr(tf.ConfigProto(), "device_filters", []), AttributeError, "repeated field"),
        (lambda: setattr(tf.GPUOptions(), "visible_device_list", b"\xff"), ValueError, "UTF-8"),
        (lambda: train.Example(train.Features()), TypeError, "No positional arguments allowed"),
        (lambda: train.Example().CopyFrom(train.Features()), TypeError, "CopyFrom"),
        (lambda: hash(train.Example()), TypeError, "unhashable"),
    ],
)  # fmt: skip
def test_wrong_use_raises_what_protobuf_raises(make, error, text):
    with pytest.raises(error) as raised:
        make()
    assert text in str(raised.value)


def test_repeated_fields_are_lists():
    value = train.Int64List(value=np.arange(4)).value
    value[1:3] = [7]
    value += (np.int32(9), True)
    value.insert(0, -1)
    assert value == [-1, 0, 7, 3, 9, 1] and type(value[4]) is int
    value.remove(9)
    del value[0]
    assert value.pop() == 1 and list(value) == [0, 7, 3] and value[-1] == 3
    for wrong in (lambda: value.append("a"), lambda: value.__setitem__(0, 1.5)):
        with pytest.raises(TypeError):
            wrong()
    features = train.FeatureList(feature=[train.Feature(), {}]).feature
    features.add(int64_list={"value": [1]})
    features.append(features[2])
    assert len(features) == 4 and features[3] == features[2] and features[3] is not features[2]
    with pytest.raises(TypeError):
        features[0] = train.Feature()


def test_floats_are_of_single_precision():
    value = train.FloatList(value=[0.1, 1e300, 3]).value
    assert value == [float(np.float32(0.1)), float("inf"), 3.0]
    assert train.FloatList(value=np.array([0.1], np.float32)).value == value[:1]


def test_maps_are_dicts():
    count = tf.ConfigProto(device_count={"CPU": 2}).device_count
    assert count["GPU"] == 0 and dict(count) == {"CPU": 2, "GPU": 0}
    assert count.get("TPU", 5) == 5 and "TPU" not in count
    feature = train.Features().feature
    assert "x" not in feature and feature.get("x") is None
    feature["x"].int64_list.value.append(1)
    assert list(feature) == ["x"] and len(feature) == 1
    del feature["x"]
    assert not feature


def test_enums_have_names():
    options = tf.RunOptions(trace_level="FULL_TRACE")
    assert options.trace_level == tf.RunOptions.FULL_TRACE == 3
    assert tf.RunOptions.TraceLevel.Name(3) == "FULL_TRACE"
    assert tf.RunOptions.TraceLevel.Value("NO_TRACE") == 0 == tf.RunOptions().trace_level
    assert str(options) == "trace_level: FULL_TRACE\n"
    assert str(tf.RunOptions(trace_level=7)) == "trace_level: 7\n"


# ---- Whole messages


def test_text_is_that_of_protobuf():
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


def test_copies_are_independent():
    message = example(a=[1], b=[2.0])
    for copied in (copy.deepcopy(message), copy.copy(message), pickle.loads(pickle.dumps(message))):
        assert copied == message
        copied.features.feature["a"].int64_list.value.append(2)
        assert copied != message
    other = example(c=[b"x"])
    other.CopyFrom(message)
    assert other == message
    other.MergeFrom(example(c=[b"y"]))
    assert sorted(other.features.feature) == ["a", "b", "c"]
    other.Clear()
    assert other == train.Example() and other != train.Features()


def test_fields_are_listed_and_described():
    message = example(a=[1])
    [(field, value)] = message.ListFields()
    assert field.name == "features" and value is message.features
    descriptor = train.Feature.DESCRIPTOR
    assert descriptor.full_name == "tensorflow.Feature"
    assert [f.name for f in descriptor.fields] == ["bytes_list", "float_list", "int64_list"]
    assert train.Feature.FLOAT_LIST_FIELD_NUMBER == 2


def test_declarations_take_what_proto3_has():
    made = declare(
        """
        syntax = "proto3";
        // A tree.
        message TestTree {
          enum Kind { LEAF = 0; NODE = 2; LOW = -3; }
          reserved 7;
          Kind kind = 1;
          repeated TestTree child = 2;
          optional int32 weight = 3;
          repeated sint64 zigzag = 4;
          repeated fixed32 fixed = 5;
          map<int64, double> sums = 6 [deprecated = true];
          oneof which { string text = 8; uint64 number = 9; }
        }
        """,
        __name__,
        "test",
    )
    tree = made["TestTree"](kind="NODE", zigzag=[-1, 2**62, -(2**63)], fixed=[7, 2**32 - 1])
    tree.child.add(weight=0, sums={-5: 0.1}).child.add(number=2**64 - 1)
    assert tree.__doc__ == "A tree." and tree.child[0].HasField("weight")
    assert not tree.HasField("weight") and made["TestTree"].LOW == -3
    parsed = made["TestTree"].FromString(tree.SerializeToString())
    assert parsed == tree and parsed.child[0].sums == {-5: 0.1}
    assert parsed.child[0].child[0].number == 2**64 - 1
    tree.text = ""
    assert tree.WhichOneof("which") == "text"
    tree.ClearField("which")
    assert tree.WhichOneof("which") is None
