"""Small eager programs of tf.data: what each prints is recorded from TensorFlow and printed here.

`PROGRAMS` is {name: source}. A source sees `tf`, `np`, `D` (tf.data.Dataset) and `show`, which
prints the elements of a dataset.
"""

import numpy as np

_WRITTEN = """
== range
show(D.range(5), D.range(2, 5), D.range(5, 0, -2))
== elements_are_tensors
for x in D.range(3):
    print(x)
== rows_of_array
ds = D.from_tensor_slices(np.arange(6.0).reshape(3, 2))
print(ds.element_spec)
show(ds)
== rows_of_dict
ds = D.from_tensor_slices({"a": np.array([1, 2, 3]), "b": [b"x", b"y", b"z"]})
print(ds.element_spec)
for element in ds.batch(2):
    print(sorted(element), element["a"], element["b"])
== rows_of_tuple
for x, (y, z) in D.from_tensor_slices(([1, 2], ([3.0, 4.0], ["a", "b"]))):
    print(x, y, z)
== rows_of_eager_tensor
show(D.from_tensor_slices(tf.constant([[1, 2], [3, 4]])))
== iterator
it = iter(D.range(3))
print(next(it), it.get_next(), it.element_spec, isinstance(it, tf.data.Iterator))
print(next(it), next(it, "end"))
== get_next_behind_the_end
it = iter(D.range(0))
try:
    it.get_next()
except tf.errors.OutOfRangeError as error:
    print(type(error).__name__)
== iterator_as_optional
it = iter(D.range(1))
one, none = it.get_next_as_optional(), it.get_next_as_optional()
print(one.has_value(), one.get_value(), none.has_value())
== numpy_iterator
it = D.range(2).as_numpy_iterator()
print(it.next(), next(it), list(it), type(it) is tf.data.NumpyIterator)
== iterates_anew
ds = D.range(3)
print([int(x) for x in ds], [int(x) for x in ds])
== length
print(len(D.range(7)), len(D.range(7).batch(2)), bool(D.range(0)))
== length_unknown
for ds in (D.range(7).filter(lambda x: x > 1), D.range(7).repeat()):
    try:
        len(ds)
    except TypeError as error:
        print(error)
== cardinality
print(D.range(7).cardinality().numpy(), D.range(7).repeat().cardinality().numpy())
print(D.range(7).repeat().cardinality() == tf.data.INFINITE_CARDINALITY)
print(D.range(7).filter(lambda x: x > 1).cardinality() == tf.data.UNKNOWN_CARDINALITY)
== map
show(D.range(4).map(lambda x: x * x), D.range(4).map(lambda x: x + 1, num_parallel_calls=2))
== map_autotune
show(D.range(4).map(lambda x: -x, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
== map_to_structure
for element in D.range(2).map(lambda x: {"x": x, "pair": (x, x * 2)}):
    print(element)
== map_with_branches
def change(x):
    if x % 2 == 0:
        return x
    else:
        return -x
show(D.range(6).map(change))
== map_with_loop
def total(x):
    s = tf.constant(0, tf.int64)
    for i in tf.range(x):
        s += i
    return s
show(D.range(6).map(total))
== map_captures_tensor
c = tf.constant(10, tf.int64)
show(D.range(3).map(lambda x: x + c))
== map_captures_variable
v = tf.Variable(2, dtype=tf.int64)
ds = D.range(3).map(lambda x: x * v)
show(ds)
v.assign(5)
show(ds)
== map_changes_variable
v = tf.Variable(0, dtype=tf.int64)
show(D.range(4).map(lambda x: v.assign_add(x)))
print(v.numpy())
== map_of_function
@tf.function
def double(x):
    return x * 2
show(D.range(3).map(double))
== map_numpy_function
show(D.range(3).map(lambda x: tf.numpy_function(lambda a: a + 1, [x], tf.int64)))
== filter
show(D.range(8).filter(lambda x: x % 3 == 0), D.range(8).take_while(lambda x: x < 3))
== flat_map
show(D.range(3).flat_map(lambda x: D.range(x)))
== interleave
show(D.range(3).interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=2))
== batch
show(D.range(5).batch(2), D.range(5).batch(2, drop_remainder=True))
print(D.range(5).batch(2).element_spec, D.range(5).batch(2, drop_remainder=True).element_spec)
== padded_batch
show(D.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(3, padded_shapes=[4]))
== unbatch
show(D.range(5).batch(3).unbatch())
== window
for window in D.range(5).window(2, shift=1, drop_remainder=True):
    show(window)
== zip_concatenate_enumerate
show(D.zip((D.range(2), D.range(5, 7))), D.zip(D.range(2), D.range(3)))
show(D.range(2).concatenate(D.range(3)), D.from_tensor_slices([4.0, 5.0]).enumerate(start=3))
== order
show(D.range(6).skip(1).take(4), D.range(2).repeat(2), D.range(7).shard(3, 1))
== shuffle
print(sorted(x.item() for x in D.range(10).shuffle(4, seed=1).as_numpy_iterator()))
== cache
show(D.range(3).cache().repeat(2))
== reduce
print(D.range(5).reduce(np.int64(0), lambda a, b: a + b))
print(D.range(5).reduce((np.int64(0), 1.0), lambda s, x: (s[0] + x, s[1] * 2.0)))
== scan
show(D.range(5).scan(np.int64(0), lambda s, x: (s + x, s + x)))
== single_element
print(D.from_tensors((1, 2.5)).get_single_element())
for ds in (D.range(2), D.range(0)):
    try:
        ds.get_single_element()
    except tf.errors.InvalidArgumentError as error:
        print(type(error).__name__)
== generator
def gen():
    for i in range(3):
        yield i, [i] * i
spec = tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.int32)
ds = D.from_generator(gen, output_signature=spec)
print(ds.element_spec)
show(ds, ds)
== generator_with_args
show(D.from_generator(lambda n: range(n), tf.int64, args=[4]))
== group_by_window
show(D.range(6).group_by_window(lambda x: x % 2, lambda k, ds: ds.batch(3), window_size=3))
== bucket
ds = D.from_tensor_slices([1, 3, 2, 5]).map(lambda n: tf.ones([n], tf.int32))
show(ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2]))
== apply_and_unique
show(D.from_tensor_slices([1, 2, 1, 3]).apply(lambda ds: ds.unique()))
== sparse_elements
ds = D.from_tensors(tf.sparse.from_dense([[0, 1], [2, 0]]))
print(ds.element_spec)
for x in ds:
    print(tf.sparse.to_dense(x))
== ragged_elements
for x in D.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])):
    print(x)
== strings
show(D.from_tensor_slices(["a b", "c"]).map(tf.strings.upper))
== in_function
@tf.function
def total(ds):
    s = tf.constant(0, tf.int64)
    for x in ds:
        s += x
    return s
print(total(D.range(5)), total(D.range(7)), total.experimental_get_tracing_count())
== break_in_function
@tf.function
def first_above(ds):
    s = tf.constant(0, tf.int64)
    for x in ds:
        s += x
        if s > 5:
            break
    return s
print(first_above(D.range(10)))
== made_in_function
@tf.function
def squares():
    s = tf.constant(0, tf.int64)
    for x in D.range(4).map(lambda x: x * x):
        s += x
    return s
print(squares())
== iterator_in_function
@tf.function
def step(it):
    return next(it) + 100
it = iter(D.range(5))
print(step(it), step(it), next(it), step.experimental_get_tracing_count())
== iterator_for_loop_in_function
@tf.function
def rest(it):
    s = tf.constant(0, tf.int64)
    for x in it:
        s += x
    return s
it = iter(D.range(5))
next(it)
print(rest(it), next(it, "end"))
== iterator_loop_breaks
@tf.function
def some(it):
    s = tf.constant(0, tf.int64)
    for x in it:
        s += x
        if x > 1:
            break
    return s
it = iter(D.range(6))
print(some(it), next(it))
== iterator_captured
it = iter(D.range(6))
@tf.function
def two():
    return next(it), next(it)
print(two(), two())
== steps_of_training
w = tf.Variable([0.0])
for x in D.from_tensor_slices([1.0, 2.0, 3.0]).batch(1):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((w - x) ** 2)
    w.assign_sub(0.25 * tape.gradient(loss, w))
print(w.numpy())
== not_for_arrays
try:
    D.range(4).window(2).as_numpy_iterator()
except TypeError as error:
    print("TypeError")
== options
options = tf.data.Options()
options.deterministic = True
print(D.range(2).with_options(options).options().deterministic)
== choose_and_sample
show(D.choose_from_datasets([D.range(3), D.range(10, 13)], D.range(4).map(lambda x: x % 2)))
show(D.sample_from_datasets([D.range(3), D.range(10, 13)], weights=[1.0, 0.0]))
== counter
show(D.counter(2, 3).take(3))
== random_numbers_begin_anew_for_each_iterator
tf.random.set_seed(5)
r = lambda ds: print([round(float(x), 5) for x in ds])
u = lambda x: tf.random.uniform([], seed=1)
ds = D.range(3).map(u)
r(ds), r(ds), r(ds.repeat(2))
one, two = iter(ds), iter(ds)
r([next(i) for i in (one, two, one, two)])
ds = D.range(2).flat_map(lambda y: D.range(2).map(u))
r(ds), r(ds)
f = tf.function(lambda: tf.random.uniform([], seed=3))
ds = D.range(3).map(lambda x: f() + u(x)).prefetch(2)
r(ds), r(ds), r(ds.repeat(2))
ds = D.range(4).map(lambda x: tf.cond(x > 1, lambda: u(x), lambda: tf.random.normal([], seed=1)))
r(ds), r(ds)
show(*[D.range(5).filter(lambda x: tf.random.uniform([], seed=1) > 0.5)] * 2)
print(round(float(ds.reduce(0.0, lambda s, x: s + x + u(x))), 5))
== generators_of_iterators
log = []
def numbers():
    log.append("begin")
    try:
        yield from range(4)
    finally:
        log.append("end")
def told():
    print(log)
    log.clear()
ds = D.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))
show(ds, ds.repeat(2), ds.take(2), D.zip((ds, ds)), ds.cache().repeat(2)), told()
one, two = iter(ds), iter(ds)
print([int(next(i)) for i in (one, two, one, two)]), told()
del one
told()
del two
told()
== zip_goes_on_behind_errors
one = D.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
one = one.map(lambda x: tf.debugging.check_numerics(1.0 / x, "no number"))
show(D.zip((one, D.range(4))).ignore_errors(), D.zip((D.range(4), one)).ignore_errors())
== ranges_are_elements
print(D.from_tensors(range(4)).element_spec, D.from_tensor_slices(range(2, 5)).element_spec)
show(D.from_tensor_slices(range(2, 5)))
== paths_of_files
import pathlib, tempfile
path = pathlib.Path(tempfile.mkdtemp()) / "lines"
path.write_bytes(bytes([97, 10, 98, 10]))
show(tf.data.TextLineDataset(path), tf.data.TextLineDataset([path, path]))
show(tf.data.FixedLengthRecordDataset([path], 2))
== elements_by_number
def at(dataset, *numbers):
    for number in numbers:
        try:
            element = tf.data.experimental.at(dataset, number)
            print([np.asarray(t.numpy()).tolist() for t in tf.nest.flatten(element)])
        except tf.errors.OpError as error:
            print(type(error).__name__)
at(D.range(2, 9, 3), 0, 2, 3, -1)
at(D.from_tensors([1, 2]), 0, 1)
at(D.from_tensor_slices((["a", "b"], [[1], [2]])), 1, 2)
at(D.range(10).batch(4), 0, 2, 3)
at(D.range(10).batch(4, drop_remainder=True), 1, 2)
at(D.range(5).map(lambda x: (x, x * x)), 3)
at(D.range(5).map(lambda x: x * x, num_parallel_calls=2), 3)
at(D.range(5).shard(2, 1), 0, 1, 2)
at(D.zip(D.range(4), D.range(5, 8)), 2, 3)
at(D.range(3).concatenate(D.range(5, 7)), 2, 3, 5)
at(D.range(9).skip(2).take(3), 0, 2, 3)
at(D.range(5).cache().prefetch(2).with_options(tf.data.Options()), 4, 5)
at(D.range(5).filter(lambda x: x > 1), 0)
at(D.range(5).repeat(), 0)
at(D.range(5).interleave(D.range), 0)
== lists_of_elements
from_list = tf.data.experimental.from_list
for elements in ([1, 2, 3], [(1, "a"), (2, "b")], [{"x": [1.0]}, {"x": [2.0]}]):
    ds = from_list(elements)
    print(ds.element_spec, ds.cardinality().numpy())
    show(ds)
print(from_list([[1], [2, 3]]).element_spec)
for wrong in ([], (1, 2), [(1, 2), 3]):
    try:
        from_list(wrong)
    except (ValueError, TypeError) as error:
        print(type(error).__name__)
== padded_to_a_number
ds = D.range(1, 3).map(lambda x: {"a": x, "b": tf.fill([2], x)})
for x in ds.apply(tf.data.experimental.pad_to_cardinality(4, "real")):
    print(x["a"].numpy(), x["b"].numpy(), x["real"].numpy())
for wrong in (ds.repeat(), ds.repeat(3), D.range(3)):
    try:
        wrong.apply(tf.data.experimental.pad_to_cardinality(4))
    except ValueError:
        print("refused")
== tables_of_datasets
E = tf.data.experimental
pairs = D.from_tensor_slices((["a", "b", "c"], np.arange(3)))
table = tf.lookup.StaticHashTable(E.DatasetInitializer(pairs), -1)
print(table.lookup(tf.constant(["c", "x", "a"])).numpy(), table.size().numpy())
numbers = D.from_tensor_slices(([7, 8], ["x", "y"]))
table = E.table_from_dataset(numbers, key_dtype=tf.int32, default_value="?")
print(table.lookup(tf.constant([8, 9])).numpy())
words = D.from_tensor_slices(["u", "v", "w"])
table = E.index_table_from_dataset(words, num_oov_buckets=3)
print(table.lookup(tf.constant(["w", "nobody", "u"])).numpy(), table.size().numpy())
table = E.index_table_from_dataset(words, vocab_size=2)
print(table.lookup(tf.constant(["w", "v"])).numpy())
for ds, more in ((pairs, {"num_oov_buckets": -1}), (pairs, {"vocab_size": 0}),
                 (pairs.batch(2), {})):
    try:
        E.table_from_dataset(ds, **more)
    except (ValueError, TypeError) as error:
        print(type(error).__name__)
other = pairs.concatenate(D.from_tensor_slices((["a"], np.array([9]))))
for ds in (other, pairs.repeat(2), pairs.take(0)):
    try:
        print(tf.lookup.StaticHashTable(E.DatasetInitializer(ds), -1).size().numpy())
    except tf.errors.OpError as error:
        print(type(error).__name__)
== records_of_a_dataset
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "records")
for kind in (None, "GZIP", "ZLIB"):
    tf.data.experimental.TFRecordWriter(path, kind).write(D.from_tensor_slices(["a", "", "ccc"]))
    show(tf.data.TFRecordDataset(path, kind))
for wrong in (D.range(3), D.from_tensors(["a"]), 3):
    try:
        tf.data.experimental.TFRecordWriter(path).write(wrong)
    except (TypeError, ValueError):
        print("refused")
== datasets_as_slices
show(D.from_tensor_slices([D.range(2), D.range(5, 8)]).flat_map(lambda ds: ds))
print(D.from_tensor_slices([D.range(2), D.range(5, 8)]).cardinality().numpy())
== iterators_of_several_devices
R = tf.raw_ops
kind = dict(output_types=[tf.int64], output_shapes=[[]])
it = R.AnonymousMultiDeviceIteratorV3(devices=["/cpu:0", "/cpu:0", "/cpu:0"], **kind)
def begin(dataset):
    return R.MultiDeviceIteratorInit(
        dataset=tf.data.experimental.to_variant(dataset), multi_device_iterator=it,
        max_buffer_size=3)
def get(shard, number):
    try:
        (value,) = R.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=it, shard_num=shard, incarnation_id=number, **kind)
        print(value.numpy())
    except tf.errors.OpError as error:
        print(type(error).__name__)
first = begin(D.range(7))
for shard in (0, 1, 2, 2, 0, 1, 0, 1, 2, 0):
    get(shard, first)
second = begin(D.range(10, 12))
get(0, first)
for shard in (1, 0, 2):
    get(shard, second)
== parsed_batches_of_examples
def feature(**kinds):
    (name, value), = kinds.items()
    message = {"ints": "int64_list", "floats": "float_list", "texts": "bytes_list"}[name]
    lists = {"ints": tf.train.Int64List, "floats": tf.train.FloatList, "texts": tf.train.BytesList}
    return tf.train.Feature(**{message: lists[name](value=value)})
texts = [
    tf.train.Example(features=tf.train.Features(feature={
        "b": feature(ints=[i]), "a": feature(floats=[1.0 * i] * i),
        "c": feature(texts=[b"x%d" % i] * (3 - i)),
    })).SerializeToString()
    for i in range(4)
]
ds = D.from_tensor_slices(texts).batch(3)
def parse(op, variant, **more):
    return op(
        input_dataset=variant, num_parallel_calls=2, dense_defaults=[tf.constant(-1, tf.int64)],
        sparse_keys=["a"], dense_keys=["b"], sparse_types=[tf.float32], dense_shapes=[[]],
        output_types=[tf.variant, tf.int64] + [tf.variant] * len(more.get("ragged_keys", [])),
        output_shapes=[None, [None]] + [[]] * len(more.get("ragged_keys", [])), **more)
wide = (tf.SparseTensorSpec([None, None]), tf.TensorSpec([None], tf.int64))
variant = tf.data.experimental.to_variant(ds)
V2 = tf.raw_ops.ParseExampleDatasetV2
both = [parse(tf.raw_ops.ParseExampleDataset, variant), parse(V2, variant)]
ragged = wide + (tf.RaggedTensorSpec([None, None], tf.string, 1, tf.int32),)
both.append(parse(V2, variant, ragged_keys=["c"],
                  ragged_value_types=[tf.string], ragged_split_types=[tf.int32]))
for parsed, spec in zip(both, (wide, wide, ragged)):
    parsed = tf.data.experimental.from_variant(parsed, spec)
    print(parsed.cardinality().numpy())
    for a, b, *c in parsed:
        print(a.indices.numpy().tolist(), a.values.numpy().tolist(), a.dense_shape.numpy().tolist())
        print(b.numpy().tolist(), [r.to_list() for r in c])
broken = parse(V2, tf.data.experimental.to_variant(D.from_tensors(["?"])))
broken = tf.data.experimental.from_variant(broken, wide)
try:
    next(iter(broken))
except tf.errors.InvalidArgumentError:
    print("refused")
== cardinalities
import tempfile
inf, unk = D.range(3).repeat(), D.range(3).filter(lambda x: True)
fin, emp = D.range(3), D.range(0)
def c(n, f):
    for k,d in (("inf", inf), ("unk", unk), ("fin", fin), ("emp", emp)):
        print(n, k, f(d).cardinality().numpy())
c("flat", lambda d: d.flat_map(lambda x:D.range(2)))
c("inter", lambda d: d.interleave(lambda x:D.range(2)))
c("pinter", lambda d: d.interleave(lambda x:D.range(2),num_parallel_calls=2))
c("einter", lambda d: d.apply(tf.data.experimental.parallel_interleave(lambda x:D.range(2),2)))
c("gbw", lambda d: d.group_by_window(lambda x:x,lambda k,w:w,window_size=2))
c("choose", lambda d: D.choose_from_datasets([d,fin],D.range(5)))
c("chooseinf", lambda d: D.choose_from_datasets([d,fin],D.range(5).repeat()))
c("choose0", lambda d: D.choose_from_datasets([d,fin],D.range(5),stop_on_empty_dataset=False))
c("sample", lambda d: D.sample_from_datasets([d,fin]))
c("sample1", lambda d: D.sample_from_datasets([d,inf],stop_on_empty_dataset=True))
c("cache", lambda d: d.cache())
c("snap", lambda d: d.snapshot(tempfile.mkdtemp()))
c("unb", lambda d: d.batch(2).unbatch())
c("reb", lambda d: d.batch(2).rebatch(3))
c("ignore", lambda d: d.ignore_errors())
c("uniq", lambda d: d.unique())
c("tw", lambda d: d.take_while(lambda x:True))
c("win", lambda d: d.window(2))
c("rag", lambda d: d.ragged_batch(2))
c("scan", lambda d: d.scan(np.int64(0),lambda s,x:(s,x)))
c("bucket", lambda d: d.bucket_by_sequence_length(lambda x:1,[2],[2,2]))
c("rr", lambda d: d.rejection_resample(lambda x:0,[1.0]))
m = np.iinfo(np.int64).max
print([int(D.range(*a).cardinality()) for a in ((0, m), (0, m - 1), (m - 3, m), (m, m))])
== arrays_of_tensors_as_elements
def two(x):
    return tf.TensorArray(tf.int64, size=2, element_shape=[]).unstack([x, x + 1])
ds = D.range(3).map(two)
print(type(ds.element_spec).__name__, [array.stack().numpy().tolist() for array in ds])
ds = ds.map(lambda array: array.write(1, 7).stack())
show(ds)
def add(state, x):
    state = state.write(tf.cast(x, tf.int32), x * 2)
    return state, state.size()
start = tf.TensorArray(tf.int64, size=0, dynamic_size=True, element_shape=[])
show(D.range(4).scan(start, add))
print(D.range(4).reduce(start, lambda a, x: add(a, x)[0]).stack().numpy())
print(tf.TensorArraySpec([2], tf.int32) == tf.TensorArraySpec([2], tf.int32), tf.TensorArraySpec())
== elements_that_flatten_themselves
class Masked:
    def __init__(self, mask, value):
        self.mask, self.value = mask, value
    def __tf_flatten__(self):
        return (self.mask,), (self.value,)
    @classmethod
    def __tf_unflatten__(cls, metadata, parts):
        return cls(*metadata, *parts)
ds = D.range(4).map(lambda x: Masked(True, x)).map(lambda m: Masked(m.mask, m.value * 2))
for m in ds.batch(3):
    print(m.mask, m.value.numpy())
print([int(x) for x in ds.map(lambda m: m.value).filter(lambda x: x > 2)])
for a, m in D.from_tensor_slices(([1, 2], Masked(False, [3, 4]))):
    print(a.numpy(), m.mask, m.value.numpy())
print(ds.element_spec.value, [int(m.value) for m in ds.take(2).concatenate(ds)])
== whole_shuffles
tf.random.set_seed(4)
ds = D.range(10).filter(lambda x: x != 3).shuffle(tf.data.UNKNOWN_CARDINALITY, seed=5)
show(ds, ds.repeat(2))
try:
    D.range(3).shuffle(0)
except tf.errors.InvalidArgumentError:
    print("refused")
== rebatched_shapes
b = D.range(12).batch(4, drop_remainder=True)
for ds in (b.rebatch(2), b.rebatch(3), b.rebatch(3, True), b.rebatch([2, 2]), b.rebatch([1, 2]),
           D.range(12).batch(4).rebatch(2)):
    print(ds.element_spec)
== padded_shapes_as_lists
ds = D.range(1, 4).map(lambda x: tf.fill([x], x))
show(ds.padded_batch(2, [-1]), ds.padded_batch(2, [None]), ds.padded_batch(3, [4]))
== samples_anew_each_time
tf.random.set_seed(4)
def sample(**more):
    return D.sample_from_datasets([D.range(20), D.range(100, 120)], seed=3, **more)
ds = sample(rerandomize_each_iteration=True)
print(list(ds.as_numpy_iterator()) != list(ds.as_numpy_iterator()))
ds = sample()
print(list(ds.as_numpy_iterator()) == list(ds.as_numpy_iterator()))
== what_a_map_reads_ends
one = iter(D.range(2))
ds = D.range(4).map(lambda x: x + one.get_next())
try:
    for x in ds:
        print(x.numpy())
except tf.errors.InvalidArgumentError:
    print("refused")
"""


def _plain(value):
    """A part of an element as every version of NumPy prints it, dtypes too."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype}{list(value.shape)} {value.tolist()}"
    return value


def show(*datasets):
    """Prints the elements of each as arrays."""
    for dataset in datasets:
        print(list(map(_plain, dataset.as_numpy_iterator())))


PROGRAMS = {}
for _part in _WRITTEN.split("\n== ")[1:]:
    _name, _, PROGRAMS[_name] = _part.partition("\n")
