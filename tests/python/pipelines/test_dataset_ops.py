"""Ops of datasets that graphs from elsewhere have, and what data_programs.py does not show."""

import numpy as np
import pytest
import rheos as tf
from rheos import v1

KIND = {"output_types": [tf.int64], "output_shapes": [[]]}


def elements(variant, spec):
    return list(tf.data.experimental.from_variant(variant, spec))


def serialized(number):
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number] * number))
    features = tf.train.Features(feature={"x": feature})
    return tf.train.Example(features=features).SerializeToString()


def test_the_oldest_op_that_parses_is_the_same():
    texts = tf.data.Dataset.from_tensor_slices([serialized(i) for i in range(4)]).batch(2)
    variant = tf.raw_ops.ExperimentalParseExampleDataset(
        input_dataset=texts._variant_tensor,
        num_parallel_calls=1,
        dense_defaults=[],
        sparse_keys=["x"],
        dense_keys=[],
        sparse_types=[tf.int64],
        dense_shapes=[],
        output_types=[tf.variant],
        output_shapes=[None],
    )
    got = elements(variant, tf.SparseTensorSpec([None, None], tf.int64))
    assert [tf.sparse.to_dense(x).numpy().tolist() for x in got] == [
        [[0], [1]],
        [[2, 2, 0], [3, 3, 3]],
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"sparse_keys": ["x", "x"], "sparse_types": [tf.int64] * 2},
        {"sparse_types": []},
        {"output_types": [tf.int64]},
        {"num_parallel_calls": 0},
        {"input_dataset": "numbers"},
    ],
)
def test_parsing_what_does_not_fit_is_refused(change):
    texts = tf.data.Dataset.from_tensors([serialized(1)])
    arguments = {
        "input_dataset": texts._variant_tensor,
        "num_parallel_calls": 1,
        "dense_defaults": [],
        "sparse_keys": ["x"],
        "dense_keys": [],
        "sparse_types": [tf.int64],
        "dense_shapes": [],
        "output_types": [tf.variant],
        "output_shapes": [None],
        **change,
    }
    if change.get("input_dataset"):
        arguments["input_dataset"] = tf.data.Dataset.range(3)._variant_tensor
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tf.raw_ops.ParseExampleDatasetV2(**arguments)


def test_parsed_batches_outlive_their_graph_and_go_on_after_a_bad_one():
    texts = [serialized(1), b"broken", serialized(2)]
    dataset = tf.data.Dataset.from_tensor_slices(texts).batch(1)

    @tf.function
    def parsed(variant):
        return tf.raw_ops.ParseExampleDatasetV2(
            input_dataset=variant,
            num_parallel_calls=2,
            dense_defaults=[tf.constant(7, tf.int64)],
            sparse_keys=[],
            dense_keys=["y"],
            sparse_types=[],
            dense_shapes=[[]],
            output_types=[tf.int64],
            output_shapes=[[None]],
        )

    variant = parsed(dataset._variant_tensor)
    del parsed
    iterator = iter(tf.data.experimental.from_variant(variant, tf.TensorSpec([None], tf.int64)))
    assert next(iterator).numpy().tolist() == [7]
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert next(iterator).numpy().tolist() == [7]


def test_iterators_of_several_devices_in_graphs_have_names_and_strings():
    raw = v1.raw_ops
    with v1.Graph().as_default(), v1.Session() as session:
        dataset = v1.data.Dataset.range(5)
        iterator = raw.MultiDeviceIterator(
            devices=["/cpu:0"] * 2, shared_name="several", container="", **KIND
        )
        string = raw.MultiDeviceIteratorToStringHandle(multi_device_iterator=iterator)
        begin = raw.MultiDeviceIteratorInit(
            dataset=dataset._variant_tensor, multi_device_iterator=iterator, max_buffer_size=1
        )
        again = raw.MultiDeviceIteratorFromStringHandle(string_handle=string, **KIND)
        number = v1.placeholder(v1.int64, [])
        shards = [
            raw.MultiDeviceIteratorGetNextFromShard(
                multi_device_iterator=again, shard_num=shard, incarnation_id=number, **KIND
            )
            for shard in (0, 1)
        ]
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(shards[0], {number: 1})
        incarnation = session.run(begin)
        told = [session.run(shards[k], {number: incarnation})[0] for k in (1, 1, 0, 0)]
        assert told == [1, 3, 0, 2]
        device = session.run(raw.IteratorGetDevice(resource=iterator))
        assert device.endswith(b"CPU:0")
        one = v1.data.make_initializable_iterator(dataset)
        other = raw.MultiDeviceIteratorFromStringHandle(string_handle=one.string_handle(), **KIND)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(other)


