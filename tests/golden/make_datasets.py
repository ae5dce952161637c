#!/usr/bin/env python3
"""Records pipelines of datasets: tests/golden/datasets/.

python tests/golden/make_datasets.py [NAME...], from the root of the repository, with 1.15 and with
TensorFlow 2; each writes its own programs, those of 1.15 with the suffix `_1_15`. NAME.pb is a
GraphDef with an iterator; the elements that TensorFlow gave are in it too, as constants named
`recorded/...`. programs.txt lists the programs as that of functions/ does: `program NAME`, then
`target NODE` and `fetch TENSOR CONSTANT`, or `fails TENSOR CODE` where the run fails (the end of
the elements is such a failure), and `run` before the next run in the same session.
"""

import gzip
import os
import sqlite3
import sys
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow
from tensorflow.python.data.ops import dataset_ops

V2 = tensorflow.__version__.startswith("2")
tf = tensorflow.compat.v1
data = tf.data
experimental = tf.data.experimental
Dataset = tf.data.Dataset
OUT = Path(__file__).resolve().parent / "datasets"
FILES = "tests/golden/datasets/files/"
PROGRAMS = {}
MOST = 40  # elements
# What TensorFlow 1.15 rewrites to another dataset, with another order, before it runs.
FUSED = ("shuffle_repeat",)


def program(build):
    """A program that gives a dataset."""
    PROGRAMS[build.__name__] = build
    return build


def each(**builds):
    for name, build in builds.items():
        PROGRAMS[name] = build


def of_op(name, types, shapes, **given):
    """The dataset that an op gives: `types` and `shapes` of its components, two lists."""

    class Source(dataset_ops.DatasetSource):
        def __init__(self):
            made = getattr(tensorflow.raw_ops, name)(
                output_types=types, output_shapes=[tf.TensorShape(x) for x in shapes], **given
            )
            super().__init__(made)

        @property
        def element_spec(self):
            specs = [tf.TensorSpec(s, t) for s, t in zip(shapes, types)]
            return specs[0] if len(specs) == 1 else tuple(specs)

        _element_structure = element_spec

    source = Source()
    return source if V2 else dataset_ops.DatasetV1Adapter(source)


def function(body, *signature):
    """A function of the graph, as an attribute takes it."""
    from tensorflow.python.framework import function as framework_function

    return framework_function.Defun(*signature)(body)


def generated():
    """Elements that a queue has, each after the number that the state is."""
    queue = tf.queue.FIFOQueue(10, tf.int64, [[]], shared_name="numbers")
    fill = queue.enqueue_many(np.array([4, 5, 6], np.int64))
    with tf.control_dependencies([fill]):
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, queue.close())

    def take(state, handle):
        taken = tensorflow.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.int64])
        return [state, taken[0]]

    return of_op(
        "GeneratorDataset", [tf.int64, tf.int64], [[], []],
        init_func_other_args=[np.int64(7)], next_func_other_args=[queue.queue_ref],
        finalize_func_other_args=[],
        init_func=function(lambda seven: [seven * 2], tf.int64),
        next_func=function(take, tf.int64, tf.resource),
        finalize_func=function(lambda state: [state], tf.int64),
    )


def parts_of(dataset):
    """Sparse tensors as their three parts."""
    return dataset.map(lambda x: (x.indices, x.values, x.dense_shape))


def like(dataset, name, **given):
    """The dataset that an op makes of another one, with elements that are of unknown shapes."""
    types = tf.nest.flatten(data.get_output_types(dataset))
    return of_op(name, types, [None] * len(types), input_dataset=dataset._variant_tensor, **given)


def rebatched(dataset, count):
    return like(dataset, "RebatchDataset", num_replicas=np.int64(count))


def resized(dataset, sizes, drop):
    return like(dataset, "RebatchDatasetV2", batch_sizes=np.array(sizes, np.int64),
                drop_remainder=drop)


def ends_at_six(dataset):
    """The elements below six; then the function is out of range, as a queue is that was closed."""
    queue = tf.queue.FIFOQueue(1, tf.int64, [[]], shared_name="closed")
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, queue.close())

    def body(x):
        return tf.cond(x < 6, lambda: x, lambda: tensorflow.raw_ops.QueueDequeueV2(
            handle=queue.queue_ref, component_types=[tf.int64])[0])

    return dataset.apply(experimental.map_and_batch(body, 4, num_parallel_calls=2))


