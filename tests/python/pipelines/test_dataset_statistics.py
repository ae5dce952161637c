"""Statistics of pipelines: what stages that measure tell an aggregator, as TensorFlow 1.15 does."""

import numpy as np
import pytest
import rheos.v1 as tf

E = tf.data.experimental


def filled(*stages):
    dataset = tf.data.Dataset.range(5).map(lambda x: tf.fill([x], x))
    for stage in stages:
        dataset = dataset.apply(stage)
    return dataset


def with_aggregator(dataset, aggregator, **more):
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    for name, value in more.items():
        setattr(options.experimental_stats, name, value)
    return dataset.with_options(options)


def histograms(session, summary):
    message = tf.Summary.FromString(session.run(summary))
    return {value.tag: value.histo for value in message.value}


def test_sizes_and_times_are_counted(sess):
    aggregator = E.StatsAggregator()
    dataset = filled(E.latency_stats("time"), E.bytes_produced_stats("bytes"))
    iterator = tf.data.make_initializable_iterator(with_aggregator(dataset, aggregator))
    sess.run(iterator.initializer)
    following, summary = iterator.get_next(), aggregator.get_summary()
    assert histograms(sess, summary) == {}
    sums = []
    for _ in range(5):
        sess.run(following)
        sums.append(histograms(sess, summary)["bytes"].sum)
    assert sums == [0, 8, 24, 48, 80]  # recorded from TensorFlow 1.15, and the buckets
    told = histograms(sess, summary)
    assert list(told["bytes"].bucket) == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    np.testing.assert_allclose(
        list(told["bytes"].bucket_limit)[:5],
        [0.0, 1e-12, 7.466637793298873, 8.213301572628762, 14.550364747307786],
    )
    assert told["time"].num == 5 and told["time"].min >= 0
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(following)
    assert histograms(sess, summary)["bytes"].num == 5


def test_the_prefix_stands_before_the_names(sess):
    aggregator = E.StatsAggregator()
    dataset = filled(E.bytes_produced_stats("a")).repeat(2)
    dataset = tf.data.Dataset.zip((dataset, filled(E.bytes_produced_stats("b")).repeat()))
    dataset = with_aggregator(dataset, aggregator, prefix="pre", counter_prefix="count")
    iterator = tf.data.make_initializable_iterator(dataset)
    sess.run(iterator.initializer)
    following = iterator.get_next()
    for _ in range(10):
        sess.run(following)
    told = histograms(sess, aggregator.get_summary())
    assert {name: histo.num for name, histo in told.items()} == {"pre::a": 10, "pre::b": 10}


def test_without_an_aggregator_elements_are_the_same(sess):
    dataset = filled(E.latency_stats("time"), E.bytes_produced_stats("bytes"))
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    assert [len(sess.run(following)) for _ in range(5)] == list(range(5))


def test_texts_count_their_bytes_in_the_older_ops(sess):
    raw, kind = tf.raw_ops, {"output_types": [tf.string], "output_shapes": [[]]}
    handle = raw.ExperimentalStatsAggregatorHandle(shared_name="statistics")
    texts = tf.data.Dataset.from_tensor_slices(["a", "bcd"])
    variant = raw.ExperimentalBytesProducedStatsDataset(
        input_dataset=texts._variant_tensor, tag="x", **kind
    )
    variant = raw.ExperimentalLatencyStatsDataset(input_dataset=variant, tag="y", **kind)
    variant = raw.ExperimentalSetStatsAggregatorDataset(
        input_dataset=variant, stats_aggregator=handle, tag="", counter_prefix="", **kind
    )
    dataset = E.from_variant(variant, tf.TensorSpec([], tf.string))
    count = dataset.reduce(np.int64(0), lambda n, _: n + 1)
    assert sess.run(count) == 2
    again = raw.StatsAggregatorHandleV2(shared_name="statistics")
    told = histograms(sess, raw.ExperimentalStatsAggregatorSummary(iterator=again))
    assert (told["x"].sum, told["x"].num, told["y"].num) == (4, 2, 2)


def test_what_is_no_aggregator_is_refused(sess):
    dataset = tf.data.Dataset.range(3)
    kind = {"output_types": [tf.int64], "output_shapes": [[]]}
    other = tf.data.make_initializable_iterator(dataset)._iterator_resource
    variant = tf.raw_ops.SetStatsAggregatorDataset(
        input_dataset=dataset._variant_tensor,
        stats_aggregator=other,
        tag="",
        counter_prefix="",
        **kind,
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.raw_ops.DatasetCardinality(input_dataset=variant))
    with pytest.raises(TypeError):
        tf.data.Options().experimental_stats.aggregator = 3
    handle = tf.raw_ops.StatsAggregatorHandle()
    writer = tf.raw_ops.StatsAggregatorSetSummaryWriter(stats_aggregator=handle, summary=handle)
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(writer)