def test_an_iterator_of_several_devices_is_deleted():
    raw = tf.raw_ops
    handle, deleter = raw.AnonymousMultiDeviceIterator(devices=["/cpu:0"], **KIND)
    number = raw.MultiDeviceIteratorInit(
        dataset=tf.data.Dataset.range(5)._variant_tensor,
        multi_device_iterator=handle,
        max_buffer_size=1,
    )
    raw.DeleteMultiDeviceIterator(multi_device_iterator=handle, iterators=[], deleter=deleter)
    with pytest.raises(tf.errors.FailedPreconditionError):
        raw.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=handle, shard_num=0, incarnation_id=number, **KIND
        )


def test_fingerprints_tell_pipelines_apart():
    def number(count, scale):
        return int(tf.data.Dataset.range(count).map(lambda x: x * scale).fingerprint())

    assert number(3, 2) == number(3, 2)
    assert len({number(3, 2), number(4, 2), number(3, 5)}) == 3


def test_a_table_is_filled_by_a_graphs_dataset_when_tables_are_initialized():
    with v1.Graph().as_default(), v1.Session() as session:
        pairs = v1.data.Dataset.from_tensor_slices((["a", "b"], np.array([5, 6]))).batch(2)
        table = v1.lookup.StaticHashTable(
            tf.data.experimental.DatasetInitializer(pairs), np.int64(-1)
        )
        found = table.lookup(v1.constant(["b", "c"]))
        session.run(v1.tables_initializer())
        assert session.run(found).tolist() == [6, -1]


@pytest.mark.parametrize("op", ["DatasetToTFRecord", "ExperimentalDatasetToTFRecord"])
def test_records_are_written_by_graphs(op, tmp_path):
    path = str(tmp_path / "records")
    with v1.Graph().as_default(), v1.Session() as session:
        dataset = v1.data.Dataset.from_tensor_slices(["a", "bc"])
        write = getattr(v1.raw_ops, op)
        session.run(
            write(input_dataset=dataset._variant_tensor, filename=path, compression_type="GZIP")
        )
        assert list(v1.python_io.tf_record_iterator(path, "GZIP")) == [b"a", b"bc"]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(
                write(input_dataset=dataset._variant_tensor, filename=path, compression_type="x")
            )
        numbers = v1.data.Dataset.range(2)._variant_tensor
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(write(input_dataset=numbers, filename=path, compression_type=""))


def test_specs_tell_narrower_ones():
    spec = tf.data.DatasetSpec(tf.TensorSpec([2], tf.int64))
    wide = tf.data.DatasetSpec(tf.TensorSpec([None], tf.int64))
    other = tf.data.DatasetSpec({"x": tf.TensorSpec([2], tf.int64)})
    assert spec.is_subtype_of(wide) and not wide.is_subtype_of(spec)
    assert not spec.is_subtype_of(other)
    assert spec.most_specific_common_supertype([wide]) == wide
    assert spec.most_specific_common_supertype([other]) is None
    named = tf.TensorSpec([2], tf.int64, name="a")
    assert spec.element_spec.is_subtype_of(named) and not named.is_subtype_of(spec.element_spec)
    sparse = tf.SparseTensorSpec([2, 3])
    assert sparse.is_subtype_of(tf.SparseTensorSpec([None, 3]))
    assert sparse.most_specific_common_supertype([tf.SparseTensorSpec(None)]).shape.rank is None


def test_a_signature_says_that_an_argument_is_a_dataset():
    traces = []

    @tf.function(input_signature=[tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))])
    def total(dataset):
        traces.append(1)
        return dataset.reduce(np.int64(0), lambda a, b: a + b)

    assert [int(total(tf.data.Dataset.range(n))) for n in (5, 7)] == [10, 21]
    assert len(traces) == 1
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        total(tf.data.Dataset.from_tensors(1.0))