r = Dataset.range
each(
    range_1=lambda: r(5),
    range_3=lambda: r(10, -5, -4),
    range_empty=lambda: r(3, 3),
    map_batch=lambda: r(10).map(lambda x: x + 1).batch(4),
    map_batch_drop=lambda: r(10).map(lambda x: x * x).batch(4, drop_remainder=True),
    map_two=lambda: r(4).map(lambda x: (x, tf.cast(x, tf.float32) / 2)),
    map_dict=lambda: r(4).map(lambda x: {"b": x, "a": tf.as_string(x)}),
    map_parallel=lambda: r(20).map(lambda x: x * 3, num_parallel_calls=4),
    map_captures=lambda: (lambda c: r(4).map(lambda x: x * c))(tf.constant(7, tf.int64)),
    map_strings=lambda: r(4).map(lambda x: tf.strings.join(["n", tf.as_string(x)])).batch(3),
    map_error=lambda: r(5).map(lambda x: 10 // (x - 2)),
    map_identity=lambda: r(5).map(lambda x: x),
    map_constant=lambda: r(3).map(lambda x: tf.constant([1, 2])),
    map_shapes=lambda: r(5).map(lambda x: tf.range(x)),
    map_cond=lambda: r(6).map(lambda x: tf.cond(x > 3, lambda: x * 10, lambda: -x)),
    map_while=lambda: r(6).map(
        lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [x * 0, x * 0])[1]
    ),
    tensors=lambda: Dataset.from_tensors((np.arange(3), "a")),
    slices=lambda: Dataset.from_tensor_slices(
        (np.arange(6, dtype=np.float32).reshape(3, 2), ["a", "bc", ""])
    ),
    slices_nested=lambda: Dataset.from_tensor_slices({"x": [1, 2], "y": ([True, False], [1.5, 2])}),
    slices_dtypes=lambda: Dataset.from_tensor_slices(
        tuple(
            np.array([0, 1, 2], t)
            for t in ("int8", "uint8", "int16", "uint16", "int32", "int64", "float16", "float64",
                      "bool", "complex64")
        )
    ).batch(2),
    slices_empty=lambda: Dataset.from_tensor_slices(np.zeros([0, 3], np.float32)),
    zip_2=lambda: Dataset.zip((r(5), r(10, 13))),
    zip_nested=lambda: Dataset.zip((r(3), Dataset.zip((r(4), r(5).map(tf.as_string))))),
    concatenate=lambda: r(3).concatenate(r(10, 12)).concatenate(r(1)),
    take=lambda: r(10).take(3),
    take_all=lambda: r(4).take(-1),
    take_none=lambda: r(4).take(0),
    take_more=lambda: r(4).take(9),
    skip=lambda: r(6).skip(4),
    skip_all=lambda: r(6).skip(-1),
    skip_more=lambda: r(6).skip(9),
    skip_take=lambda: r(20).skip(5).take(3),
    shard=lambda: r(10).shard(3, 1),
    enumerate_=lambda: r(3).map(tf.as_string).enumerate(5) if hasattr(Dataset, "enumerate")
    else r(3),
    repeat=lambda: r(3).repeat(2),
    repeat_none=lambda: r(3).repeat(0),
    repeat_forever=lambda: r(3).repeat().take(8),
    repeat_empty_forever=lambda: r(0).repeat(),
    repeat_batch=lambda: r(3).repeat(3).batch(4),
    batch_repeat=lambda: r(3).batch(2).repeat(2),
    filter_=lambda: r(10).filter(lambda x: tf.equal(x % 3, 0)),
    filter_two=lambda: Dataset.zip((r(5), r(5, 10))).filter(lambda a, b: a + b > 8),
    filter_none=lambda: r(5).filter(lambda x: x > 100),
    flat_map=lambda: r(4).flat_map(lambda x: r(x)),
    flat_map_tensors=lambda: r(3).flat_map(lambda x: Dataset.from_tensors(x).repeat(x)),
    flat_map_nested=lambda: r(4).flat_map(lambda x: r(x).flat_map(lambda y: r(y).map(
        lambda z: x * 100 + y * 10 + z))),
    flat_map_error=lambda: r(4).flat_map(lambda x: r(4 // (x - 2))),
    interleave=lambda: r(5).interleave(
        lambda x: Dataset.from_tensors(x).repeat(4), cycle_length=2, block_length=3
    ),
    interleave_uneven=lambda: r(6).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x % 4), cycle_length=3, block_length=2
    ),
    interleave_wide=lambda: r(3).interleave(
        lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=9
    ),
    interleave_parallel=lambda: r(6).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x + 1), cycle_length=3, block_length=2,
        num_parallel_calls=2,
    ),
    padded_batch=lambda: r(7).map(lambda x: tf.fill([x], x)).padded_batch(3, [None]),
    padded_batch_to=lambda: r(5).map(lambda x: tf.fill([x], x)).padded_batch(2, [6]),
    padded_batch_value=lambda: r(5)
    .map(lambda x: tf.fill([x, 2], tf.as_string(x)))
    .padded_batch(2, [None, 3], padding_values="-", drop_remainder=True),
    padded_batch_two=lambda: r(5)
    .map(lambda x: (tf.fill([x], x), tf.cast(x, tf.float32)))
    .padded_batch(2, ([None], []), padding_values=(tf.constant(-1, tf.int64), 0.0)),
    padded_batch_small=lambda: r(5).map(lambda x: tf.fill([x], x)).padded_batch(3, [2]),
    batch_unlike=lambda: r(5).map(lambda x: tf.fill([x // 2], x)).batch(2),
    unbatch=lambda: r(7).batch(3).apply(experimental.unbatch()),
    unbatch_two=lambda: Dataset.from_tensors(([1, 2, 3], [["a"], ["b"], ["c"]])).apply(
        experimental.unbatch()
    ),
    window=lambda: r(7).window(3).flat_map(lambda w: w.batch(3)),
    window_shift=lambda: r(7)
    .window(3, shift=1, drop_remainder=True)
    .flat_map(lambda w: w.batch(3)),
    window_stride=lambda: r(10).window(3, shift=2, stride=2).flat_map(lambda w: w.batch(3)),
    window_gap=lambda: r(10).window(2, shift=4).flat_map(lambda w: w.batch(3)),
    window_two=lambda: Dataset.zip((r(5), r(5, 10))).window(2).flat_map(
        lambda a, b: Dataset.zip((a.batch(2), b.batch(2)))
    ),
    group_by_window=lambda: r(12).apply(
        experimental.group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), window_size=3)
    ),
    group_by_window_size=lambda: r(20).apply(
        experimental.group_by_window(
            lambda x: x % 3, lambda k, w: w.batch(10), window_size_func=lambda k: k + 2
        )
    ),
    bucket=lambda: r(12).map(lambda x: tf.fill([x % 7], x)).apply(
        experimental.bucket_by_sequence_length(lambda x: tf.size(x), [2, 5], [3, 2, 2])
    ),
    scan=lambda: r(6).apply(experimental.scan(tf.constant(100, tf.int64), lambda s, x: (s + x, s))),
    scan_two=lambda: r(6).apply(
        experimental.scan((np.int64(0), np.int64(1)), lambda s, x: ((s[1], s[0] + s[1]), s[0]))
    ),
    take_while=lambda: r(10).apply(experimental.take_while(lambda x: x < 4)),
    unique=lambda: Dataset.from_tensor_slices([3, 1, 3, 2, 1, 7]).apply(experimental.unique()),
    unique_strings=lambda: Dataset.from_tensor_slices(["a", "b", "a", "", ""]).apply(
        experimental.unique()
    ),
    shuffle=lambda: r(20).shuffle(5, seed=3),
    shuffle_all=lambda: r(20).shuffle(100, seed=17),
    shuffle_repeat=lambda: r(6).shuffle(4, seed=9).repeat(3),
    shuffle_fixed_repeat=lambda: r(6).shuffle(4, seed=9, reshuffle_each_iteration=False).repeat(3),
    shuffle_and_repeat=lambda: r(6).apply(experimental.shuffle_and_repeat(4, 3, seed=9)),
    shuffle_one=lambda: r(6).shuffle(1, seed=1),
    shuffle_batch=lambda: r(9).shuffle(4, seed=5).batch(2).prefetch(1),
    random=lambda: experimental.RandomDataset(seed=42).take(6),
    prefetch=lambda: r(5).prefetch(2),
    cache=lambda: r(4).map(lambda x: x * 2).cache().repeat(3),
    cache_map=lambda: r(4).cache().map(lambda x: x + 1).batch(3).repeat(2),
    ignore_errors=lambda: r(6)
    .map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "bad"))
    .apply(experimental.ignore_errors()),
    map_and_batch=lambda: r(10).apply(
        experimental.map_and_batch(lambda x: (x, x * x), 4, drop_remainder=False)
    ),
    sample=lambda: experimental.sample_from_datasets(
        [r(0, 8), r(100, 108), r(200, 208)], weights=[0.5, 0.3, 0.2], seed=4
    ),
    choose=lambda: experimental.choose_from_datasets(
        [r(0, 3), r(10, 13), r(20, 23)], Dataset.from_tensor_slices(
            np.array([0, 1, 2, 2, 2, 2, 0, 1, 0, 0, 1], np.int64))
    ),
    reduce=lambda: Dataset.from_tensors(
        r(10).reduce(np.int64(0), lambda s, x: s + x)
    ),
    reduce_two=lambda: Dataset.from_tensors(
        r(5).reduce((np.int64(0), "s"), lambda s, x: (s[0] + x, tf.strings.join(
            [s[1], tf.as_string(x)])))
    ),
    single_element=lambda: Dataset.from_tensors(
        experimental.get_single_element(r(7).skip(6))
    ),
    cardinality=lambda: Dataset.from_tensors(
        tf.stack(
            [
                experimental.cardinality(d)
                for d in (
                    r(7), r(7).batch(2), r(7).batch(2, drop_remainder=True), r(3).repeat(),
                    r(3).repeat(4), r(7).filter(lambda x: x > 2), r(7).take(3), r(7).skip(3),
                    r(7).skip(9), r(7).concatenate(r(2)), Dataset.zip((r(7), r(3))),
                    r(7).shuffle(3), r(7).shard(3, 0), r(7).flat_map(r),
                    Dataset.from_tensors(1), Dataset.from_tensor_slices([1, 2]),
                )
            ]
        )
    ),
    lines=lambda: data.TextLineDataset([FILES + "lines.txt", FILES + "more.txt"]),
    lines_skip=lambda: data.TextLineDataset(FILES + "lines.txt").skip(1).map(tf.strings.length),
    lines_zlib=lambda: data.TextLineDataset(FILES + "lines.gz", "GZIP"),
    lines_missing=lambda: data.TextLineDataset(FILES + "missing.txt"),
    records=lambda: data.TFRecordDataset([FILES + "a.tfrecord", FILES + "b.tfrecord"]),
    records_zlib=lambda: data.TFRecordDataset(FILES + "z.tfrecord", "ZLIB"),
    records_damaged=lambda: data.TFRecordDataset(FILES + "damaged.tfrecord"),
    records_interleave=lambda: Dataset.from_tensor_slices(
        [FILES + "a.tfrecord", FILES + "b.tfrecord"]
    ).interleave(data.TFRecordDataset, cycle_length=2),
    records_parallel=lambda: data.TFRecordDataset(
        [FILES + "a.tfrecord", FILES + "b.tfrecord"], num_parallel_reads=2
    ),
    fixed=lambda: data.FixedLengthRecordDataset(FILES + "fixed.bin", 4, header_bytes=2,
                                                footer_bytes=3),
    fixed_partial=lambda: data.FixedLengthRecordDataset(FILES + "fixed.bin", 4),
    fixed_gzip=lambda: data.FixedLengthRecordDataset(
        FILES + "fixed.gz", 4, header_bytes=2, footer_bytes=3, compression_type="GZIP"
    ),
    csv=lambda: csv("a.csv", ["", 0, 1.5, tf.int64], header=True),
    csv_lines=lambda: csv("lines.csv", ["", ""]),
    csv_no_quotes=lambda: csv("lines.csv", [""], use_quote_delim=False),
    csv_tabs=lambda: csv("tabs.csv", [0, ""], field_delim="\t", na_value="NA"),
    csv_some=lambda: csv("a.csv", [7.0, tf.int64], select_cols=[2, 3], header=True),
    csv_few=lambda: csv("a.csv", ["", 0, 1.5], header=True),
    csv_many=lambda: csv("tabs.csv", ["", "", ""], field_delim="\t"),
    csv_two=lambda: experimental.CsvDataset(
        [FILES + "tabs.csv", FILES + "b.csv"], [tf.string], field_delim=";"),
    csv_gzip=lambda: csv("b.gz", [0, 0], compression_type="GZIP"),
    csv_missing=lambda: csv("missing.csv", [0]),
    csv_shuffled=lambda: csv("b.csv", [0, 0]).repeat(2).shuffle(4, seed=3).batch(3),
    sql=lambda: experimental.SqlDataset(
        "sqlite", FILES + "a.sqlite", "SELECT * FROM people ORDER BY id",
        (tf.int64, tf.string, tf.float64, tf.bool, tf.int8)),
    sql_some=lambda: experimental.SqlDataset(
        "sqlite", FILES + "a.sqlite", "SELECT name, id FROM people WHERE id > 1 ORDER BY id",
        (tf.string, tf.uint16)).repeat(2),
    sql_columns=lambda: experimental.SqlDataset(
        "sqlite", FILES + "a.sqlite", "SELECT name FROM people", (tf.string, tf.int32)),
    sql_wrong=lambda: experimental.SqlDataset(
        "sqlite", FILES + "a.sqlite", "SELECT name FROM nobody", (tf.string,)),
    list_files=lambda: Dataset.list_files(FILES + "*.t*", shuffle=False),
    parse_single=lambda: data.TFRecordDataset(FILES + "examples.tfrecord").map(
        lambda s: tf.io.parse_single_example(
            s, {"x": tf.FixedLenFeature([2], tf.float32), "n": tf.FixedLenFeature([], tf.int64, -1)}
        )
    ),
    variables=lambda: (
        lambda v: r(3).map(lambda x: x + v)
    )(tf.get_variable("v", initializer=np.int64(5), use_resource=True)),
    table=lambda: (
        lambda t: Dataset.from_tensor_slices(["b", "a", "z"]).map(t.lookup)
    )(tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], np.array([1, 2], np.int64)), -1)),
    rejection=lambda: Dataset.from_tensor_slices([0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1])
    .map(lambda x: (x, x))
    .filter(lambda c, x: x > 0),
    options=lambda: r(5).with_options(data.Options()),
    generator=lambda: generated(),
    map_out_of_range=lambda: r(8).map(lambda x: tf.gather([x], [x // 5])).map(
        lambda x: tf.squeeze(x)),
    group_by_reducer=lambda: r(11).apply(
        experimental.group_by_reducer(
            lambda x: (x * 7 + 3) % 4,
            experimental.Reducer(
                lambda key: (key * 100, np.int64(0)),
                lambda state, x: (state[0] + x, state[1] + 1),
                lambda total, count: (total, count),
            ),
        )
    ),
    sliding=lambda: of_op(
        "SlidingWindowDataset", [tf.int64], [[None]], input_dataset=r(10)._variant_tensor,
        window_size=3, window_shift=2, window_stride=2,
    ),
    sliding_old=lambda: of_op(
        "ExperimentalSlidingWindowDataset", [tf.int64], [[None]],
        input_dataset=r(10)._variant_tensor, window_size=3, window_shift=2, window_stride=1,
    ),
    fastest=lambda: of_op(
        "ChooseFastestDataset", [tf.int64], [[]], num_experiments=2,
        input_datasets=[r(4).map(lambda x: x + 1)._variant_tensor, r(1, 5)._variant_tensor],
    ),
    fastest_old=lambda: of_op(
        "ExperimentalChooseFastestDataset", [tf.int64], [[]], num_experiments=1,
        input_datasets=[r(3)._variant_tensor, r(0, 3)._variant_tensor],
    ),
    threads=lambda: like(
        r(5).map(lambda x: x * 2, num_parallel_calls=2), "ThreadPoolDataset",
        thread_pool=tensorflow.raw_ops.ThreadPoolHandle(
            num_threads=2, display_name="own", shared_name="own"),
    ),
    threads_old=lambda: like(
        r(4), "ExperimentalThreadPoolDataset",
        thread_pool=tensorflow.raw_ops.ExperimentalThreadPoolHandle(
            num_threads=1, display_name="own", shared_name="own"),
    ),
    map_and_batch_parallel=lambda: r(23).apply(
        experimental.map_and_batch(lambda x: (x, tf.as_string(x)), 4, num_parallel_calls=3)
    ),
    map_and_batch_drops=lambda: r(9).apply(
        experimental.map_and_batch(
            lambda x: x - 1, 4, drop_remainder=True, num_parallel_calls=experimental.AUTOTUNE)
    ),
    map_and_batch_ends=lambda: ends_at_six(r(9)),
    list_=lambda: of_op(
        "ListDataset", [tf.int32, tf.string], [[], [None]],
        tensors=[tf.constant(1), tf.constant(["a"]), tf.constant(2), tf.constant(["b", "c"])],
    ),
    sampling=lambda: of_op(
        "SamplingDataset", [tf.int64], [[]], input_dataset=r(60)._variant_tensor, rate=0.4,
        seed=np.int64(3), seed2=np.int64(8),
    ),
    sleep=lambda: of_op(
        "SleepDataset" if V2 else "ExperimentalSleepDataset", [tf.int64], [[]],
        input_dataset=r(3)._variant_tensor, sleep_microseconds=np.int64(10),
    ),
    sparse_batch=lambda: parts_of(
        r(5).map(lambda x: tf.reshape(tf.range(2 * x), [2, x]))
        .apply(experimental.dense_to_sparse_batch(3, [3, 4]))
    ),
    sparse_batch_any=lambda: parts_of(
        r(5).map(lambda x: tf.fill([x], tf.as_string(x)))
        .apply(experimental.dense_to_sparse_batch(2, [None]))
    ),
    sparse_batch_large=lambda: parts_of(
        r(7).map(lambda x: tf.fill([x % 4], x)).apply(experimental.dense_to_sparse_batch(3, [2]))
    ),
    sparse_batch_rank=lambda: parts_of(
        r(4).map(lambda x: tf.fill([x], x)).apply(experimental.dense_to_sparse_batch(3, [2, 2]))
    ),
    rebatch=lambda: rebatched(r(22).batch(10), 4),
    rebatch_few=lambda: rebatched(r(5).batch(3), 5),
    rebatch_two=lambda: rebatched(Dataset.zip((r(7).batch(4), r(14).batch(8))), 3),
    rebatch_scalars=lambda: rebatched(r(3), 2),
    rebatch_sizes=lambda: resized(r(23).batch(7), [3, 5], False),
    rebatch_sizes_drop=lambda: resized(r(23).batch(7), [10], True),
    rebatch_sizes_none=lambda: resized(r(9).batch(4), [2, 0, 3], False),
    rebatch_sizes_end=lambda: resized(r(4).batch(4), [2, 2, 0], False),
    rebatch_sizes_part=lambda: resized(r(4).batch(4), [2, 3, 0], False),
    rebatch_sizes_first=lambda: resized(r(4).batch(4), [0, 3], False),
    rebatch_sizes_two=lambda: resized(
        Dataset.zip((r(8), r(8).map(tf.as_string))).batch(3), [4], False
    ),
    rebatch_sizes_unlike=lambda: resized(
        Dataset.zip((r(8).batch(3), r(8).batch(4))), [4], False
    ),
    rebatch_sizes_scalars=lambda: resized(r(3), [2], False),
    random_each=lambda: of_op(
        "RandomDatasetV2", [tf.int64], [[]], seed=np.int64(5), seed2=np.int64(6),
        seed_generator=tensorflow.raw_ops.DummySeedGenerator(), rerandomize_each_iteration=True,
    ).take(3).repeat(3),
    random_same=lambda: of_op(
        "RandomDatasetV2", [tf.int64], [[]], seed=np.int64(5), seed2=np.int64(6),
        seed_generator=tensorflow.raw_ops.DummySeedGenerator(), rerandomize_each_iteration=False,
    ).take(3).repeat(2),
)


def make_files():
    folder = OUT / "files"
    if folder.exists():
        return
    folder.mkdir(parents=True)
    (folder / "lines.txt").write_bytes(b"one\r\ntwo\n\nfour without an end")
    (folder / "more.txt").write_bytes(b"five\n")
    import gzip

    (folder / "lines.gz").write_bytes(gzip.compress(b"one\ntwo\n", mtime=0))
    fixed = b"hh" + b"abcdefghijkl" + b"fff"
    (folder / "fixed.bin").write_bytes(fixed)
    (folder / "fixed.gz").write_bytes(gzip.compress(fixed, mtime=0))

    def write(name, records, kind=""):
        with tf.python_io.TFRecordWriter(str(folder / name), kind) as writer:
            for record in records:
                writer.write(record)

    write("a.tfrecord", [b"a%d" % i for i in range(5)])
    write("b.tfrecord", [b"b%d" % i for i in range(3)])
    write("z.tfrecord", [b"z" * i for i in range(3)],
          tf.python_io.TFRecordCompressionType.ZLIB if False else
          tf.python_io.TFRecordOptions("ZLIB"))
    whole = (folder / "a.tfrecord").read_bytes()
    (folder / "damaged.tfrecord").write_bytes(whole[:30] + b"!" + whole[31:])
    examples = []
    for i in range(3):
        e = tf.train.Example()
        e.features.feature["x"].float_list.value.extend([i, i / 2])
        if i != 1:
            e.features.feature["n"].int64_list.value.append(i)
        examples.append(e.SerializeToString())
    write("examples.tfrecord", examples)


def make_tables():
    def put(name, data):
        (OUT / "files" / name).write_bytes(data)

    put("a.csv", b'name,n,x,id\nanne,1,0.5,7\n"be,n",,,8\nclaire,x,2,9\nd,4,2,\n"e""f",5,nan,10')
    put("lines.csv", b'"one\ntwo",x\r\n"three\r\nfour","y"\rfive,\n'
        b'"six"x,y\nse"ven,y\n,\n"open,z')
    put("tabs.csv", b"1\ta\nNA\tNA\n3\n\n4\tb\tc\n5\td\n")
    put("b.csv", b"1,2\n3,4\n5,6\n7,8\n")
    if not (OUT / "files" / "b.gz").exists():
        put("b.gz", gzip.compress(b"1,2\n3,4\n"))
    path = OUT / "files" / "a.sqlite"
    if path.exists():
        return
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE people (id INT, name TEXT, x REAL, b INT, n INT)")
        for row in (1, "anne", 0.5, 1, 100), (2, "ben", -2.25, 0, 300), (3, None, None, None, None):
            database.execute("INSERT INTO people VALUES (?, ?, ?, ?, ?)", row)


def make_cache():
    """The files of a cache, as TensorFlow writes them: of 12 components."""
    prefix = str(OUT / "files" / "cache")
    if Path(prefix + ".index").exists():
        return
    with tf.Graph().as_default(), tf.Session() as session:
        kept = Dataset.range(11).map(lambda x: (x, tf.as_string(x)) + (x,) * 10).cache(prefix)
        element = tf.data.make_one_shot_iterator(kept).get_next()
        for _ in range(11):
            session.run(element)
        try:
            session.run(element)
        except tf.errors.OutOfRangeError:
            pass


def make_saved():
    """Datasets that TensorFlow 2 saved, and a snapshot of it, under known names."""
    folder = OUT / "files" / "saved"
    if folder.exists():
        return
    kept = tensorflow.data.Dataset.range(5).map(lambda x: (x, tf.as_string(x)))
    kept.save(str(folder / "plain"))
    kept.save(str(folder / "gzip"), compression="GZIP")
    kept.save(str(folder / "shards"), shard_func=lambda x, _: x % 3)
    list(kept.snapshot(str(folder / "snapshot"), shard_func=lambda x, _: x % 2))


def make_variants():
    """Files of TensorFlow 2 whose elements are variants, and the messages of these."""
    folder = OUT / "files" / "variants"
    if folder.exists():
        return
    rows = tf.ragged.constant([[[1], [2, 3]], [[4], []]], inner_shape=())
    words = tf.ragged.constant([["ab", "c"], []])
    sparse = tf.sparse.from_dense([[0, 1.5], [2.5, 0]])
    numbered = tensorflow.data.Dataset.range(2)
    kept = tensorflow.data.Dataset.from_tensor_slices((rows, words, sparse)).map(
        lambda row, word, part: (
            row, word, part, tensorflow.experimental.Optional.from_value(word),
            tensorflow.experimental.Optional.empty(tensorflow.TensorSpec([], "int32")),
        )
    )  # fmt: skip
    kept = tensorflow.data.Dataset.zip((kept, numbered))
    kept.save(str(folder / "saved"))
    list(kept.cache(str(folder / "cache")))
    (shard,) = folder.glob("saved/*/*/*.snapshot")
    for i, record in enumerate(tensorflow.data.TFRecordDataset(str(shard))):
        if i < 6:
            (folder / ("%d.tensor" % i)).write_bytes(record.numpy())
    shape = tf.constant([-1], tf.int32)
    array = tensorflow.raw_ops.TensorListReserve(
        element_shape=shape, num_elements=3, element_dtype="int32"
    )
    array = tensorflow.raw_ops.TensorListSetItem(
        input_handle=array, index=1, item=tf.constant([1, 2])
    )
    nested = tensorflow.raw_ops.OptionalFromValue(components=[array])
    for name, value in {"list": array, "nested": nested}.items():
        message = tf.io.serialize_tensor(value).numpy()
        (folder / (name + ".tensor")).write_bytes(message)


def csv(name, defaults, **options):
    return experimental.CsvDataset(FILES + name, defaults, **options)


def record(name, build):
    """The program as lines of programs.txt; writes its graph."""
    graph = tf.Graph()
    label = name if V2 else name + "_1_15"
    lines = ["program " + label]
    with graph.as_default(), tf.Session(graph=graph) as session:
        tf.set_random_seed(1)
        dataset = build()
        iterator = tf.data.make_initializable_iterator(dataset)
        with tf.control_dependencies([tf.global_variables_initializer(), tf.tables_initializer()]):
            ready = tf.no_op()
        tf.group(iterator.initializer, name="begin_pipeline")
        tf.group(ready, name="make_ready")
        outs = [
            tf.identity(t, name="out_%d" % i)
            for i, t in enumerate(tf.nest.flatten(iterator.get_next()))
        ]
        session.run("make_ready")
        lines += ["target make_ready", "run"]
        try:
            session.run("begin_pipeline")
            error = None
        except tf.errors.OpError as e:
            error = e.error_code
        if error is not None:
            print("  init fails:", name, error)
            return []
        lines.append("target begin_pipeline")
        for number in range(MOST):
            lines.append("run")
            try:
                values = session.run(outs)
            except tf.errors.OpError as e:
                lines.append("fails out_0:0 %d" % e.error_code)
                if e.error_code == tf.errors.OUT_OF_RANGE:
                    break
                continue
            with tf.name_scope("recorded/%d/" % number):
                for i, value in enumerate(values):
                    kept = tf.constant(value, outs[i].dtype, name="out_%d" % i)
                    lines.append("fetch out_%d:0 %s" % (i, kept.name))
        message = graph.as_graph_def().SerializeToString(deterministic=True)
        (OUT / (label + ".pb")).write_bytes(message)
    return lines


def main():
    OUT.mkdir(exist_ok=True)
    make_files()
    make_tables()
    make_cache()
    listing = OUT / "programs.txt"
    known, name = {}, None
    for line in listing.read_text().splitlines() if listing.exists() else []:
        if line.startswith("program "):
            name = line.split()[1]
            known[name] = []
        known[name].append(line)
    for name in sys.argv[1:] or list(PROGRAMS):
        if not V2 and name in FUSED:
            continue
        try:
            lines = record(name, PROGRAMS[name])
        except Exception as e:  # what this version does not have
            print("  not recorded:", name, type(e).__name__, str(e)[:150])
            continue
        if lines:
            known[lines[0].split()[1]] = lines
    listing.write_text("".join(line + "\n" for key in sorted(known) for line in known[key]))


if V2:
    make_saved()
    make_variants()
    tf.disable_eager_execution()
main()
